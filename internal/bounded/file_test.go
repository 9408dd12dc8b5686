package bounded

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var ten = Limit{What: "a list", Bytes: 10, Hint: "split it"}

func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadFile(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "0123456789": "", "0123456789a": "has 11 bytes, and a list has at most 10 bytes",
	} {
		name := written(t, text)
		data, err := ReadFile(name, ten)
		var e *Error
		switch {
		case want == "" && (err != nil || string(data) != text):
			t.Errorf("%q: %q, %v", text, data, err)
		case want != "" && (!errors.As(err, &e) || e.Error() != name+": "+want || e.Hint != "split it"):
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "gone"), ten); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A file that grows while it is read is read up to the limit, and not a byte further.
func TestGrows(t *testing.T) {
	name := written(t, "01234")
	f, err := Open(name, ten)
	if err != nil || f.Size() != 5 {
		t.Fatal(f, err)
	}
	defer f.Close()
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	counted := &counting{from: f.from}
	f.from = counted
	data, err := io.ReadAll(f)
	var e *Error
	if !errors.As(err, &e) || e.Offset != 10 || len(data) != 10 || counted.n > 11 {
		t.Errorf("%d bytes of %d that were read, %v", len(data), counted.n, err)
	}
}

// counting counts what is read through it.
type counting struct {
	from io.Reader
	n    int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	return n, err
}

// What is no plain file is not even opened, be it named or linked.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "gaprof.yaml")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Skip("SKIP: no links here")
	}
	for name, want := range map[string]string{
		link: "is a device, not a plain file", "/dev/null": "is a device, not a plain file",
		dir: "is a directory, not a plain file",
	} {
		for _, pipes := range []bool{false, true} {
			l := ten
			l.Pipes = pipes
			_, err := ReadFile(name, l)
			var e *Error
			if !errors.As(err, &e) || e.Reason != want || e.Hint == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, _, err := Plain(link); err == nil {
		t.Error("a device is plain")
	}
}

// A link to a plain file is as good as the file: so are configurations mounted by Kubernetes.
func TestLink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(written(t, "text"), link); err != nil {
		t.Skip("SKIP: no links here")
	}
	if data, err := ReadFile(link, ten); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
}

// A large file that is nothing but holes is told; one that is stored, or small, is not.
func TestHollow(t *testing.T) {
	name := written(t, "text")
	for size, hollow := range map[int64]bool{4: false, freeHoles: false, freeHoles + 1: true, 1 << 40: true} {
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, known := storedOf(info); !known {
			t.Skip("SKIP: this system does not say what is stored")
		}
		if err := Hollow(name, info); (err != nil) != hollow {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
