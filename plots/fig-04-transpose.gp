# The transpose by tile pitch.
# Run from the top of the workbook: gnuplot plots/fig-04-transpose.gp
# Data: plots/data/h200/transpose.tsv
svg = !exists("PNG")
if (svg) { set terminal svg size 860,360 font "sans-serif,14" background "white" }
if (!svg) { set terminal pngcairo size 860,360 font "sans-serif,14" }
set output !svg ? PNG : "chapters/figures/04-transpose.svg"
set datafile separator "\t"
set title "Transposing 16384 × 16384 floats on an H200"
set ylabel "GB/s, read and written"
set yrange [0:4800]
set ytics 1000
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set style fill solid
set boxwidth 0.6
set key off
label(s) = s eq "copy" ? "copy" : s eq "naive" ? "naive" : "pitch " . s[7:*]
set xrange [-0.6:6.6]
rows = "< grep -E '^(copy|naive|pitch_)' plots/data/h200/transpose.tsv"
plot rows using 0:3:(strcol(1) eq "pitch_32" || strcol(1) eq "naive" ? 0xb22222 : 0x3182bd):xtic(label(strcol(1))) \
       with boxes lc rgb variable, \
     "" using 0:($3 + 170):(sprintf("%d", $3)) with labels font ",13"
