# Shared atomics: cycles by how many counters the lanes of a warp share.
load "plots/gpu/style.gp"
set title "What an update of shared memory costs by its kind, on " . card noenhanced
set xlabel "different counters among the 32 lanes, in neighbouring banks"
set ylabel "cycles an access, four warps of one SM"
set logscale xy 2
set xrange [0.8:40]
set yrange [0.7:8192]
set key top right reverse Left
plot rows using (strcol(1) eq "add 1" && strcol(3) eq "neighbours" ? $2 : NaN):5 with linespoints pt 7 lc rgb blue title "+1, result unused", \
     "" using (strcol(1) eq "add weight" && strcol(3) eq "neighbours" ? $2 : NaN):5 with linespoints pt 9 lc rgb green title "+ weight", \
     "" using (strcol(1) eq "compare and swap" && strcol(3) eq "neighbours" ? $2 : NaN):5 with linespoints pt 5 lc rgb pink title "compare and swap", \
     "" using (strcol(1) eq "add float" && strcol(3) eq "neighbours" ? $2 : NaN):5 with linespoints pt 13 lc rgb orange title "+ float (a loop)"
