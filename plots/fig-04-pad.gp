# Where column 0 of a tile lies, by pitch.
# Run from the top of the workbook: gnuplot plots/fig-04-pad.gp
# One square a row: row t of column 0 is word t * pitch, so its bank is t * pitch mod 32.
svg = !exists("PNG")
if (svg) { set terminal svg size 900,360 font "sans-serif,13" background "white" }
if (!svg) { set terminal pngcairo size 900,360 font "sans-serif,13" }
set output !svg ? PNG : "chapters/figures/04-pad.svg"
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
cost(pitch) = pitch % 2 ? 1 : pitch == 32 ? 32 : 2
do for [pitch in "32 33 34"] {
  set title sprintf("pitch %s: %d wavefront%s", pitch, cost(pitch + 0), pitch % 2 ? "" : "s")
  plot sample [t=0:31] '+' using (int(t + 0.5) * pitch % 32):(int(t + 0.5)):(0.45):(0.45) \
    with boxxyerror lc rgb (pitch % 2 ? "#3182bd" : "#b22222")
}
unset multiplot
