package release

import (
	"slices"
	"testing"
)

func TestBuild(t *testing.T) {
	var b Build
	for key, value := range map[string]string{"vcs.revision": "abc", "vcs.time": "2026-01-02T03:04:05Z",
		"vcs.modified": "true", "CGO_ENABLED": "1", "-tags": "a,b", "-trimpath": "true"} {
		b.take(key, value)
	}
	if b.Commit != "abc" || b.Date != "2026-01-02T03:04:05Z" || !b.Dirty || !b.CGO ||
		!slices.Equal(b.Tags, []string{"a", "b"}) {
		t.Errorf("%+v", b)
	}
	b.Version, b.OS, b.Arch, b.Go, b.Module = "0.1", "linux", "amd64", "go1", "v0.1.0"
	if got, want := b.String(), "gaprof 0.1 linux/amd64 go1 module v0.1.0 commit abc modified"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if i := Info(); i.Schema != BuildSchema || i.Version != Version || i.Go == "" || i.OS == "" || i.Tags == nil {
		t.Errorf("%+v", i)
	}
}
