package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/analyze/rules"
)

//go:generate go test -run TestRulePages -update

// TestRulePages holds docs/rules to what the rules say of themselves.
func TestRulePages(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "rules")
	pages := map[string]string{"README.md": rules.Index()}
	for _, r := range rules.All() {
		pages[r.ID+".md"] = rules.Page(r, flagNames)
	}
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range pages {
		path := filepath.Join(dir, name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is not what the rules say; run go generate ./... (%v)", path, err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.md"))
	for _, f := range files {
		if _, ok := pages[filepath.Base(f)]; !ok {
			t.Errorf("%s is the page of no rule", f)
		}
	}
}
