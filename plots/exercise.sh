#!/usr/bin/env bash
# Draws one exercise's times: predicted for the recorded card, measured where there are measurements,
# and yours from FROM: make plot EX=04-padding/transpose [FROM=exercises] [DATA=h200] [FORMAT=dumb].
set -eu
cd "$(dirname "$0")/.."
DATA=${DATA:-h200}
FORMAT=${FORMAT:-svg}
id=${1:-}
from=${2:-exercises}
[ -n "$id" ] || { echo "name an exercise: make plot EX=04-padding/transpose" >&2; exit 2; }
command -v gnuplot > /dev/null || { echo "gnuplot is not here: apt-get install gnuplot-nox" >&2; exit 2; }
out=build/plots/mine
mkdir -p "$out"
folders="--from exercises --from solutions"
case $from in exercises|solutions) ;; *) folders="$folders --from $from";; esac
against=plots/data/$DATA/exercises.tsv
[ -f "$against" ] && cp "$against" "$out/exercises.tsv" || : > "$out/exercises.tsv"
# On a machine with a GPU yours is measured there; the points then are of two cards, if they differ.
if "$BANKS" worker --probe | grep -q '^ok'; then
  "$BANKS" measure --exercise "$id" --from "$from" --out "$out/here" > /dev/null &&
    { grep -v "^$from	$id	" "$out/exercises.tsv" || true; grep "^$from	$id	" "$out/here/exercises.tsv"; } > "$out/both.tsv" &&
    mv "$out/both.tsv" "$out/exercises.tsv"
fi
# shellcheck disable=SC2086
"$BANKS" predict "$id" $folders --against "$out/exercises.tsv" --save "$out/times.tsv"
file=$out/$(echo "$id" | tr / -).$FORMAT
[ "$FORMAT" = dumb ] && file=
gnuplot -e "format='$FORMAT'; out='$file'; table='$out/times.tsv'; card='$DATA'; id='$id'; from='$from'" plots/gpu/exercise.gp
[ -z "$file" ] || echo "drawn: $file"
