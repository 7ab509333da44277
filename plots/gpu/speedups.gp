# Predicted against measured speed-up, starter to solution.
load "plots/gpu/style.gp"
set title "Speed-up of each solution, predicted and measured, on " . card noenhanced
set xlabel "measured"
set ylabel "predicted from the simulator's counts"
set logscale xy 2
set xrange [0.5:32]
set yrange [0.5:32]
set key bottom right reverse Left
plot x with lines lc rgb grey lw 2 title "equal", \
     x * 1.15 with lines dt 3 lc rgb grey title "15 % off", x / 1.15 with lines dt 3 lc rgb grey notitle, \
     rows using ($4 > 0 && $2 == 0 ? $4 : NaN):3 with points pt 6 ps 1 lc rgb yellow title "small", \
     "" using ($4 > 0 && $2 == 1 ? $4 : NaN):3 with points pt 8 ps 1.1 lc rgb green title "middle", \
     "" using ($4 > 0 && $2 == 2 ? $4 : NaN):3 with points pt 7 ps 1 lc rgb blue title "large"
