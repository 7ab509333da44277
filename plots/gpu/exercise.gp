# One exercise at its three sizes: starter, solution and yours.  Also: id, from (the folder of yours).
load "plots/gpu/style.gp"
set title id . ": predicted (lines) and measured (points), " . card noenhanced
set xlabel "size"
set ylabel "microseconds"
set xrange [-0.3:2.3]
set xtics ("small" 0, "middle" 1, "large" 2)
set logscale y 2
set key top left reverse Left
plot rows using (strcol(1) eq "exercises" ? $3 : NaN):4 with lines lw 2 lc rgb orange title "starter", \
     "" using (strcol(1) eq "solutions" ? $3 : NaN):4 with lines lw 2 lc rgb blue title "solution", \
     "" using (strcol(1) eq from ? $3 : NaN):4 with linespoints pt 4 ps 1.6 dt 2 lw 2 lc rgb green title "yours, predicted", \
     "" using (strcol(1) eq "exercises" && $5 > 0 ? $3 : NaN):5 with points pt 7 ps 1.2 lc rgb orange title "starter, measured", \
     "" using (strcol(1) eq "solutions" && $5 > 0 ? $3 : NaN):5 with points pt 9 ps 1.3 lc rgb blue title "solution, measured", \
     "" using (strcol(1) eq from && $5 > 0 ? $3 : NaN):5 with points pt 5 ps 1.3 lc rgb green title "yours, measured"
