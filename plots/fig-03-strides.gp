# Wavefronts and measured cycles of strided 4-byte loads.
# Run from the top of the workbook: gnuplot plots/fig-03-strides.gp
# Data: plots/data/h200/accesses.tsv, class "stride", rows with a time; the stride is lane1 - lane0.
svg = !exists("PNG")
if (svg) { set terminal svg size 860,360 font "sans-serif,14" background "white" }
if (!svg) { set terminal pngcairo size 860,360 font "sans-serif,14" }
set output !svg ? PNG : "chapters/figures/03-strides.svg"
set datafile separator "\t"
set title "A 4-byte load, lane t at word s·t: what the H200 took"
set xlabel "stride s in words"
set ylabel "cycles per load"
set logscale y 2
set yrange [0.7:60]
set xrange [-1:41]
set xtics 0,4,40
set ytics (1, 2, 4, 8, 16, 32)
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key at graph 0.72, graph 0.98
rows = "< awk -F'\\t' '$2 == \"stride\" && $3 == \"load\" && $4 == 4 && $8 != \"\"' " \
       . "plots/data/h200/accesses.tsv"
plot rows using (($10 - $9) / 4):8 with impulses lw 6 lc rgb "#9ecae1" title "cycles, measured", \
     "" using (($10 - $9) / 4):6 with points pt 7 ps 0.7 lc rgb "#b22222" \
       title "wavefronts, counted"
