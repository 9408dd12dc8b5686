#!/usr/bin/env bash
# The wheel of this machine, built and installed: gaprof runs from it as a command, as a module, by uvx and by pipx.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1

skip() {
  echo "wheel: SKIPPED: $1" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}
fail() {
  echo "wheel: $1" >&2
  exit 1
}
command -v python3 >/dev/null || skip "no python3"
platform=$(go env GOOS)/$(go env GOARCH)
go run -C tools ./dist -only "$platform" -out "$work/one" wheels
go run -C tools ./dist -only "$platform" -out "$work/two" wheels >/dev/null
wheel=$(ls "$work"/one/*.whl)
cmp "$wheel" "$work/two/$(basename "$wheel")" || fail "the same source gives two wheels"

python3 -m venv "$work/venv" || skip "python3 -m venv failed"
bin=$work/venv/bin
"$bin/pip" install --quiet --no-index "$wheel"
"$bin/pip" check
want=$("$bin/gaprof" version)
[ "$("$bin/python" -m gaprof version)" = "$want" ] || fail "python -m gaprof is another program"
found=$("$bin/python" -c 'import gaprof; print(gaprof.find_binary())')
[ "$found" -ef "$bin/gaprof" ] || fail "find_binary gives $found"
"$bin/gaprof" -q traces/reduce-scatter-in-step.json | grep -q '^VERDICT  reduce-scatter exposed' || fail "it does not analyze"
code=0
"$bin/python" -m gaprof gone.json 2>/dev/null || code=$?
[ "$code" = 3 ] || fail "python -m gaprof gives exit code $code for a trace that is not there"
"$bin/pip" install --quiet --no-index --target "$work/target" "$wheel"
found=$(PYTHONPATH=$work/target PATH=/usr/bin:/bin python3 -c 'import gaprof; print(gaprof.find_binary())')
[ "$found" -ef "$work/target/bin/gaprof" ] || fail "find_binary of pip install --target gives $found"
"$bin/pip" uninstall --quiet --yes gaprof
[ ! -e "$bin/gaprof" ] || fail "uninstalling leaves the program"

python3 -m venv "$work/tools"
if "$work/tools/bin/pip" install --quiet twine check-wheel-contents uv pipx 2>/dev/null; then
  "$work/tools/bin/twine" check --strict "$wheel"
  "$work/tools/bin/check-wheel-contents" "$wheel"
  [ "$(UV_CACHE_DIR=$work/uv "$work/tools/bin/uvx" --quiet --from "$wheel" gaprof version)" = "$want" ] || fail "uvx"
  [ "$(PIPX_HOME=$work/pipx "$work/tools/bin/pipx" run --quiet --spec "$wheel" gaprof version 2>/dev/null)" = "$want" ] || fail "pipx"
else
  echo "wheel: SKIPPED twine, check-wheel-contents, uvx and pipx: the package index is not reachable" >&2
fi
echo "wheel: $want"
