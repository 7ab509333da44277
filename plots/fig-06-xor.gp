# Where column 7 of a tile lies in the banks: plain, XORed with its row, and in a tile 48 wide.
# Run from the top of the workbook: gnuplot plots/fig-06-xor.gp
svg = !exists("PNG")
if (svg) { set terminal svg size 900,360 font "sans-serif,13" background "white" }
if (!svg) { set terminal pngcairo size 900,360 font "sans-serif,13" }
set output !svg ? PNG : "chapters/figures/06-xor.svg"
set multiplot layout 1,3
set xrange [-0.5:31.5]
set yrange [31.5:-0.5]
set xtics 0,8,31 out
set ytics 0,8,31 out
set grid xtics ytics lc rgb "#dddddd"
set size ratio 1
set xlabel "bank"
set ylabel "row t"
set tics nomirror
set style fill solid noborder
set samples 32
unset key
row(t) = int(t + 0.5)
plain(t) = 7
xored(t) = 7 ^ row(t)
wide(t) = (48 * row(t) + (7 ^ (row(t) / 2 % 16))) % 32
set title "32 wide, column 7 plain:\n32 wavefronts"
plot sample [t=0:31] '+' using (plain(t)):(row(t)):(0.45):(0.45) with boxxyerror lc rgb "#b22222"
set title "32 wide, 7 ^ row:\n1 wavefront" noenhanced
plot sample [t=0:31] '+' using (xored(t)):(row(t)):(0.45):(0.45) with boxxyerror lc rgb "#3182bd"
set title "48 wide, 7 ^ row/2 % 16:\n1 wavefront" noenhanced
plot sample [t=0:31] '+' using (wide(t)):(row(t)):(0.45):(0.45) with boxxyerror lc rgb "#3182bd"
unset multiplot
