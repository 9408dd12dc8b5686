package tracefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func writeText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// What fails halfway leaves what was there, and nothing else.
func TestCreateIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	half := func(w io.Writer) error { return errors.Join(writeText("half")(w), errors.New("planted")) }
	if err := Create(path, false, half); err == nil || err.Error() != path+": planted" {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("a failure leaves %v", entries)
	}
	if err := Create(path, false, writeText("first")); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, false, writeText("second")); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file that exists: %v", err)
	}
	if err := Create(path, true, half); err == nil {
		t.Error("no error")
	}
	if text, _ := os.ReadFile(path); string(text) != "first" {
		t.Errorf("a failure leaves %q", text)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("a failure leaves %v", entries)
	}
}

// A file that is replaced keeps its permissions; a link stays a link.
func TestCreateKeepsWhatTheFileIs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions and links as here")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "out"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o640), os.Symlink("out", link)); err != nil {
		t.Fatal(err)
	}
	if err := Create(link, true, writeText("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("text %q", text)
	}
}
