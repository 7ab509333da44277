# Chapter 02: which lanes share a pass when lane t reads element t of an array.
# Run from the top of the workbook: gnuplot plots/fig-02-phases.gp
svg = !exists("PNG")
if (svg) { set terminal svg size 1160,380 font "Sans,10" background "white" }
if (!svg) { set terminal pngcairo size 1160,380 font "Sans,10" }
set output !svg ? PNG : "chapters/figures/02-phases.svg"

# One row a pass.  A row of the picture has 32 cells, one a bank; the cell names its lane.
# Rows from the top: 4 bytes (1 pass), 8 bytes (2), 16 bytes (4), with half a row between.
width(r) = r == 0 ? 4 : r <= 2 ? 8 : 16
first(r) = r <= 1 ? 0 : r == 2 ? 16 : 8 * (r - 3)
top(r)   = r == 0 ? 0 : r <= 2 ? r + 0.6 : r + 1.2
pass(r)  = sprintf("pass %d", first(r) * width(r) / 128 + 1)
row(i)   = int(i) / 32
bank(i)  = int(i) % 32
lane(i)  = first(row(i)) + bank(i) * 4 / width(row(i))
colour(i) = lane(i) % 2 ? 0xcfe0ef : 0xf5dfb8

set xrange [-6.4:32.2]
set yrange [8.5:-1.2]
unset border; unset xtics; unset ytics; unset key
set lmargin 0.5; set rmargin 0.5; set tmargin 0.3; set bmargin 0.3
set style fill solid 1.0 border rgb "#999999"
set samples 224

set label 1 "bank" at -0.4,-0.5 right font ",11"
set label 2 "4 bytes a lane" at -6.3,0.5 font ",10"
set label 3 "8 bytes a lane" at -6.3,2.6 font ",10"
set label 4 "16 bytes a lane" at -6.3,6.2 font ",10"

plot "+" using (bank($0) + 0.5):(top(row($0)) + 0.5):(bank($0)):(bank($0) + 1): \
       (top(row($0))):(top(row($0)) + 1):(colour($0)) \
       every ::0::223 with boxxyerror linecolor rgb variable, \
     "+" using (bank($0) + 0.5):(top(row($0)) + 0.5):(sprintf("%d", lane($0))) \
       every ::0::223 with labels font ",9", \
     "+" using ($0 + 0.5):(-0.5):(sprintf("%d", int($0))) \
       every ::0::31 with labels font ",10" textcolor rgb "#1f4e79", \
     "+" using (-0.4):(top(int($0)) + 0.5):(pass(int($0))) \
       every ::0::6 with labels right font ",9" textcolor rgb "#555555"
