# Chapter 01: a row of a 32 x 32 float tile touches 32 banks, a column touches one.
# Run from the top of the workbook: gnuplot plots/fig-01-column.gp
svg = !exists("PNG")
if (svg) { set terminal svg size 900,470 font "Sans,10" background "white" }
if (!svg) { set terminal pngcairo size 900,470 font "Sans,10" }
set output !svg ? PNG : "chapters/figures/01-column.svg"

set multiplot layout 1,2
set xrange [-1:33]
set yrange [33:-3.4]
set size ratio -1
unset border; unset ytics; unset xtics; unset key
set style fill solid 1.0 border rgb "#ffffff"
set samples 32
set lmargin 4; set rmargin 0.5; set tmargin 3; set bmargin 0.5
set label 9 "bank" at 16,-2.4 center font ",10" textcolor rgb "#1f4e79"

do for [b = 0:31:4] {
  set label 10 + b sprintf("%d", b) at b + 0.5,-0.9 center font ",9" textcolor rgb "#1f4e79"
}
do for [i = 0:32] {
  set arrow 100 + i from i,0 to i,32 nohead linecolor rgb "#dddddd" back
  set arrow 200 + i from 0,i to 32,i nohead linecolor rgb "#dddddd" back
}
set ylabel "row of the tile: 32 words"

set title "tile[3][t]: lane t in bank t. 32 banks, one pass"
plot "+" using ($0 + 0.5):(3.5):($0):($0 + 1):(3):(4) \
    every ::0::31 with boxxyerror linecolor rgb "#2f7fb8"
unset ylabel
set title "tile[t][3]: every lane in bank 3. One bank, 32 passes"
plot "+" using (3.5):($0 + 0.5):(3):(4):($0):($0 + 1) \
    every ::0::31 with boxxyerror linecolor rgb "#d1495b"
unset multiplot
