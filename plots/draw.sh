#!/usr/bin/env bash
# Draws the tables of plots/data/DATA into build/plots: make plots [DATA=h200] [FORMAT=svg|png|dumb].
# Tables that are missing are named; older recordings stand in where they hold the same rows.
set -eu
cd "$(dirname "$0")/.."
DATA=${DATA:-h200}
FORMAT=${FORMAT:-svg}
from=plots/data/$DATA
[ -d "$from" ] || { echo "there is no $from; there are: $(ls plots/data | grep -v '\.' | tr '\n' ' ')" >&2; exit 2; }
command -v gnuplot > /dev/null || { echo "gnuplot is not here: apt-get install gnuplot-nox" >&2; exit 2; }
case $FORMAT in svg|png|dumb) ;; *) echo "FORMAT=$FORMAT: expected svg, png or dumb" >&2; exit 2;; esac
out=build/plots/$DATA
mkdir -p "$out/tables"
rm -f "$out"/tables/*.tsv
for table in "$from"/*.tsv; do cp "$table" "$out/tables/"; done
tables=$out/tables

# Rows of the first recordings, for tables `banks measure` has not written yet.
stand_in() {                              # stand_in TABLE WIDTH-TEST
  [ -f "$tables/$1.tsv" ] || [ ! -f "$tables/accesses.tsv" ] && return 0
  awk -F'\t' 'BEGIN { OFS = "\t"; print "op", "width", "stride", "wavefronts", "ideal", "cycles" }
    $2 == "stride" && $8 != "" && ($3 == "load" || $3 == "store") && '"$2"' {
      print $3, $4, ($10 - $9) / $4, $6, $7, $8 }' "$tables/accesses.tsv" > "$tables/$1.tsv"
  echo "  $1: from accesses.tsv"
}
stand_in strides '$4 == 4'
stand_in widths '$4 > 4'
if [ ! -f "$tables/pitches.tsv" ] && [ -f "$tables/transpose.tsv" ]; then
  awk -F'\t' 'BEGIN { OFS = "\t"; print "kernel", "pitch", "ms", "low", "high", "gbs", "copy_gbs" }
    $1 == "copy" { copy = $2 }
    $1 ~ /^pitch_/ { print "transpose_" substr($1, 7), substr($1, 7), 0, 0, 0, $2, copy }
    $1 == "xor" { print "transpose_xor", 32, 0, 0, 0, $2, copy }' "$tables/transpose.tsv" > "$tables/pitches.tsv"
  echo "  pitches: from transpose.tsv"
fi

# "NVIDIA H200 (compute capability ...), ..." of the tables' comments; else the folder's name.
card=$(sed -n 's/^# \([^(]*\) (compute.*/\1/p' "$tables"/*.tsv | head -1)
[ -n "$card" ] || card="an NVIDIA $(echo "$DATA" | tr a-z A-Z)"
drawn=
for name in strides widths updates ldmatrix pitches residents sums histograms gathers speedups; do
  if [ ! -f "$tables/$name.tsv" ]; then
    echo "  $name: no table; banks measure --out $from on a machine with a GPU makes it"
    continue
  fi
  file=$out/$name.$FORMAT
  [ "$FORMAT" = dumb ] && file=
  gnuplot -e "format='$FORMAT'; out='$file'; table='$tables/$name.tsv'; card='$card'" "plots/gpu/$name.gp"
  drawn="$drawn $name"
done
[ "$FORMAT" = dumb ] || gnuplot -e "format='$FORMAT'; out='$out/all.$FORMAT'; folder='$tables'; card='$card'; names='${drawn# }'" plots/gpu/all.gp
[ "$FORMAT" = dumb ] || echo "drawn from $from ($card): $out/all.$FORMAT and$drawn"
