package tracefile

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// Files that are not what they were a moment ago, are no files, or have no end.

// manyEvents is a trace of n events, 60 bytes each.
func manyEvents(n int) string {
	var b strings.Builder
	b.WriteString(`{"traceEvents": [`)
	for i := range n {
		fmt.Fprintf(&b, "%.*s\n"+`{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": %7d, "dur": 1}`, min(i, 1), ",", i)
	}
	return b.String() + "]}"
}

// changing reads a file that somebody changes when a third of it has been read.
func changing(t *testing.T, content string, alone bool, change func(path string)) ([]*trace.Trace, error) {
	t.Helper()
	path := file(t, "f.json", content)
	done := false
	return Read(path, Options{Alone: alone, Progress: func(read, total int64) {
		if !done && read > total/3 {
			done = true
			change(path)
		}
	}})
}

// TestFileChanges: a file that is cut while it is read is read up to the cut and said to
// be cut; one that grows is read as it was, or further; one that goes away is read whole.
// A team of readers looks at several places at a time and must find the same.
func TestFileChanges(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 100_000
	}
	text := manyEvents(n)
	for _, alone := range []bool{true, false} {
		for kind, content := range map[string]string{"plain": text, "gzip": gz(text)} {
			traces, err := changing(t, content, alone, func(path string) {
				must(t, os.Truncate(path, int64(len(content)/2)))
			})
			switch {
			case err != nil || len(traces) != 1:
				t.Errorf("%s, alone %v, cut: %d traces, %v", kind, alone, len(traces), err)
			case traces[0].Len() < n/4 || traces[0].Len() >= n*3/4:
				t.Errorf("%s, alone %v, cut: %d events of %d", kind, alone, traces[0].Len(), n)
			case !slices.ContainsFunc(traces[0].Problems(), func(p trace.Problem) bool {
				return p.Code == trace.Truncated
			}):
				t.Errorf("%s, alone %v, cut: nobody says so: %v", kind, alone, traces[0].Problems())
			}
			traces, err = changing(t, content, alone, func(path string) {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				must(t, err)
				_, err = f.WriteString(content)
				must(t, errors.Join(err, f.Close()))
			})
			if err != nil || len(traces) < 1 || len(traces) > 2 || traces[0].Len() != n {
				t.Errorf("%s, alone %v, grown: %d traces, %v", kind, alone, len(traces), err)
			}
			traces, err = changing(t, content, alone, func(path string) { must(t, os.Remove(path)) })
			if err != nil || len(traces) != 1 || traces[0].Len() != n || len(traces[0].Problems()) > 0 {
				t.Errorf("%s, alone %v, removed: %d traces, %v", kind, alone, len(traces), err)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestVanishes: what was there when files were looked for, and is not when it is measured
// or read.
func TestVanishes(t *testing.T) {
	makeRuns(t)
	files, err := Expand([]string{"runs/b"})
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	must(t, os.RemoveAll("runs/b"))
	for _, f := range files {
		_, measured := Measure(f)
		_, read := Read(f, Options{})
		for _, err := range []error{measured, read} {
			e := (*Error)(nil)
			if !errors.As(err, &e) || !errors.Is(err, fs.ErrNotExist) || e.Error() != f+": no such file or directory" {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
}

// TestOddPlaces: links that lead to themselves, in a ring or nowhere, folders with the
// names of traces, and names that look like something else.
func TestOddPlaces(t *testing.T) {
	tree(t, map[string]string{
		"d/self.json":              "->self.json",
		"d/a":                      "->b",
		"d/b":                      "->a",
		"d/up":                     "->..",
		"d/here":                   "->.",
		"d/gone.json":              "->nowhere.json",
		"d/folder.json/rank0.json": aTrace,
		"d/-rank1.json":            aTrace,
		"d/new\nline.json":         aTrace,
		`d/"quoted' $(x) .json`:    aTrace,
		"d/**.json":                aTrace,
		"d/[.json":                 aTrace,
		"d/@list.json":             aTrace,
		"d/ .json":                 aTrace,
		"d/~.json":                 aTrace,
	})
	names := []string{
		" .json", `"quoted' $(x) .json`, "**.json", "-rank1.json", "@list.json", "[.json", "folder.json/rank0.json",
		"gone.json", "new\nline.json", "self.json", "~.json",
	}
	files, err := Expand([]string{"d"})
	if err != nil || len(files) != len(names) {
		t.Fatalf("%q, %v", files, err)
	}
	slices.Sort(files)
	for i, f := range files {
		if f != "d/"+names[i] {
			t.Errorf("%q, want %q", f, names[i])
		}
		_, err := Read(f, Options{})
		if broken := names[i] == "self.json" || names[i] == "gone.json"; broken != (err != nil) {
			t.Errorf("%q: %v", f, err)
		}
	}
	t.Chdir("d")
	for _, name := range names {
		if name == "self.json" || name == "gone.json" {
			continue
		}
		if got, err := Expand([]string{name}); err != nil || len(got) != 1 || got[0] != name {
			t.Errorf("%q by its own name: %q, %v", name, got, err)
		}
	}
	if _, err := Read("folder.json", Options{}); err == nil || err.Error() != "folder.json: is a directory" {
		t.Errorf("a folder: %v", err)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("SKIP: nothing is unreadable for the superuser")
	}
	path := file(t, "f.json", oneEvent)
	must(t, os.Chmod(path, 0))
	if _, err := Read(path, Options{}); err == nil || !strings.HasSuffix(err.Error(), "f.json: permission denied") {
		t.Errorf("%v", err)
	}
}

// endless repeats a text for ever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.at]
		e.at = (e.at + 1) % len(e.text)
	}
	return len(p), nil
}

// endlessGzip is the members of a compressed text for ever.
func endlessGzip(text string) io.Reader {
	return &endless{text: gz(strings.Repeat(text, 1+(1<<18)/len(text)))}
}

// TestEndless: what has no end is refused by its beginning, or given up when it has more
// text than there is memory for; never read for ever.
func TestEndless(t *testing.T) {
	full := errors.New("full")
	const event = `{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2},`
	for name, r := range map[string]io.Reader{
		"zeros":            &endless{text: "\x00"},
		"spaces":           &endless{text: " "},
		"lists":            &endless{text: "["},
		"objects":          &endless{text: `{"a":`},
		"noise":            &endless{text: "abc\n"},
		"events":           io.MultiReader(strings.NewReader("["), &endless{text: event}),
		"one string":       io.MultiReader(strings.NewReader(`[{"ph": "X", "name": "`), &endless{text: "a"}),
		"one key":          io.MultiReader(strings.NewReader(`[{"`), &endless{text: "a"}),
		"one number":       io.MultiReader(strings.NewReader(`[{"ts": `), &endless{text: "1"}),
		"one fraction":     io.MultiReader(strings.NewReader(`[{"ts": 0.`), &endless{text: "0"}),
		"escapes":          io.MultiReader(strings.NewReader(`[{"name": "`), &endless{text: `\u0061`}),
		"depth":            io.MultiReader(strings.NewReader(`[{"args": `), &endless{text: `[`}),
		"blanks":           io.MultiReader(strings.NewReader(`[`+event), &endless{text: " \n"}),
		"commas":           io.MultiReader(strings.NewReader(`[`+event), &endless{text: ","}),
		"keys":             io.MultiReader(strings.NewReader(`[{`), &endless{text: `"a": 1, `}),
		"header":           io.MultiReader(strings.NewReader(`{"traceEvents": [], `), &endless{text: `"a": 1, `}),
		"arguments":        io.MultiReader(strings.NewReader(`[{"args": {`), &endless{text: `"a": 1, `}),
		"documents":        &endless{text: oneEvent},
		"lines":            io.MultiReader(strings.NewReader("# a trace\n"), &endless{text: "1/1 0 +1 - a\n"}),
		"one line":         io.MultiReader(strings.NewReader("# a trace\n1/1 0 +1 - "), &endless{text: "a"}),
		"gzip of zeros":    endlessGzip("\x00"),
		"gzip of lists":    io.MultiReader(strings.NewReader(gz("[")), endlessGzip("[")),
		"gzip of a string": io.MultiReader(strings.NewReader(gz(`[{"name": "`)), endlessGzip("a")),
		"gzip of events":   io.MultiReader(strings.NewReader(gz("[")), endlessGzip(event)),
	} {
		read := int64(0)
		counted := io.TeeReader(r, counting{&read})
		_, err := Read(Stdin, Options{Stdin: counted, Grow: func(text int64, _ float64) error {
			if text > 2e6 {
				return full
			}
			return nil
		}})
		switch e := (*Error)(nil); {
		case err == full, errors.As(err, &e):
		case err == nil && name == "documents": // more than a file may hold: the rest is left out
		default:
			t.Errorf("%s: %v after %d bytes", name, err, read)
		}
		if read > 8e6 {
			t.Errorf("%s: %d bytes were read", name, read)
		}
	}
}

type counting struct{ n *int64 }

func (c counting) Write(p []byte) (int, error) {
	if *c.n += int64(len(p)); *c.n > 1e8 {
		panic("is read for ever")
	}
	return len(p), nil
}

// TestArchives: archives with the names of traces are told by what they are.
func TestArchives(t *testing.T) {
	var zipped, tarred bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, err := z.Create("trace.json")
	must(t, err)
	_, err = io.WriteString(w, oneEvent)
	must(t, errors.Join(err, z.Close()))
	a := tar.NewWriter(&tarred)
	must(t, a.WriteHeader(&tar.Header{Name: "trace.json", Size: int64(len(oneEvent)), Mode: 0o600}))
	_, err = io.WriteString(a, oneEvent)
	must(t, errors.Join(err, a.Close()))
	for content, want := range map[string]string{
		zipped.String():      "is a zip archive, not a trace",
		gz(zipped.String()):  "is a zip archive, not a trace",
		tarred.String():      "is a tar archive, not a trace",
		gz(tarred.String()):  "is a tar archive, not a trace",
		gz(gz(gz(oneEvent))): "is compressed more than twice",
		gz(""):               "holds nothing but an empty gzip stream",
		gz(gz("")):           "holds nothing but an empty gzip in gzip stream",
		"":                   "is empty",
		"\x1f\x8b":           "gzip stream ends early at compressed byte 2",
	} {
		_, err := Read(file(t, "trace.json.gz", content), Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: %v, want %s", content, err, want)
		}
	}
}
