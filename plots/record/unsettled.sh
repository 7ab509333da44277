#!/usr/bin/env bash
# Records plots/data/NAME/unsettled.tsv on a GPU: run as root or with access to the counters.
# Writes $OUT/unsettled.tsv: the rows of unsettled.cu with the wavefronts of each machine
# instruction (opcode=wavefronts/executed, joined by a comma) that touched shared memory.
set -eu
cd "$(dirname "$0")"
OUT=${OUT:-.}
work=$(mktemp -d)
nvcc -arch=native -std=c++17 -o "$work/unsettled" unsettled.cu
"$work/unsettled" > "$work/rows.tsv"
ncu --clock-control none --section SourceCounters -f -o "$work/report" "$work/unsettled" > "$work/log" 2>&1 || { tail -5 "$work/log"; exit 1; }
ncu -i "$work/report.ncu-rep" --page source --csv --print-source sass > "$work/source.csv"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader > "$OUT/card.txt"
cp "$work/rows.tsv" "$OUT/rows.tsv"
gzip -c "$work/source.csv" > "$OUT/source.csv.gz"
head -c 3000 "$work/source.csv"
