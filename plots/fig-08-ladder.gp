# What four sums of 256 numbers ask of shared memory: gnuplot plots/fig-08-ladder.gp
# Requests and wavefronts of one block, as chapter 08 derives them.
set terminal svg size 760,360 font "sans-serif,14" background "white"
set output "chapters/figures/08-ladder.svg"
set title "One block adds up 256 numbers"
set ylabel "requests and wavefronts"
set yrange [0:175]
set ytics 50
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set style data histograms
set style histogram clustered gap 1.2
set style fill solid
set boxwidth 0.9
set key top right
$ladder << EOD
"all warps awake" 150 150
"threads packed" 45 150
"sequential" 45 45
"shuffles" 9 9
EOD
plot $ladder using 2:xtic(1) lc rgb "#9ecae1" title "requests", \
     "" using 3 lc rgb "#b22222" title "wavefronts", \
     "" using ($0 - 0.2):($2 + 7):2 with labels font ",12" notitle, \
     "" using ($0 + 0.2):($3 + 7):3 with labels font ",12" notitle
