# Cycles against the stride: they are the wavefronts.
load "plots/gpu/style.gp"
set title "A 4-byte access takes gcd(stride, 32) cycles, measured on " . card noenhanced
set xlabel "stride in words"
set ylabel "cycles an access, four warps of one SM"
set logscale y 2
set yrange [0.8:80]
set xrange [-1:65]
set xtics 8
plot rows using (is(strcol(1), "load") ? $3 : NaN):4 with impulses lc rgb "#bbbbbb" lw 4 title "predicted wavefronts", \
     "" using (is(strcol(1), "load") ? $3 : NaN):6 with points pt 7 ps 0.7 lc rgb blue title "loads", \
     "" using (is(strcol(1), "store") ? $3 : NaN):6 with points pt 8 ps 0.9 lc rgb orange title "stores"
