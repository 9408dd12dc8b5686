package tracefile

import (
	"slices"
	"strings"
	"testing"
)

// The names by which directories are searched are those that profilers give, with
// and without compression.
func TestIsKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"rank0_trace.json.gz":                      true,
		"host_1234.1700000000000.pt.trace.json":    true,
		"host_1234.1700000000000.pt.trace.json.gz": true,
		"rank-3.json.zst":                          true,
		"epoch-0-gpu-rank-00-chrome-trace.json.gz": true,
		"a.trace.txt":                              true,
		"a.trace.txt.gz":                           true,
		"list.txt":                                 false,
		"trace.csv":                                false,
		".rank0.json":                              false,
		".json":                                    false,
		"trace.json.bak":                           false,
		"trace.json.gz.part":                       false,
		"trace.jsonl":                              false,
		"json":                                     false,
		"README.md":                                false,
		"rank0.json.gz.zst":                        false,
		strings.Repeat("long", 100) + ".json":      true,
		"name with spaces and \u00fcmlauts [1].json": true,
	} {
		if got := isKnown(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWriter(t *testing.T) {
	for _, c := range []struct{ path, name, want string }{
		{"a.json", "", "chrome"},
		{"a.json.gz", "", "chrome"},
		{"a.json.zst", "", "chrome"},
		{"a.txt", "", "text"},
		{"dir.json/a.csv", "", "csv"},
		{"a.json", "csv", "csv"},
		{"a", "text", "text"},
		{"a", "", ""},
		{"a.gz", "", ""},
		{"json", "", ""},
		{"a.JSON", "", ""},
		{"a.json", "Chrome", ""},
		{"", "", ""},
	} {
		f, ok := writer(c.path, c.name)
		if f.name != c.want || ok != (c.want != "") {
			t.Errorf("%s as %q: %q", c.path, c.name, f.name)
		}
	}
}

// Every row of the table can do something, and what it writes it recognises.
func TestFormats(t *testing.T) {
	if got := Writable(); !slices.Equal(got, []string{"chrome", "text", "csv"}) {
		t.Errorf("formats to write: %v", got)
	}
	tr := aTraceOf(t, "1/1 0 +1 cpu_op a")
	for _, f := range formats {
		if (f.sniff == nil) != (f.read == nil) {
			t.Errorf("%s: what is recognised is read", f.name)
		}
		if f.write == nil {
			continue
		}
		var out strings.Builder
		if err := f.write(&out, tr); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if got, ok := sniff([]byte(out.String())); f.sniff != nil && (!ok || got.name != f.name) {
			t.Errorf("%s: recognised as %q", f.name, got.name)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*", "a", true},
		{"*", "a/b", false},
		{"*/b", "a/b", true},
		{"a?/b", "ab/b", true},
		{"a?/b", "a/b", false},
		{"[ab].json", "b.json", true},
		{"[ab].json", "c.json", false},
		{"**", "a", true},
		{"**", "a/b/c", true},
		{"**/c", "c", true},
		{"**/c", "a/b/c", true},
		{"**/c", "a/b/cc", false},
		{"a/**", "a", true}, // the directory itself, which is entered
		{"a/**/c", "a/c", true},
		{"a/**/c", "a/b/b/c", true},
		{"a/**/c", "b/c", false},
		{"a/**/b/**/c", "a/x/b/y/z/c", true},
		{"a/**/b/**/c", "a/x/y/z/c", false},
		{"**/**/**/c", "a/b/c", true},
	} {
		if got := matches(strings.Split(c.pattern, "/"), strings.Split(c.path, "/")); got != c.want {
			t.Errorf("%s against %s: %v", c.pattern, c.path, got)
		}
	}
}

// A pattern made to be slow is not.
func TestMatchesIsLinear(t *testing.T) {
	pattern := strings.Split(strings.Repeat("**/a/", 30)+"b", "/")
	path := strings.Split(strings.Repeat("a/", 2000)+"c", "/")
	if matches(pattern, path) {
		t.Error("matched")
	}
}

func TestSplitPattern(t *testing.T) {
	for _, c := range []struct{ pattern, root, parts string }{
		{"*.json", ".", "*.json"},
		{"a/*.json", "a", "*.json"},
		{"a/b/*/c.json", "a/b", "*/c.json"},
		{"/*.json", "/", "*.json"},
		{"/a/*/b", "/a", "*/b"},
		{"../a/*", "../a", "*"},
		{"./*", ".", "*"},
		{"a//b/../*.json", "a", "*.json"},
	} {
		root, parts := splitPattern(c.pattern)
		if root != c.root || strings.Join(parts, "/") != c.parts {
			t.Errorf("%s: root %q, parts %q", c.pattern, root, parts)
		}
	}
}
