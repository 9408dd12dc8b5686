#!/usr/bin/env bash
# `go install github.com/gaprof/gaprof/cmd/gaprof@latest`, as from a module proxy: the files of this tree that git knows become a
# module in a folder, which is the proxy for this module alone. Modules that others use come from the usual proxy.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
module=github.com/gaprof/gaprof
version=v$(sed -n 's/^const Version = "\(.*\)"$/\1/p' internal/release/release.go).0
proxy=$work/proxy/$module/@v
mkdir -p "$proxy" "$work/bin"
python3 - "$proxy/$version.zip" "$module@$version/" <<'PYTHON'
import subprocess, sys, zipfile

names = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout.split("\0")
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
    for name in names:
        if name and not name.startswith(("tools/", "interop/collector/")):  # modules of their own
            z.write(name, sys.argv[2] + name)
PYTHON
cp go.mod "$proxy/$version.mod"
echo "{\"Version\":\"$version\",\"Time\":\"$(git show -s --format=%cI HEAD)\"}" >"$proxy/$version.info"
echo "$version" >"$proxy/list"
others=$(go env GOMODCACHE)/cache/download
cd "$work" # outside of any module
GOBIN=$work/bin CGO_ENABLED=0 GOMODCACHE=$work/mod GOFLAGS=-modcacherw GONOSUMDB=$module \
  GOPROXY="file://$work/proxy,file://$others,$(go env GOPROXY)" \
  go install "$module/cmd/gaprof@latest"
got=$("$work/bin/gaprof" version)
case $got in
*" module $version"*) echo "goinstall: $got" ;;
*) echo "goinstall: the program does not know its version: $got" >&2 && exit 1 ;;
esac
