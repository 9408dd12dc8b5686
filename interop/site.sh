#!/usr/bin/env bash
# Builds the site of docs/ and opens it in headless Chromium: wide, on a phone, dark; the search, and axe. The virtual
# environments ($VENV_SITE, else .venv-site, and $VENV_PAGES, else .venv-pages) take 250 MB. Without a Chromium
# ($CHROMIUM, else chromium or google-chrome) or the package index it says what it skips and ends well
# (INTEROP_SKIP_STATUS=1 makes that a failure). PICTURES=FOLDER keeps a picture of each page that it looks at.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${VENV_PAGES:-.venv-pages}
python=$venv/bin/python

skip() {
  echo "interop: SKIPPED the site in a browser: $1" >&2
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
code=0
go run -C tools ./site -out "$folder/site" || code=$?
[ "$code" -eq 0 ] || { [ -x "${VENV_SITE:-.venv-site}/bin/zensical" ] && exit "$code"; skip "the generator could not be installed"; }
"$python" interop/site.py "$chromium" "$folder/site" ${PICTURES:+"$PICTURES"}
