package tracefile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mostEntries is how many files and directories a search may meet: a job of a hundred
// thousand ranks with ten files each. Looking into that many takes some ten seconds.
var mostEntries = 1 << 20

// readDir reads a directory, by name.
var readDir = os.ReadDir

// walker goes through what is below a directory.
type walker struct {
	visit      func(path string, isDir bool) (enter bool)
	unreadable func(dir string)
	root       string          // where it began, as it was named
	real       string          // and without links
	entered    map[string]bool // directories without links
	left       int             // of mostEntries
}

// walk calls visit for everything below dir, by name, and enters the directories for
// which visit says so; what cannot be read of these is told to unreadable. It follows
// symbolic links but enters no directory twice and none that dir lies in, so links that
// go round end and a link to / is not the whole machine; names that start with a dot are
// passed over.
func walk(dir string, visit func(path string, isDir bool) (enter bool), unreadable func(dir string)) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return systemError(dir, err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	w := &walker{visit, unreadable, dir, real, map[string]bool{real: true}, mostEntries}
	entries, err := readDir(dir)
	if err != nil {
		return systemError(dir, err)
	}
	return w.all(dir, entries)
}

func (w *walker) all(dir string, entries []os.DirEntry) error {
	if w.left -= len(entries); w.left < 0 {
		return &Error{File: w.root, Reason: fmt.Sprintf("holds more than %d files", mostEntries), Hint: narrower}
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		isDir, linked := entry.IsDir(), entry.Type()&fs.ModeSymlink != 0
		if linked {
			info, err := os.Stat(path)
			isDir = err == nil && info.IsDir()
		}
		if enter := w.visit(path, isDir); !enter || !isDir {
			continue
		}
		if err := w.enter(path, linked); err != nil {
			return err
		}
	}
	return nil
}

// narrower is what helps where a search finds too much.
const narrower = "name the folder of one run, or a part of the files by a pattern"

func (w *walker) enter(dir string, linked bool) error {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	switch {
	case err != nil:
		w.unreadable(dir)
		return nil
	case w.entered[real] || linked && within(w.real, real):
		return nil
	}
	w.entered[real] = true
	entries, err := readDir(dir)
	if err != nil {
		w.unreadable(dir)
		return nil
	}
	return w.all(dir, entries)
}

// within reports whether the directory dir is above or is the path.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
