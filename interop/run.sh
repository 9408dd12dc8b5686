#!/usr/bin/env bash
# Traces of a current PyTorch, with their truth, in interop/out. Quick when the virtual environment stands already.
#   interop/run.sh [--only WORD]... [--world N]...
#   KEEP=1 interop/run.sh      the traces named in keep.txt become interop/testdata
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$(realpath -m "${VENV:-.venv}")
python=$venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1

skip() { # loudly, by name
  echo "interop: SKIPPED $1: $2" >&2
  [ "$1" = "the PyTorch loops" ] || return 0
  echo "interop: nothing ran against a current PyTorch; the stored traces of interop/testdata are still tested by go test" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}

# install NAME FILE: --no-deps, because torch's own list brings compilers and CUDA tools that no CPU run loads; FILE says what is needed.
install() {
  local log
  cmp -s "$2" "$venv/$(basename "$2")" && return
  log=$(mktemp)
  echo "interop: installing $1 into $venv"
  if "$python" -m pip install --quiet --no-cache-dir --no-deps -r "$2" >"$log" 2>&1; then
    cp "$2" "$venv/"
    rm -f "$log"
    return
  fi
  tail -n 5 "$log" >&2
  rm -f "$log"
  skip "$1" "the Python package index is not reachable, or has no wheel of the pinned versions for $("$python" --version)"
}

command -v python3 >/dev/null || skip "the PyTorch loops" "no python3"
[ -x "$python" ] || python3 -m venv "$venv" || skip "the PyTorch loops" "python3 -m venv failed"
install "the PyTorch loops" interop/requirements.txt # about 2.5 GB to download, once
install HolisticTraceAnalysis interop/requirements-hta.txt
install "the loops of frameworks" interop/requirements-frameworks.txt

[ $# -gt 0 ] || rm -rf interop/out
export OMP_NUM_THREADS=1 TORCHINDUCTOR_CACHE_DIR="$venv/inductor" KINETO_LOG_LEVEL=5 TORCH_CPP_LOG_LEVEL=ERROR PYTHONWARNINGS=ignore
chatter='^(USDT|ERROR):.*(profiler_st|gpuGetDeviceCount)|triton not found|^[[:space:]]*$'
"$python" interop/loops.py interop/out "$@" 2> >(grep -vE "$chatter" >&2)
echo "interop: $(find interop/out -name '*.json.gz' | wc -l) traces in interop/out"
[ $# -gt 0 ] || "$python" interop/eager.py 1
[ $# -gt 0 ] || "$python" interop/changes.py 2> >(grep -vE "$chatter" >&2)
[ $# -gt 0 ] || { go build -o interop/out/gaprof ./cmd/gaprof && "$python" interop/recording.py interop/out/gaprof; }

[ "${KEEP:-}" = 1 ] || exit 0
rm -f interop/testdata/*
while read -r name; do
  cp "interop/out/$name.json.gz" "interop/out/$name.truth.json" interop/testdata/
done <interop/keep.txt
du -bch interop/testdata/* | tail -1
