# Predicted and measured time of the transposes of chapter 04, 16384 x 16384.
# Run from the top of the workbook: gnuplot plots/fig-13-predicted.gp
# Data: plots/data/h200/transpose.tsv.  Predicted: the larger of the bytes at the copy's speed and
# (1 + gcd(pitch, 32)) wavefronts for every 32 elements on 132 multiprocessors at 1.98 GHz.
svg = !exists("PNG")
if (svg) { set terminal svg size 860,380 font "sans-serif,14" background "white" }
if (!svg) { set terminal pngcairo size 860,380 font "sans-serif,14" }
set output !svg ? PNG : "chapters/figures/13-predicted.svg"
set title "A 16384 x 16384 transpose on an H200: what decides its time"
set ylabel "milliseconds"
set yrange [0:1.5]
set xrange [-0.6:4.6]
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set key top right
set style fill solid noborder
set boxwidth 0.26
rows = "< awk '/^copy/ {copy = $3} /^pitch_/ {sub(/pitch_/, \"\"); d = $1; s = $1; n = 16384;" \
     . " for (g = 1; g < 32 && s % (2 * g) == 0;) g *= 2;" \
     . " print \"pitch \" d, 8e-6 * n * n / copy, n * n / 32 * (1 + g) / (132 * 1.98e6), 8e-6 * n * n / $3}'" \
     . " plots/data/h200/transpose.tsv"
plot rows using ($0 - 0.28):3 with boxes lc rgb "#9ecae1" title "bytes, at the speed of a copy", \
     "" using 0:4:xticlabel(stringcolumn(1) . " " . stringcolumn(2)) with boxes lc rgb "#e6550d" \
       title "wavefronts, one a cycle", \
     "" using ($0 + 0.28):5 with boxes lc rgb "#444444" title "measured"
