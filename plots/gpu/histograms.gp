# Histograms by how evenly the bytes are spread.
load "plots/gpu/style.gp"
set title "A histogram of bytes: the fewer bins in use, the dearer some updates, on " . card noenhanced
set xlabel "bits of entropy: 2^{bits} of 256 bins in use, evenly"
set ylabel "GB/s read"
set logscale y
set xrange [-0.3:8.3]
set xtics 1
set key bottom right reverse Left
plot rows using (strcol(1) eq "one" ? $2 : NaN):6 with linespoints pt 7 lc rgb blue title "+1", \
     "" using (strcol(1) eq "weight" ? $2 : NaN):6 with linespoints pt 9 lc rgb green title "+ weight", \
     "" using (strcol(1) eq "warp" ? $2 : NaN):6 with linespoints pt 5 lc rgb pink title "+ weight, bins a warp", \
     "" using (strcol(1) eq "lane" ? $2 : NaN):6 with linespoints pt 11 lc rgb yellow title "+ weight, bins a lane", \
     "" using (strcol(1) eq "float" ? $2 : NaN):6 with linespoints pt 13 lc rgb orange title "+ float"
