package tracefile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files in a new working directory; a name that ends in / is a
// directory, a value that starts with -> a symbolic link.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		os.MkdirAll(filepath.Dir(name), 0o777)
		err := error(nil)
		if target, ok := strings.CutPrefix(content, "->"); ok {
			err = os.Symlink(target, name)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(name, 0o777)
		} else {
			err = os.WriteFile(name, []byte(content), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const aTrace = `{"traceEvents": []}`

func makeRuns(t *testing.T) {
	tree(t, map[string]string{
		"runs/b/rank1.json":            aTrace,
		"runs/b/rank0.json":            aTrace,
		"runs/b/deep/er/rank2.json":    aTrace,
		"runs/a.trace.txt":             "# a trace",
		"runs/list.json":               `[{"ph": "X"}]`,
		"runs/config.json":             `{"layers": 12}`,
		"runs/empty.json":              "",
		"runs/notes.txt":               "x",
		"runs/.hidden/rank9.json":      aTrace,
		"runs/.rank8.json":             aTrace,
		"runs/loop":                    "->../runs",
		"runs/c":                       "->b/deep",
		"runs/broken.json":             "->nowhere",
		"other/notes.txt":              "x",
		"odd/trace[1].json":            aTrace,
		"odd/@list.json":               aTrace,
		"none/":                        "",
		"list.txt":                     "# comment\n\nruns/b/rank0.json\n  runs/b/*1.json  \r\n",
		"nothing.txt":                  "# comment\n",
		"missing.txt":                  "gone.json\n",
		"runs/b/deep/er/no-trace.json": `"just text"`,
	})
}

func TestExpand(t *testing.T) {
	makeRuns(t)
	all := "runs/a.trace.txt runs/b/deep/er/rank2.json runs/b/rank0.json " +
		"runs/b/rank1.json runs/broken.json runs/empty.json runs/list.json"
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"-", "-"},
		{"runs/config.json", "runs/config.json"}, // named, so meant
		{"runs", all},
		{"runs/", all},
		{"./runs/b/rank0.json runs/b/rank0.json", "./runs/b/rank0.json"},
		{"runs/b/rank1.json runs/b", "runs/b/rank1.json runs/b/deep/er/rank2.json runs/b/rank0.json"},
		{"runs/b/*.json", "runs/b/rank0.json runs/b/rank1.json"},
		{"runs/b/rank[1-9].json", "runs/b/rank1.json"},
		{"runs/?/rank0.json", "runs/b/rank0.json"},
		{"**/rank0.json", "runs/b/rank0.json"},
		{"runs/**/rank*.json", "runs/b/deep/er/rank2.json runs/b/rank0.json runs/b/rank1.json"},
		{"runs/b/**", "runs/b/deep/er/rank2.json runs/b/rank0.json runs/b/rank1.json"},
		{"runs/b/**/er/*2.json", "runs/b/deep/er/rank2.json"},
		{"*/b", "runs/b/deep/er/rank2.json runs/b/rank0.json runs/b/rank1.json"},
		{"*", "odd/@list.json odd/trace[1].json " + all},
		{"odd/trace[1].json", "odd/trace[1].json"},
		{"@list.txt", "runs/b/rank0.json runs/b/rank1.json"},
	} {
		got, err := Expand(strings.Fields(c.args))
		if c.args == "*" { // the lists lie beside the directories
			got = slices.DeleteFunc(got, func(s string) bool {
				return strings.HasSuffix(s, ".txt") && !strings.Contains(s, "/")
			})
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s\n got %s, error %v\nwant %s", c.args, strings.Join(got, " "), err, c.want)
		}
	}
}

func TestExpandAbsolute(t *testing.T) {
	makeRuns(t)
	dir, _ := os.Getwd()
	got, err := Expand([]string{filepath.Join(dir, "runs", "*", "rank0.json")})
	if want := filepath.Join(dir, "runs/b/rank0.json"); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestExpandErrors(t *testing.T) {
	makeRuns(t)
	for _, c := range []struct{ args, want string }{
		{"gone.json", "gone.json: no such file or directory"},
		{"runs gone.json", "gone.json: no such file or directory"},
		{"none", "none: holds no trace"},
		{"other", "other: holds no trace"},
		{"runs/*.pb", "runs/*.pb: matches no trace"},
		{"none*", "none*: matches no trace"},
		{"gone/*.json", "gone/*.json: matches no trace"},
		{"runs/[.json", "runs/[.json: is not a valid pattern"},
		{"@gone.txt", "gone.txt: no such file or directory"},
		{"@nothing.txt", "nothing.txt: names no file"},
		{"@missing.txt", "gone.json: no such file or directory"},
		{"runs/broken.json", "runs/broken.json: no such file or directory"},
	} {
		_, err := Expand(strings.Fields(c.args))
		var e *Error
		if !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.args, err, c.want)
		}
	}
}

// A pattern does not make us look at more of the disk than it can match.
func TestMayMatchBelow(t *testing.T) {
	for _, c := range []struct {
		pattern, dir string
		want         bool
	}{
		{"*", "a", false},
		{"*/x", "a", true},
		{"*/x", "a/b", false},
		{"a*/x", "b", false},
		{"**", "a/b/c", true},
		{"a/**/x", "a/b/c", true},
		{"a/**/x", "b/b/c", false},
		{"a/b/**", "a", true},
		{"a/b/**", "a/c", false},
	} {
		if got := mayMatchBelow(strings.Split(c.pattern, "/"), strings.Split(c.dir, "/")); got != c.want {
			t.Errorf("%s below %s: %v", c.pattern, c.dir, got)
		}
	}
}

// A file is one file, however often and by whichever name it is named.
func TestExpandOnce(t *testing.T) {
	tree(t, map[string]string{
		"a/rank0.json": aTrace, "a/latest.json": "->rank0.json", "a/rank1.json": aTrace,
		"b/copy.json": "->../a/rank1.json", "linked": "->a",
	})
	here, _ := os.Getwd()
	for _, c := range []struct {
		args  []string
		files []string
		again []Again
	}{
		{[]string{"a/rank0.json", "a/rank0.json"}, []string{"a/rank0.json"}, []Again{{"a/rank0.json", "a/rank0.json"}}},
		{[]string{"a/rank0.json", filepath.Join(here, "a", "rank0.json")}, []string{"a/rank0.json"},
			[]Again{{filepath.Join(here, "a", "rank0.json"), "a/rank0.json"}}},
		{[]string{"a"}, []string{"a/rank0.json", "a/rank1.json"}, []Again{{"a/latest.json", "a/rank0.json"}}},
		{[]string{"b", "a/rank1.json"}, []string{"a/rank1.json"}, []Again{{"b/copy.json", "a/rank1.json"}}},
		{
			[]string{"a/rank1.json", "linked/rank1.json"},
			[]string{"a/rank1.json"},
			[]Again{{"linked/rank1.json", "a/rank1.json"}},
		},
		{[]string{"-", "-"}, []string{"-"}, []Again{{"-", "-"}}},
		{[]string{"a/rank0.json", "a/rank1.json"}, []string{"a/rank0.json", "a/rank1.json"}, nil},
	} {
		files, again, err := ExpandOnce(c.args)
		if err != nil || !slices.Equal(files, c.files) || !slices.Equal(again, c.again) {
			t.Errorf("%q: %q, again %q, error %v", c.args, files, again, err)
		}
	}
}
