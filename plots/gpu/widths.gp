# Wide accesses: cycles against predicted wavefronts, with their floors.
load "plots/gpu/style.gp"
set title "8 and 16 bytes a lane: one cycle a wavefront, above a floor, on " . card noenhanced
set xlabel "predicted wavefronts"
set ylabel "cycles an access, four warps of one SM"
set logscale xy 2
set xrange [0.8:80]
set yrange [0.8:80]
plot x with lines lc rgb grey lw 2 title "one cycle a wavefront", \
     rows using (strcol(1) eq "load" && $2 == 8 ? $4 : NaN):6 with points pt 7 ps 0.9 lc rgb blue title "loads of 8 bytes", \
     "" using (strcol(1) eq "store" && $2 == 8 ? $4 : NaN):6 with points pt 6 ps 1.4 lc rgb blue title "stores of 8 bytes", \
     "" using (strcol(1) eq "load" && $2 == 16 ? $4 : NaN):6 with points pt 9 ps 1.0 lc rgb orange title "loads of 16 bytes", \
     "" using (strcol(1) eq "store" && $2 == 16 ? $4 : NaN):6 with points pt 8 ps 1.5 lc rgb orange title "stores of 16 bytes"
