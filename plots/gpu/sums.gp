# The ladder of reductions.
load "plots/gpu/style.gp"
set title "Six rungs of one sum over 2^{26} floats, on " . card
set ylabel "GB/s read"
set style fill solid
set boxwidth 0.6
set yrange [0:*]
set offsets 0, 0, graph 0.12, 0
set xrange [-0.6:5.6]
set xtics rotate by -20
set key off
plot rows every ::1 using 0:6:xtic(2) with boxes lc rgb blue, \
     "" every ::1 using 0:6:(sprintf("%.0f", $6)) with labels offset 0,0.7
