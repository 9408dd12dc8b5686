#!/usr/bin/env bash
# Loads traces of our own trainer in HolisticTraceAnalysis and compares ranks and overlap with gaprof's. Needs no PyTorch:
# the virtual environment ($VENV_HTA, else .venv-hta) takes about 100 MB. Without the package index it says what it skips and ends well
# (INTEROP_SKIP_STATUS=1 makes that a failure).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV_HTA:-.venv-hta}
python=$venv/bin/python

skip() {
  echo "interop: SKIPPED HolisticTraceAnalysis: $1" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}

command -v python3 >/dev/null || skip "no python3"
[ -x "$python" ] || python3 -m venv "$venv" || skip "python3 -m venv failed"
if ! cmp -s interop/requirements-hta.txt "$venv/requirements-hta.txt"; then
  echo "interop: installing HolisticTraceAnalysis into $venv"
  "$python" -m pip install --quiet --no-cache-dir --disable-pip-version-check --no-deps -r interop/requirements-hta.txt >"$venv/log" 2>&1 ||
    { tail -n 5 "$venv/log" >&2; skip "the Python package index is not reachable, or has no wheel of the pinned versions for $("$python" --version)"; }
  cp interop/requirements-hta.txt "$venv/"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CGO_ENABLED=0 go build -o "$folder/gaprof" ./cmd/gaprof
for place in hook step; do # wide enough that whole microseconds, to which HTA rounds, do not matter
  "$folder/gaprof" train -q --world-size 2 --reduce-scatter "$place" --width 128 --max-steps 5 -o "$folder/$place" >/dev/null
  "$python" interop/overlap.py "$folder/gaprof" "$folder/$place"/rank*.json.gz
done

# Simulated GPUs: data parallel, an optimizer that is sharded, full sharding, and shards with replicas.
small="--model gpt2 --layers 2 --sequence-length 256 --local-batch-size 4 --global-batch-size 0 --max-steps 4"
run=0
for options in "--world-size 2" "--world-size 2 --reduce-scatter hook" "--world-size 2 --sharding full" "--world-size 4 --sharding full --replicas 2"; do
  run=$((run + 1))
  "$folder/gaprof" train -q --device sim:h100x2 $small $options -o "$folder/sim$run" >/dev/null
  echo "interop: simulated: $options"
  "$python" interop/overlap.py "$folder/gaprof" "$folder/sim$run"/rank*.json.gz
done
