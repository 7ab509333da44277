# One buffer and two: what a thread does between the barriers of two steps.
# Run from the top of the workbook: gnuplot plots/fig-07-buffers.gp
svg = !exists("PNG")
if (svg) { set terminal svg size 900,300 font "sans-serif,13" background "white" }
if (!svg) { set terminal pngcairo size 900,300 font "sans-serif,13" }
set output !svg ? PNG : "chapters/figures/07-buffers.svg"
set multiplot layout 1,2
set xrange [0:9.8]
set yrange [0:3]
unset border
unset tics
unset key
set style fill solid noborder
box(n, x, y, w, colour) = sprintf("set object %d rectangle from %g,%g to %g,%g fc rgb '%s'", \
                                  n, x, y, x + w, y + 0.55, colour)
text(n, x, y, s) = sprintf("set label %d '%s' at %g,%g center", n, s, x, y)
wait(n, x) = sprintf("set arrow %d from %g,0.35 to %g,2.5 nohead lw 3 lc rgb '#444444'", n, x, x)
set title "one buffer: two barriers a step"
eval box(1, 0.1, 1.5, 1.9, "#9ecae1"); eval text(1, 1.05, 1.77, "read A")
eval wait(1, 2.3)
eval box(2, 2.6, 1.5, 1.9, "#fdae6b"); eval text(2, 3.55, 1.77, "write A")
eval wait(2, 4.8)
eval box(3, 5.0, 1.5, 1.9, "#9ecae1"); eval text(3, 5.95, 1.77, "read A")
eval wait(3, 7.2)
eval box(4, 7.4, 1.5, 1.9, "#fdae6b"); eval text(4, 8.35, 1.77, "write A")
eval wait(4, 9.6)
eval text(12, 9.6, 0.15, "wait"); eval text(9, 2.3, 0.15, "wait"); eval text(10, 4.8, 0.15, "wait"); eval text(11, 7.2, 0.15, "wait")
plot NaN
set title "two buffers: one barrier a step"
unset arrow; unset object; unset label
eval box(1, 0.1, 1.9, 1.9, "#9ecae1"); eval text(1, 1.05, 2.17, "read A")
eval box(2, 2.1, 1.1, 1.9, "#fdae6b"); eval text(2, 3.05, 1.37, "write B")
eval wait(1, 4.6)
eval box(3, 5.0, 1.1, 1.9, "#9ecae1"); eval text(3, 5.95, 1.37, "read B")
eval box(4, 7.0, 1.9, 1.9, "#fdae6b"); eval text(4, 7.95, 2.17, "write A")
eval wait(2, 9.4)
eval text(9, 4.6, 0.15, "wait"); eval text(10, 9.4, 0.15, "wait")
plot NaN
unset multiplot
