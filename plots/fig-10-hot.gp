# One update by a full warp when n lanes share a bin: gnuplot plots/fig-10-hot.gp
# The other 32 - n lanes have a bank each to themselves.  Rules of chapter 10: counting, distinct words
# in the fullest bank; integer weights, lanes; floats, three a round (the load costs 1).
set terminal svg size 760,380 font "sans-serif,14" background "white"
set output "chapters/figures/10-hot.svg"
set title "One update of 32 lanes, n of them in the same bin"
set xlabel "n"
set ylabel "wavefronts"
set xrange [0:33]
set yrange [-3:105]
set xtics 0,4,32
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set key top left
set samples 32
set style line 1 lc rgb "#3182bd" pt 7 ps 0.6
set style line 2 lc rgb "#e6860a" pt 5 ps 0.6
set style line 3 lc rgb "#b22222" pt 9 ps 0.8
plot [n=1:32] '+' using 1:($1 * 3) with linespoints ls 3 title "float", \
     '+' using 1:1 with linespoints ls 2 title "integer weight, or result used", \
     '+' using 1:(1) with linespoints ls 1 title "constant 1, result unused"
