#!/usr/bin/env bash
# The first hour of a newcomer, from an empty home and empty caches: gaprof from its wheel, a sample, a PyTorch loop recorded
# by README's recipe, analysed, reported, compared and gated. What happens becomes docs/first-hour.md.
#   interop/newcomer.sh
#   WHEEL=FILE interop/newcomer.sh           that wheel; else one is built for this machine
#   TORCH_PYTHON=FILE interop/newcomer.sh    records with a Python that has PyTorch; else pip installs it from the index
#   TORCH_CACHE=FOLDER interop/newcomer.sh   pip's cache, for PyTorch alone
#   TRANSCRIPT=FILE interop/newcomer.sh      writes it there
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
transcript=$(realpath -m "${TRANSCRIPT:-docs/first-hour.md}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/hour"

skip() {
  echo "newcomer: SKIPPED: $1" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}
command -v python3 >/dev/null || skip "no python3"

wheel=${WHEEL:-}
if [ -z "$wheel" ]; then
  go run -C tools ./dist -only "$(go env GOOS)/$(go env GOARCH)" -out "$work/dist" wheels >&2
  wheel=$(ls "$work"/dist/*.whl)
fi
wheel=$(realpath "$wheel")

# What a newcomer has: a shell, python3, and nothing else of this machine.
cp traces/reduce-scatter-in-step.json "$work/hour/sample.json"
{ cat interop/newcomer_loop.py; printf '\n\n'; sed -n '/^```python$/,/^```$/{/^```/d;p}' README.md |
  sed -n '1,/prof\.step()/p' | sed 's/f"trace-rank/f"{variant}-rank/'; } >"$work/hour/train.py"
grep -q 'torch.profiler' "$work/hour/train.py" || { echo "newcomer: README has no recipe that records a trace" >&2; exit 1; }
newcomer() {
  (cd "$work/hour" && env -i HOME="$work/home" PATH="$work/hour/venv/bin:/usr/bin:/bin" LANG=C.UTF-8 NO_COLOR=1 COLUMNS=110 \
    OMP_NUM_THREADS=1 KINETO_LOG_LEVEL=5 PYTHONWARNINGS=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 "$@")
}

version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' internal/release/release.go)

# normal takes out what differs from machine to machine and from run to run: paths, and digits of measured figures.
normal() {
  local digits='s/x/x/'
  [ "$1" = measured ] && digits='s/[0-9]([0-9,]*)\.[0-9]+/\n&\n/g; :a; s/(\n[^0-9\n]*(x|[.,])*)[0-9]([^\n]*\n)/\1x\3/; ta; s/\n//g'
  sed -E "s#$work/hour/##g; s#$work#...#g; s#[^ ]*/(gaprof-[^ /]*\.whl)#\1#g; s/go1[0-9.]* commit [0-9a-f]+( modified)?/go1.x commit .../" |
    grep -vE '^(USDT|ERROR):|^[[:space:]]*_warn_once' | sed -E "$digits" |
    sed -E "s/^gaprof x\.x/gaprof $version/; s/p >= x\.xx/p >= 0.05/; s/max x\.xx %/max 0.10 %/" || true
}

# unrun marks what no test of the pages can run again.
unrun() {
  case "$1 $2" in
    measured*) echo '<!-- not run: its trace was recorded with PyTorch -->' ;;
    *pip\ * | *python\ *) echo '<!-- not run: it needs Python -->' ;;
    *version*) echo '<!-- not run: it says how the program was built -->' ;;
  esac >>"$work/transcript"
}

# shown runs a command of the newcomer and writes it with what it prints and its exit code, if that is not 0.
shown() {
  local kind=$1 code=0
  shift
  printf '\n' >>"$work/transcript"
  unrun "$kind" "$*"
  printf '```console\n$ %s\n' "$*" | normal exact >>"$work/transcript"
  newcomer bash -c "$*" >"$work/output" 2>&1 || code=$?
  normal "$kind" <"$work/output" >>"$work/transcript"
  [ "$code" -eq 0 ] || echo "[exit code $code]" >>"$work/transcript"
  echo '```' >>"$work/transcript"
  if [ "$code" -ne "${expected:-0}" ]; then
    cat "$work/output" >&2
    echo "newcomer: exit code $code, not ${expected:-0}: $*" >&2
    exit 1
  fi
}
said() { printf '%s\n' "$@" >>"$work/transcript"; }

said '# The first hour' '' \
  'From an empty machine to a gate in CI: install, a sample, a training loop of your own, the fix, the comparison. Written by `interop/newcomer.sh`, which starts from an empty home and empty caches. Paths are shortened, and digits of measured times are x.' \
  '' '## Install'
newcomer python3 -m venv venv
expected=0 shown exact "pip install --quiet $wheel && pip check"
expected=0 shown exact "gaprof version"
expected=0 shown exact "python -m gaprof version --json | grep schema"
said '' '## A sample' '' 'One rank of two; its reduce-scatters are launched by the optimizer:'
expected=0 shown exact "gaprof sample.json"
said '' '## A loop of one'"'"'s own' '' \
  'The loop is `interop/newcomer_loop.py` with README'"'"'s recipe after it. It accumulates four micro-batches and then divides every gradient by four:' \
  '' '```python'
cat "$work/hour/train.py" >>"$work/transcript"
said '```'
python=python
if [ -n "${TORCH_PYTHON:-}" ]; then
  python=$(realpath -s "$TORCH_PYTHON")
  said '' '(PyTorch was there already.)'
else
  cache=${TORCH_CACHE:+--cache-dir $(realpath -m "${TORCH_CACHE:-.}")}
  newcomer pip install --quiet ${cache:---no-cache-dir} torch numpy >&2 || skip "the package index has no PyTorch for this machine"
  said '' '<!-- not run: it needs the network -->' '```console' '$ pip install --quiet torch numpy' '```'
fi
record() { # with the name of the interpreter that a newcomer types
  newcomer "$python" train.py "$1" >"$work/output" 2>&1 || { cat "$work/output" >&2; exit 1; }
  [ -s "$work/hour/$1-rank0.json.gz" ] || { echo "newcomer: no trace of $1" >&2; exit 1; }
  said '' '<!-- not run: it needs PyTorch -->' '```console' "\$ python train.py $1" "\$ ls $1-*" "$1-rank0.json.gz" '```'
}
record before
said '' 'The CPU alone was recorded, so the times are those of the host, and what needs a GPU is named as not judged:'
expected=0 shown measured "gaprof before-rank0.json.gz"
grep -q 'scale  after backward' "$work/output" || { echo "newcomer: the pass over the gradients was not found" >&2; exit 1; }
expected=0 shown measured "gaprof report before-rank0.json.gz -o before.html && grep -c '<section' before.html"
said '' '## The change' '' 'The loss is divided instead, which costs nothing. The pass is gone:'
record after
expected=0 shown measured "gaprof diff before-rank0.json.gz after-rank0.json.gz"
grep -q '^GONE.*scale' "$work/output" || { echo "newcomer: diff does not say that the pass is gone" >&2; exit 1; }
said '' '## The gate' '' 'What is good becomes the baseline. The same run passes:'
expected=0 shown measured "gaprof check -q after-rank0.json.gz --baseline main.json --baseline-missing ok --write-baseline main.json | sed '/^Checks/,\$d'"
expected=0 shown measured "gaprof check -q after-rank0.json.gz --baseline main.json | grep VERDICT"
said '' 'Should somebody bring the pass back, the gate fails, also where a machine is too noisy for times:'
expected=1 shown measured "set -o pipefail; gaprof check -q before-rank0.json.gz --baseline main.json | sed '/^UNKNOWN/,\$d'"

grep -qF "$work" "$work/transcript" && { echo "newcomer: a path of this machine is in the transcript" >&2; exit 1; }
cp "$work/transcript" "$transcript"
echo "newcomer: wrote ${transcript#"$root"/}"
