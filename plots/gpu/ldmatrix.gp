# ldmatrix with and without a swizzle.
load "plots/gpu/style.gp"
set title "ldmatrix.x4 on tiles of halves: a swizzle needs no padding, on " . card noenhanced
set ylabel "cycles an instruction, four warps of one SM"
set style fill solid
set boxwidth 0.5
set key off
set yrange [0:*]
set offsets 0, 0, graph 0.12, 0
set xrange [-0.6:2.6]
plot rows every ::1 using 0:4:xtic(1) with boxes lc rgb blue, \
     "" every ::1 using 0:4:(sprintf("%s wavefronts: %.1f", strcol(2), $4)) with labels offset 0,0.7
