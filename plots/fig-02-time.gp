# Chapter 02: cycles an access took against its wavefronts, both recorded on the H200.
# Run from the top of the workbook: gnuplot plots/fig-02-time.gp
if (exists("PNG")) { set terminal pngcairo size 760,480 font "Sans,11" } else { set terminal svg size 760,480 font "Sans,11" background "white" }
set output exists("PNG") ? PNG : "chapters/figures/02-time.svg"

set datafile separator "\t"
rows = "plots/data/h200/accesses.tsv"
set logscale xy 2
set xrange [0.9:36]
set yrange [0.9:36]
set xlabel "wavefronts (hardware counter)"
set ylabel "cycles an access (four warps of one SM, best of 4)"
set key top left
set grid linecolor rgb "#dddddd"
set title "Every timed load and store in plots/data/h200/accesses.tsv"
is(op, width) = strcol("op") eq op && column("width") == width ? column("cycles") : NaN
small(op) = strcol("op") eq op && column("width") <= 4 ? column("cycles") : NaN

plot x title "one cycle a wavefront" with lines linecolor rgb "#999999", \
  rows using (column("wavefronts")):(small("load")) title "loads of 1, 2, 4 bytes" with points pt 6 ps 1.0 linecolor rgb "#2f7fb8", \
  rows using (column("wavefronts")):(small("store")) title "stores of 1, 2, 4 bytes" with points pt 2 ps 0.7 linecolor rgb "#2f7fb8", \
  rows using (column("wavefronts")):(is("load", 8)) title "loads of 8 bytes" with points pt 6 ps 1.0 linecolor rgb "#e08e0b", \
  rows using (column("wavefronts")):(is("store", 8)) title "stores of 8 bytes" with points pt 2 ps 0.7 linecolor rgb "#e08e0b", \
  rows using (column("wavefronts")):(is("load", 16)) title "loads of 16 bytes" with points pt 6 ps 1.0 linecolor rgb "#d1495b", \
  rows using (column("wavefronts")):(is("store", 16)) title "stores of 16 bytes" with points pt 2 ps 0.7 linecolor rgb "#d1495b"
