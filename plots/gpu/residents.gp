# Padding, XOR and the conflict, by how many blocks an SM holds.
load "plots/gpu/style.gp"
set title "Padding, XOR and the conflict, by resident blocks, on " . card noenhanced
set xlabel "blocks of 256 threads resident on one SM"
set ylabel "GB/s, read and written"
set xrange [0.5:8.5]
set yrange [0:*]
set xtics 1
set key bottom right reverse Left
plot rows using (strcol(1) eq "transpose_33" ? $3 : NaN):5 with linespoints pt 7 lc rgb blue title "pitch 33", \
     "" using (strcol(1) eq "transpose_xor" ? $3 : NaN):5 with linespoints pt 9 lc rgb green title "pitch 32, XOR", \
     "" using (strcol(1) eq "transpose_32" ? $3 : NaN):5 with linespoints pt 5 lc rgb orange title "pitch 32"
