# Chapter 02: cycles an access took against its wavefronts, both recorded on the H200.
# Run from the top of the workbook: gnuplot plots/fig-02-time.gp
svg = !exists("PNG")
if (svg) { set terminal svg size 760,480 font "Sans,11" background "white" }
if (!svg) { set terminal pngcairo size 760,480 font "Sans,11" }
set output !svg ? PNG : "chapters/figures/02-time.svg"

set datafile separator "\t"
rows = "plots/data/h200/accesses.tsv"
set logscale xy 2
set xrange [0.9:36]
set yrange [0.9:36]
set xlabel "wavefronts (hardware counter)"
set ylabel "cycles an access (four warps of one SM, best of 4)"
set key top left
set grid linecolor rgb "#dddddd"
set title "Loads and stores timed on an NVIDIA H200, CUDA 13.0"
# Cycles of the rows with that operation and a width from low to high, else nothing.
is(op, low, high) = strcol("op") eq op && column("width") >= low && column("width") <= high \
                    ? column("cycles") : NaN
load = "points pt 6 ps 1.0"
store = "points pt 2 ps 0.7"
at = 'rows using (column("wavefronts"))'

plot x title "one cycle a wavefront" with lines linecolor rgb "#999999", \
  @at:(is("load", 1, 4)) title "loads of 1, 2, 4 bytes" with @load lc rgb "#2f7fb8", \
  @at:(is("store", 1, 4)) title "stores of 1, 2, 4 bytes" with @store lc rgb "#2f7fb8", \
  @at:(is("load", 8, 8)) title "loads of 8 bytes" with @load lc rgb "#e08e0b", \
  @at:(is("store", 8, 8)) title "stores of 8 bytes" with @store lc rgb "#e08e0b", \
  @at:(is("load", 16, 16)) title "loads of 16 bytes" with @load lc rgb "#d1495b", \
  @at:(is("store", 16, 16)) title "stores of 16 bytes" with @store lc rgb "#d1495b"
