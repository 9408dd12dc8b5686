#!/usr/bin/env bash
# Opens pages of our own trainer in headless Chromium, and what open and serve serve: clicks, keys, dark, phone, print,
# and axe. The virtual environment ($VENV_PAGES, else .venv-pages) takes about 150 MB. Without a Chromium ($CHROMIUM, else chromium or google-chrome) or the
# package index it says what it skips and ends well (INTEROP_SKIP_STATUS=1 makes that a failure).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV_PAGES:-.venv-pages}
python=$venv/bin/python

skip() {
  echo "interop: SKIPPED pages in a browser: $1" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}

chromium=${CHROMIUM:-$(command -v chromium || command -v google-chrome || true)}
[ -n "$chromium" ] || skip "no Chromium"
command -v python3 >/dev/null || skip "no python3"
[ -x "$python" ] || python3 -m venv "$venv" || skip "python3 -m venv failed"
if ! cmp -s interop/requirements-pages.txt "$venv/requirements-pages.txt"; then
  echo "interop: installing Playwright into $venv"
  "$python" -m pip install --quiet --no-cache-dir --disable-pip-version-check -r interop/requirements-pages.txt >"$venv/log" 2>&1 ||
    { tail -n 5 "$venv/log" >&2; skip "the Python package index is not reachable, or has no wheel of the pinned versions"; }
  cp interop/requirements-pages.txt "$venv/"
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CGO_ENABLED=0 go build -o "$folder/gaprof" ./cmd/gaprof
for place in hook step; do
  "$folder/gaprof" train -q --device sim:h100 --world-size 2 --reduce-scatter "$place" --max-steps 4 -o "$folder/$place" >/dev/null
  "$folder/gaprof" analyze -q "$folder/$place" --format json -o "$folder/$place.json" >/dev/null
done
"$folder/gaprof" report -q "$folder/step" -o "$folder/report.html"
"$folder/gaprof" report -q "$folder/hook.json" "$folder/step.json" -o "$folder/history.html"
"$folder/gaprof" diff "$folder/hook" "$folder/step" --format html -o "$folder/diff.html"
"$folder/gaprof" check "$folder/step" --baseline "$folder/hook.json" --format html -o "$folder/check.html" || [ $? -eq 1 ] || [ $? -eq 4 ]
"$folder/gaprof" whatif "$folder/step" --format "html=$folder/whatif.html" >/dev/null
python3 - "$folder/job.csv" <<'TABLE'
import sys
with open("cmd/gaprof/testdata/script/whatif-table.txt") as f:
    text = f.read().split("-- job.csv --\n")[1].split("\n-- ")[0]
with open(sys.argv[1], "w") as f:
    f.write(text + "\n")
TABLE
"$folder/gaprof" whatif --table "$folder/job.csv" -o "$folder/table.html"
"$python" interop/pages.py "$chromium" "$folder"/*.html
mkdir "$folder/runs"
mv "$folder/hook" "$folder/step" "$folder/runs/"
"$python" interop/served.py "$chromium" "$folder/gaprof" "$folder/runs"
