package tracefile

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// unreadableDirs makes the directories of those names unreadable, for the superuser too.
func unreadableDirs(t *testing.T, names ...string) {
	readDir = func(dir string) ([]os.DirEntry, error) {
		if slices.Contains(names, dir) {
			return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrPermission}
		}
		return os.ReadDir(dir)
	}
	t.Cleanup(func() { readDir = os.ReadDir })
}

// A directory that cannot be read is named, and costs nothing of the others.
func TestUnreadableDirectory(t *testing.T) {
	tree(t, map[string]string{"runs/a/1.json": aTrace, "runs/b/2.json": aTrace, "runs/c/3.json": aTrace})
	unreadableDirs(t, "runs/b")
	for arg, want := range map[string]string{
		"runs":          "runs/a/1.json runs/b runs/c/3.json",
		"runs/**":       "runs/b runs/a/1.json runs/c/3.json",
		"runs/*/*.json": "runs/b runs/a/1.json runs/c/3.json",
		"runs/*":        "runs/a/1.json runs/b runs/c/3.json",
		"runs/[b]/*":    "runs/b",
		"runs/[ac]/*":   "runs/a/1.json runs/c/3.json",
	} {
		files, err := Expand([]string{arg})
		if got := strings.Join(files, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", arg, got, err, want)
		}
	}
	if _, err := Expand([]string{"runs/b"}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a directory that is meant: %v", err)
	}
}

// A link to a directory above is not followed: what lies beside the search is not meant.
func TestLinkUpward(t *testing.T) {
	tree(t, map[string]string{
		"secret.json": aTrace, "data/far.json": aTrace, "runs/near.json": aTrace,
		"runs/up": "->..", "runs/root": "->/", "runs/self": "->.", "runs/data": "->../data",
	})
	files, err := Expand([]string{"runs"})
	if got := strings.Join(files, " "); err != nil || got != "runs/data/far.json runs/near.json" {
		t.Errorf("%q, %v", got, err)
	}
}

// A search ends where there is more than any job leaves.
func TestMostEntries(t *testing.T) {
	before := mostEntries
	defer func() { mostEntries = before }()
	mostEntries = 4
	tree(t, map[string]string{"d/1.txt": "", "d/2.txt": "", "d/e/3.txt": "", "d/e/4.txt": "", "c/1.json": aTrace})
	var e *Error
	_, err := Expand([]string{"d"})
	if !errors.As(err, &e) || e.Error() != "d: holds more than 4 files" || e.Hint == "" {
		t.Errorf("%v", err)
	}
	if files, err := Expand([]string{"c"}); err != nil || len(files) != 1 {
		t.Errorf("%q, %v", files, err)
	}
}
