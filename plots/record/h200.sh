#!/usr/bin/env bash
# Records everything the book shows of a GPU, in one go (about 7 minutes at most): grades on both
# devices, counters, times.  Run it from the top of the workbook on a machine with a GPU:
#
#   make portable               (here or on another machine with the same processor family)
#   OUT=some/folder NAME=h200 bash plots/record/h200.sh
#
# It needs nvcc, and ncu with access to the counters for the proof; what fails is left out and told
# in the log.  In OUT come: log.txt, tables.tgz (for plots/data/NAME) and profiler.tgz (the
# profiler's own tables, for `banks prove --replay`).
set -u
cd "$(dirname "$0")/../.."
OUT=${OUT:-build/record}
NAME=${NAME:-h200}
BANKS=${BANKS:-}
for b in build/portable/banks build/banks; do
  [ -z "$BANKS" ] && [ -x $b ] && $b help > /dev/null 2>&1 && BANKS=$b
done
[ -n "$BANKS" ] || { echo "build it first: make, or make portable"; exit 2; }
mkdir -p "$OUT"
work=$(mktemp -d)
mkdir -p "$work/$NAME" "$work/profiler"
exec > >(tee "$OUT/log.txt") 2>&1

step() {                                  # step SECONDS NAME COMMAND...
  local seconds=$1 name=$2 begin=$SECONDS
  shift 2
  echo "== $name"
  timeout -k 5 "$seconds" "$@"
  echo "== $name: status $?, $((SECONDS - begin)) s"
}
pack() {                                  # after every step, so that a late failure loses little
  tar -czf "$OUT/tables.tgz" -C "$work" "$NAME"
  rm -f "$work"/profiler/report.ncu-rep.gz
  tar -czf "$OUT/profiler.tgz" -C "$work" --exclude='*.ncu-rep' profiler
}

step 10 card nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem,memory.total --format=csv
step 20 doctor "$BANKS" doctor
step 10 probe "$BANKS" worker --probe
step 80 "solutions on both devices" "$BANKS" grade --device cuda --from solutions --json "$work/$NAME/solutions.json"
pack
step 130 measure "$BANKS" measure --out "$work/$NAME"
pack
step 180 prove "$BANKS" prove --all --from exercises --from solutions --most 2 --seconds 140 \
  --record "$work/profiler" --save "$work/$NAME/proof.tsv"
pack
step 60 "whole kernels" "$BANKS" prove --list grader/tests/kernels/launches.tsv --seconds 50 \
  --record "$work/profiler/kernels" --save "$work/$NAME/kernels.tsv"
pack
step 45 "starters on both devices" "$BANKS" grade --device cuda --json "$work/$NAME/starters.json"
pack
if [ -x "$BANKS" ]; then
  step 15 "one exercise, in words" "$BANKS" check 04-padding/transpose --device cuda --from solutions
fi
ls -la "$OUT" "$work/$NAME"
rm -rf "$work"
