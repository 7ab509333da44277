# Chapter 01: shared memory drawn as rows of 32 words, one column a bank.
# Run from the top of the workbook: gnuplot plots/fig-01-rows.gp
svg = !exists("PNG")
if (svg) { set terminal svg size 1160,300 font "Sans,10" background "white" }
if (!svg) { set terminal pngcairo size 1160,300 font "Sans,10" }
set output !svg ? PNG : "chapters/figures/01-rows.svg"

rows = 6
set xrange [-4.2:32.2]
set yrange [rows + 0.3:-1.4]
unset border; unset xtics; unset ytics; unset key
set lmargin 0.5; set rmargin 0.5; set tmargin 0.3; set bmargin 0.3

set label 1 "bank" at -0.4,-0.5 right font ",11"
set label 2 "row starts at byte" at -0.4,-1.05 right font ",9" textcolor rgb "#555555"
set style fill solid 1.0 border rgb "#999999"
set samples 32 * rows

bank(i) = int(i) % 32
row(i) = int(i) / 32
colour(i) = bank(i) == 5 ? 0xf5c26b : (row(i) % 2 ? 0xffffff : 0xeef3f8)

plot "+" using (bank($0) + 0.5):(row($0) + 0.5):(bank($0)):(bank($0) + 1): \
       (row($0)):(row($0) + 1):(colour($0)) \
       every ::0::(32 * rows - 1) with boxxyerror linecolor rgb variable, \
     "+" using (bank($0) + 0.5):(row($0) + 0.5):(sprintf("%d", int($0))) \
       every ::0::(32 * rows - 1) with labels font ",9", \
     "+" using ($0 + 0.5):(-0.5):(sprintf("%d", int($0))) \
       every ::0::31 with labels font ",10" textcolor rgb "#1f4e79", \
     "+" using (-0.4):($0 + 0.5):(sprintf("%d", 128 * int($0))) \
       every ::0::(rows - 1) with labels right font ",9" textcolor rgb "#555555"
