package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestForSite: what stands differently on the site than on GitHub.
func TestForSite(t *testing.T) {
	root := write(t, map[string]string{
		"README.md": "", "docs/a.md": "", "docs/rules/README.md": "", "docs/rules/R.md": "", "docs/x/b.md": "",
		"docs/docs.go": "", "interop/run.sh": "", "gaprof.go": "", "docs/images/i.png": "",
	})
	const code = "https://github.com/gaprof/gaprof/"
	for _, c := range []struct{ page, in, want string }{
		{"README.md", "[a](docs/a.md#b) ![i](docs/images/i.png)", "[a](a.md#b) ![i](images/i.png)"},
		{"README.md", "[a](gaprof.go) [b](interop)", "[a](" + code + "blob/main/gaprof.go) [b](" + code + "tree/main/interop)"},
		{"README.md", "[r](docs/rules)", "[r](rules/README.md)"},
		{"docs/a.md", "[r](../README.md#x) [y](x)", "[r](index.md#x) [y](" + code + "tree/main/docs/x)"},
		{"docs/x/b.md", "[r](../rules/R.md) [s](../../interop/run.sh)", "[r](../rules/R.md) [s](" + code + "blob/main/interop/run.sh)"},
		{"docs/a.md", "[g](docs.go)", "[g](" + code + "blob/main/docs/docs.go)"},
		{"docs/a.md", "[d](dead.md) [h](#here) [w](https://a.b/c) `[c](../README.md)`", "[d](dead.md) [h](#here) [w](https://a.b/c) `[c](../README.md)`"},
		{"docs/a.md", "text\n- one\n- two\n  more\n- three\n", "text\n\n- one\n- two\n  more\n- three\n"},
		{"docs/a.md", "```python before ranks=2\n# [c](../README.md)\ntext\n- x\n```\n<!-- not run: why -->\n", "```python\n# [c](../README.md)\ntext\n- x\n```\n"},
	} {
		if got := forSite(root, c.page, c.in); got != c.want {
			t.Errorf("%s: %q becomes\n%q, want\n%q", c.page, c.in, got, c.want)
		}
	}
}

// TestNavigation: every page stands in the navigation once, also one that nobody placed.
func TestNavigation(t *testing.T) {
	pages := []string{"index.md", "ci.md", "rules/README.md", "rules/OV004.md", "formats/diff.md", "formats/csv.md", "new.md", "new/deep.md"}
	nav := navigation(pages)
	for _, page := range pages {
		if n := strings.Count(nav, `"`+page+`"`); n != 1 {
			t.Errorf("%s stands %d times in\n%s", page, n, nav)
		}
	}
	if !strings.Contains(nav, `{"Rules" = ["rules/README.md", "rules/OV004.md"]}`) || strings.Contains(nav, "The trainer") {
		t.Error(nav)
	}
	for _, page := range []string{"new.md", "new/deep.md"} {
		if strings.Index(nav, page) < strings.Index(nav, `"More"`) {
			t.Errorf("%s is not at the end of\n%s", page, nav)
		}
	}
}

// TestPlaced: the pages of this repository have a place that somebody chose.
func TestPlaced(t *testing.T) {
	work := t.TempDir()
	n, err := stage("../..", work)
	if err != nil || n < 60 {
		t.Fatalf("%d pages, %v", n, err)
	}
	text, err := os.ReadFile(filepath.Join(work, "zensical.toml"))
	if err != nil || !strings.Contains(string(text), "rules/OV004.md") {
		t.Fatalf("%v\n%s", err, text)
	}
	if _, more, ok := strings.Cut(string(text), `{"More"`); ok {
		line, _, _ := strings.Cut(more, "\n")
		t.Logf("nav.go does not name %s", line)
	}
}

// TestCheck: what is wrong with a site is found.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"nothing", `<h2 id="a">A</h2><a href="#a">a</a><a href="index.html#a">b</a><a href="https://a.b">c</a><script>x("<a href=d>")</script>`, ""},
		{"link", `<a href="absent.html">x</a>`, "no such file"},
		{"anchor", `<a href="#absent">x</a>`, "no such heading"},
		{"script", `<script src="https://cdn.example/x.js"></script>`, "another machine"},
		{"font", `<link rel="preconnect" href="//fonts.example">`, "another machine"},
		{"picture", `<img src="https://a.b/badge.svg" alt="x">`, "another machine"},
		{"list", "<p>text\n- item</p>", "taken for text"},
		{"fence", "<p>```python before</p>", "taken for text"},
	} {
		var all []string
		for _, err := range check(write(t, map[string]string{"index.html": c.page})) {
			all = append(all, err.Error())
		}
		got := strings.Join(all, "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if faults := check(write(t, map[string]string{"a.css": `a{background:url("https://a.b/c.png")}`})); len(faults) != 1 {
		t.Errorf("a style sheet: %v", faults)
	}
}

// TestReplace: what is no site is not overwritten.
func TestReplace(t *testing.T) {
	site := write(t, map[string]string{"sitemap.xml": "", "index.html": "new"})
	if err := replace(write(t, map[string]string{"precious.txt": ""}), site); err == nil {
		t.Error("a folder of something else was replaced")
	}
	old := write(t, map[string]string{"sitemap.xml": "", "index.html": "old", "gone.html": ""})
	if err := replace(old, site); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(old, "index.html")); string(text) != "new" {
		t.Errorf("index.html is %q", text)
	}
	if _, err := os.Stat(filepath.Join(old, "gone.html")); err == nil {
		t.Error("a page of the old site is still there")
	}
}
