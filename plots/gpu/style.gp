# What all plots of a GPU's tables share.  Variables from draw.sh: format (svg, png, dumb), out (a
# file; "" for a terminal), table (the data), card (for the titles), page (1: part of a page).
# Colours are Okabe and Ito's, which colour-blind readers can tell apart; shapes differ, too.
if (!exists("page")) { page = 0 }
if (!page) {
  if (format eq "svg") { set terminal svg size 760,470 font "sans-serif,13" background "white" }
  if (format eq "png") { set terminal pngcairo size 760,470 font "sans-serif,11" background "white" }
  if (format eq "dumb") { set terminal dumb size 100,32 }
  if (out ne "") { set output out }
}
set datafile separator "\t"
blue = "#0072b2"; orange = "#d55e00"; green = "#009e73"; pink = "#cc79a7"; yellow = "#e69f00"; grey = "#888888"
set grid linecolor rgb "#dddddd"
set border 3
set tics nomirror
set key default
set key top left reverse Left samplen 2
set offsets 0, 0, 0, 0
is(text, value) = text eq value
rows = "< grep -v '^#' '" . table . "'"
