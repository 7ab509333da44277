# Where the eight rows of one 8 x 8 matrix lie: ldmatrix at chunk 2 of eight rows.
# Run from the top of the workbook: gnuplot plots/fig-12-rows.gp
# A row of 16 bytes takes four banks.  Row r, chunk c is at chunk place r*8 + (c ^ r mod 8) when it
# is swizzled.
svg = !exists("PNG")
if (svg) { set terminal svg size 900,300 font "sans-serif,13" background "white" }
if (!svg) { set terminal pngcairo size 900,300 font "sans-serif,13" }
set output !svg ? PNG : "chapters/figures/12-rows.svg"
set multiplot layout 1,3 title "Banks of chunk 2 of eight rows, and the wavefronts of one matrix"
set xrange [-0.5:31.5]
set yrange [7.5:-0.5]
set xtics 0,8,31 out
set ytics 0,1,7 out
set grid xtics ytics lc rgb "#dddddd"
set xlabel "bank"
set ylabel "row"
set tics nomirror
set style fill solid noborder
unset key
at(row, kind) = kind == 0 ? 8 : kind == 1 ? (row * 36 + 8) % 32 : (2 ^ row) * 4
title_of(kind) = kind == 0 ? "128 bytes a row: 8" : kind == 1 ? "144 bytes a row: 1" \
               : "128 bytes, XOR: 1"
set samples 8
do for [kind = 0:2] {
  set title title_of(kind)
  plot sample [r=0:7] '+' using (at(int(r + 0.5), kind) + 1.5):(int(r + 0.5)):(2.0):(0.42) \
    with boxxyerror lc rgb (kind == 0 ? "#b22222" : "#3182bd")
}
unset multiplot
