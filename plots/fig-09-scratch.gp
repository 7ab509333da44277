# Where the lanes of one read of the row scratch lie: gnuplot plots/fig-09-scratch.gp
# One square a lane: lane t of scratch[t][0] is word t * pitch; with a warp a row, it is word t.
set terminal svg size 900,360 font "sans-serif,13" background "white"
set output "chapters/figures/09-scratch.svg"
set multiplot layout 1,3
set xrange [-0.5:31.5]
set yrange [31.5:-0.5]
set xtics 0,8,31 out
set ytics 0,8,31 out
set grid xtics ytics lc rgb "#dddddd"
set size ratio 1
set xlabel "bank"
set ylabel "lane t"
set tics nomirror
set style fill solid noborder
set samples 32
unset key
title(step) = step == 1 ? "scratch[r][t]: 1 wavefront" : \
  sprintf("scratch[t][c], pitch %d: %d wavefront%s", step, step % 2 ? 1 : 32, step % 2 ? "" : "s")
do for [s in "64 65 1"] {
  set title title(s + 0)
  plot sample [t=0:31] '+' using (int(t + 0.5) * s % 32):(int(t + 0.5)):(0.45):(0.45) \
    with boxxyerror lc rgb (s % 2 ? "#3182bd" : "#b22222")
}
unset multiplot
