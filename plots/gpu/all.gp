# One page of everything.  Variables: format, out, card, folder (of the tables), names.
if (format eq "svg") { set terminal svg size 1560,1900 font "sans-serif,13" background "white" }
if (format eq "png") { set terminal pngcairo size 1560,1900 font "sans-serif,11" background "white" }
set output out
page = 1
set multiplot layout (words(names) + 1) / 2, 2
do for [i = 1:words(names)] {
  name = word(names, i)
  table = folder . "/" . name . ".tsv"
  load "plots/gpu/" . name . ".gp"
  unset logscale; unset xlabel; unset ylabel; unset label; unset title; unset key; set key
  set xtics auto norotate; set xrange [*:*]; set yrange [*:*]; set style fill empty
}
unset multiplot
