# Random rows of a table in shared memory, by their pitch.
load "plots/gpu/style.gp"
set title "Random rows of 8 floats: an odd pitch spreads them, on " . card noenhanced
set xlabel "row pitch in words (ptxas joins reads where the pitch is a multiple of 2 or 4)"
set ylabel "GB/s, read and written"
set xrange [7.5:17.5]
set yrange [0:*]
set xtics 1
set key bottom right reverse Left
plot rows using ($1 >= 8 ? $1 : NaN):5 with linespoints pt 7 lc rgb blue title "by rows", \
     "" using ($1 == 0 && strlen(strcol(1)) == 1 ? 8 : NaN):5:(9):(0) with vectors nohead dt 2 lw 2 lc rgb green title "stored by columns", \
     "" using ($1 == 8 ? 8 : NaN):6:(9):(0) with vectors nohead dt 3 lw 2 lc rgb grey title "a copy of the same bytes"
