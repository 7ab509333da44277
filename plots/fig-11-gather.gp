# Expected wavefronts of a random gather by pitch, for three sizes of the table.
# Run from the top of the workbook: gnuplot plots/fig-11-gather.gp
# Data: what `build/banks gather` computes; no recording.
svg = !exists("PNG")
if (svg) { set terminal svg size 860,380 font "sans-serif,14" background "white" }
if (!svg) { set terminal pngcairo size 860,380 font "sans-serif,14" }
set output !svg ? PNG : "chapters/figures/11-gather.svg"
set title "32 lanes, each at a random row of a table in shared memory, all at one column"
set xlabel "pitch in words"
set ylabel "wavefronts expected"
set logscale y 2
set yrange [0.8:64]
set xrange [31.2:48.8]
set xtics 32,1,48
set ytics (1, 2, 4, 8, 16, 32)
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key at graph 0.98, graph 0.99 horizontal
rows(n) = sprintf("< for p in $(seq 32 48); do build/banks gather --rows %d --pitch $p; done" \
                  . " | sed 's/[^0-9. ]//g'", n)
plot rows(64) using 2:3 with impulses lw 9 lc rgb "#9ecae1" title "64 rows", \
     rows(256) using 2:3 with points pt 7 ps 0.9 lc rgb "#b22222" title "256 rows"
