#!/usr/bin/env bash
# Traces of a current PyTorch, with their truth, in interop/out. Quick when the virtual environment stands already.
#   interop/run.sh [--only WORD]... [--world 1|2]
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}
python=$venv/bin/python
stamp=$venv/interop-requirements.txt

skip() { # loudly, by name
  echo "interop: SKIPPED $1: $2" >&2
  echo "interop: nothing was checked against a current PyTorch; the stored traces in interop/testdata still are, by go test" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}

command -v python3 >/dev/null || skip "the PyTorch loops" "no python3"
if ! cmp -s interop/requirements.txt "$stamp"; then
  [ -x "$python" ] || python3 -m venv "$venv" || skip "the PyTorch loops" "python3 -m venv failed"
  log=$(mktemp)
  # --no-deps: torch's own list would bring compilers and CUDA tools that no CPU run loads; requirements.txt says which.
  echo "interop: installing torch and what it links against into $venv (about 2 GB to download once)"
  if ! "$python" -m pip install --quiet --disable-pip-version-check --no-cache-dir --no-deps -r interop/requirements.txt >"$log" 2>&1; then
    cat "$log" >&2
    if grep -qiE 'connection|timed? ?out|resolve|unreachable|no matching distribution' "$log"; then
      skip "the PyTorch loops" "the Python package index is not reachable, or has no wheel of the pinned versions for $(python3 --version)"
    fi
    exit 1
  fi
  rm -f "$log"
  "$python" -c 'import torch' || { echo "interop: torch is installed but does not import" >&2; exit 1; }
  cp interop/requirements.txt "$stamp"
fi

[ $# -gt 0 ] || rm -rf interop/out
export OMP_NUM_THREADS=1 TORCHINDUCTOR_CACHE_DIR="$PWD/$venv/inductor" KINETO_LOG_LEVEL=5 PYTHONWARNINGS=ignore TORCH_CPP_LOG_LEVEL=ERROR
"$python" interop/loops.py interop/out "$@" 2> >(grep -vE '^(USDT|ERROR):.*(profiler_st|gpuGetDeviceCount)' >&2) # Kineto's chatter
echo "interop: $(ls interop/out/*.json.gz | wc -l) traces in interop/out"

[ "${KEEP:-}" = 1 ] || exit 0
rm -f interop/testdata/* # KEEP=1: the chosen ones become test data
while read -r name; do
  cp "interop/out/$name.json.gz" "interop/out/$name.truth.json" interop/testdata/
done <interop/keep.txt
du -bch interop/testdata/* | tail -1
