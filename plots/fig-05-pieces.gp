# The first phase of a float4 column, by pitch: which banks the eight lanes meet.
# Run from the top of the workbook: gnuplot plots/fig-05-pieces.gp
# Lane t begins at word t * pitch and takes four banks.
svg = !exists("PNG")
if (svg) { set terminal svg size 900,330 font "sans-serif,13" background "white" }
if (!svg) { set terminal pngcairo size 900,330 font "sans-serif,13" }
set output !svg ? PNG : "chapters/figures/05-pieces.svg"
set multiplot layout 1,3
set xrange [-0.5:31.5]
set yrange [7.5:-0.5]
set xtics 0,8,31 out
set ytics 0,1,7 out
set grid xtics lc rgb "#dddddd"
set xlabel "bank"
set ylabel "lane t"
set tics nomirror
set style fill solid noborder
set samples 8
unset key
cost(pitch) = pitch == 32 ? 8 : pitch == 40 ? 2 : 1
do for [pitch in "32 40 36"] {
  set title sprintf("pitch %s: %d wavefront%s a phase", pitch, cost(pitch + 0), \
                    cost(pitch + 0) == 1 ? "" : "s")
  plot sample [t=0:7] '+' using (int(t + 0.5) * pitch % 32 + 1.5):(int(t + 0.5)):(1.9):(0.4) \
    with boxxyerror lc rgb (cost(pitch + 0) == 1 ? "#3182bd" : "#b22222")
}
unset multiplot
