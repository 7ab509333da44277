# Transposes by the pitch of their tile, with the predicted curve (grader/model/predict.h).
load "plots/gpu/style.gp"
set title "Transposing 4096 x 4096 floats: what the pitch costs, on " . card noenhanced
set xlabel "row pitch of the 32-row tile, in words"
set ylabel "GB/s, read and written"
set xrange [31.5:48.5]
set yrange [0:4600]
set xtics 1
set key at graph 0.5, 0.32 center
# The model for this kernel on an H200: start 5.5, memory 31.5, waiting 9.7, issue 7.5 us; 4 + ... wavefronts a row.
ways(p) = p % 32 == 0 ? 32 : p % 16 == 0 ? 16 : p % 8 == 0 ? 8 : p % 4 == 0 ? 4 : p % 2 == 0 ? 2 : 1
shared(p) = 524288.0 * (3 + ways(p)) / 132 / 1980
total(p) = 5.5 + (31.5**1.8 + 9.7**1.8 + 7.5**1.8 + shared(p)**1.8)**(1 / 1.8)
set samples 17
h200 = strstrt(card, "H200") > 0
plot sample [32:48] h200 ? 134218 / total(int(x + 0.5)) : NaN with linespoints pt 6 ps 1.4 lc rgb grey lw 2 \
       title "predicted from wavefronts and bytes", \
     rows using ($2 > 31 && strcol(1) ne "transpose_xor" ? $2 : NaN):6 with points pt 7 ps 1 lc rgb blue title "measured, padded or not", \
     "" using (strcol(1) eq "transpose_xor" ? $2 : NaN):6 with points pt 9 ps 1.6 lc rgb orange title "measured, swizzled by XOR", \
     "" using (strcol(1) eq "transpose_33" ? 32 : NaN):7:(16):(0) with vectors nohead dt 2 lc rgb green lw 2 title "a copy of the same bytes"
