package tracefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

func aTraceOf(t *testing.T, lines string) *trace.Trace {
	t.Helper()
	tr, err := text.Read(strings.NewReader(lines), "")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// What is written under any name is read back.
func TestWriteAndRead(t *testing.T) {
	tr := aTraceOf(t, "1/1 1us +2us cpu_op a ext=3")
	for _, c := range []struct{ name, format, magic string }{
		{"a.json", "", "{"},
		{"a.json.gz", "", "\x1f\x8b"},
		{"a.json.zst", "", "\x28\xb5\x2f\xfd"},
		{"a.txt", "", "#"},
		{"a.trace.txt.gz", "", "\x1f\x8b"},
		{"a.json", "text", "#"},
		{"noextension", "chrome", "{"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := Write(path, tr, WriteOptions{Format: c.format}); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		raw, _ := os.ReadFile(path)
		back, err := Read(path, Options{KeepArgs: true})
		if err != nil || !strings.HasPrefix(string(raw), c.magic) {
			t.Errorf("%s: starts with %.4q, error %v", c.name, raw, err)
			continue
		}
		if back[0].Len() != 1 || back[0].Event(0).Name() != "a" {
			t.Errorf("%s: comes back as %d events", c.name, back[0].Len())
		}
	}
}

func TestWriteCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := Write(path, aTraceOf(t, "1/1 1us +2us cpu_op a"), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(path); !strings.HasPrefix(string(raw), "start_ns,") {
		t.Errorf("wrote %q", raw)
	}
}

func TestWriteRefuses(t *testing.T) {
	tr := aTraceOf(t, "1/1 1us +2us cpu_op a")
	dir := t.TempDir()
	there := filepath.Join(dir, "there.json")
	os.WriteFile(there, []byte("old"), 0o666)
	os.Mkdir(filepath.Join(dir, "dir.json"), 0o777)
	for _, c := range []struct{ path, format, want string }{
		{there, "", there + ": exists already"},
		{filepath.Join(dir, "dir.json"), "", "is a directory"},
		{filepath.Join(dir, "gone", "a.json"), "", "no such file or directory"},
		{filepath.Join(dir, "a.xyz"), "", `no format to write is called "a.xyz"; there are chrome, text, csv`},
		{filepath.Join(dir, "a.json"), "perfetto", `"perfetto"`},
	} {
		err := Write(c.path, tr, WriteOptions{Format: c.format})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.path, err, c.want)
		}
	}
	if raw, _ := os.ReadFile(there); string(raw) != "old" {
		t.Errorf("overwritten with %q", raw)
	}
	if err := Write(there, tr, WriteOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if raw, _ := os.ReadFile(there); string(raw) == "old" {
		t.Error("not overwritten")
	}
}

// A file that cannot be finished does not appear, and no other is left behind.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	full := errors.New("disk full")
	err := writeFile(filepath.Join(dir, "a.json"), func(w io.Writer) error {
		w.Write([]byte("half"))
		return full
	})
	if left, _ := os.ReadDir(dir); !errors.Is(err, full) || len(left) != 0 {
		t.Errorf("error %v, left %v", err, left)
	}
}

func TestWriteThroughLink(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("real.json", nil, 0o666)
	os.Symlink("real.json", "link.json")
	if err := Write("link.json", aTraceOf(t, "1/1 0 +1 - a"), WriteOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Lstat("link.json")
	if raw, _ := os.ReadFile("real.json"); len(raw) == 0 || info.Mode().IsRegular() {
		t.Error("the link was replaced, not the file behind it")
	}
}

func TestWriteDevice(t *testing.T) {
	if err := Write(os.DevNull, aTraceOf(t, "1/1 0 +1 - a"), WriteOptions{Format: "text"}); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Error("the device was replaced by a file")
	}
}

func TestEncode(t *testing.T) {
	var out strings.Builder
	tr := aTraceOf(t, "1/1 0 +1 - a")
	if err := Encode(&out, tr, "text"); err != nil || !strings.Contains(out.String(), "1/1") {
		t.Errorf("%q, error %v", out.String(), err)
	}
	if err := Encode(&out, tr, ""); err == nil {
		t.Error("a format without a name was found")
	}
}
