#!/usr/bin/env bash
# The package of the wheel in real trainers: two ranks on a CPU under DDP, transformers, Lightning and torchtitan, with known counts
# of tokens and a planted normalization, which gaprof must find.
#   VENV=FOLDER interop/trainers.sh    an environment with what interop/requirements*.txt name; else .venv, made by interop/run.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath -ms "${VENV:-.venv}")/bin/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip() {
  echo "trainers: SKIPPED $1" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}
"$python" -c 'import torch' 2>/dev/null || skip "all of it: no PyTorch; interop/run.sh installs it"

# The package as it is installed, not the one of the source.
go run -C tools ./dist -only "$(go env GOOS)/$(go env GOARCH)" -out "$work/dist" wheels >/dev/null
python3 -m venv "$work/venv" || skip "all of it: python3 -m venv failed"
"$work/venv/bin/pip" install --quiet --no-index --target "$work/package" "$work"/dist/*.whl
export PYTHONPATH="$work/package" OMP_NUM_THREADS=1 KINETO_LOG_LEVEL=5 PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1
gaprof=$work/package/bin/gaprof

# rule TRAINER: what is planted in it; torchtitan divides by the count of all ranks, and nothing may be found.
rule() {
  case $1 in transformers) echo NM001 ;; plain | lightning) echo NM002 ;; esac
}
for trainer in plain transformers lightning torchtitan; do
  [ "$trainer" = plain ] || "$python" -c "import $trainer" 2>/dev/null || { echo "trainers: SKIPPED $trainer: not installed" >&2; continue; }
  folder=$work/runs/$trainer
  "$python" interop/trainers.py "$trainer" "$folder" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  "$gaprof" norm -q "$folder" --format json >"$work/norm.json"
  found=$("$python" - "$folder/report.json" "$work/norm.json" <<'END'
import json, sys
report, norm = (json.load(open(f)) for f in sys.argv[1:])
assert report["source"]["ranks"] == [0, 1], report["source"]["ranks"]
steps = [s for s in report["steps"] if s["complete"]]
assert len(steps) == 8 and {s["micro_batches"] for s in steps} == {2}, [s["micro_batches"] for s in steps]
both = [{f["rule"] for f in r["findings"] if f["severity"] != "note"} for r in (report, norm)]
both = [{r for r in rules if r.startswith("NM")} for rules in both]
assert both[0] == both[1], both
print(*sorted(both[0]))
END
  )
  [ "$found" = "$(rule "$trainer")" ] || { echo "trainers: $trainer: found '$found', not '$(rule "$trainer")'" >&2; cat "$folder/report.txt" >&2; exit 1; }
  echo "trainers: $trainer: 4 steps of 2 ranks, the tokens of each micro-batch, ${found:-no normalization fault}"
done
