package tracefile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
)

// Expand returns the files that args name, each once, in the order of args and
// within one by name:
//
//   - a file, or - for the standard input, as it is;
//   - a directory: the traces in it and below it, by their names (.json and
//     .trace.txt, also with .gz and .zst) and, so that configuration files beside
//     them are left alone, by their first bytes; a directory below it that cannot be
//     read, so that reading it says why;
//   - a glob with *, ?, [a-z] and ** for any number of directories;
//   - @FILE: arguments of these kinds from a file, one a line, # for comments.
//
// An argument that names nothing is an *Error.
//
// A file that is reached by several names, through symbolic links or otherwise, is one.
func Expand(args []string) ([]string, error) {
	files, _, err := ExpandOnce(args)
	return files, err
}

// Again is a file that was named more than once: File is another name of it, Known the one
// it goes by.
type Again struct{ File, Known string }

// ExpandOnce is Expand, and also returns the files that were named more than once.
func ExpandOnce(args []string) ([]string, []Again, error) {
	all, err := ExpandAll(args)
	return all.Files, all.Again, err
}

// Expansion is what arguments name.
type Expansion struct {
	Files  []string // as Expand returns them
	Again  []Again  // named more than once
	Passed []string // found in directories, with the name of a trace, and left out: they are none
}

// ExpandAll is Expand, and also returns what was found beside the files.
func ExpandAll(args []string) (Expansion, error) {
	var e expansion
	for _, arg := range args {
		list, isList := strings.CutPrefix(arg, "@")
		err := error(nil)
		if isList && !exists(arg) {
			err = e.list(list)
		} else {
			err = e.argument(arg)
		}
		if err != nil {
			return Expansion{}, err
		}
	}
	return Expansion{e.files, e.again, e.passed}, nil
}

// expansion collects files.
type expansion struct {
	files  []string
	again  []Again
	passed []string
	seen   map[string]int // by the path without links: index into files
}

// add notes a file. One that is reached by several names goes by its own where that is
// among them: it may say the rank.
func (e *expansion) add(file string) {
	if e.seen == nil {
		e.seen = make(map[string]int)
	}
	key := realPath(file)
	i, ok := e.seen[key]
	if !ok {
		e.seen[key] = len(e.files)
		e.files = append(e.files, file)
		return
	}
	if first := e.files[i]; filepath.Base(first) != filepath.Base(key) && filepath.Base(file) == filepath.Base(key) {
		e.files[i], file = file, first
	}
	e.again = append(e.again, Again{file, e.files[i]})
}

// realPath is the one path of a file, whatever links lead to it. What is not there
// keeps its name.
func realPath(file string) string {
	if file == Stdin {
		return file
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return filepath.Clean(file)
	}
	if abs, err := filepath.Abs(real); err == nil {
		return abs
	}
	return real
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// listLimit bounds a list of files: a hundred thousand ranks with long paths.
var listLimit = bounded.Limit{What: "a list of files", Bytes: 32 << 20, Pipes: true,
	Hint: "@FILE holds a path a line; pass a directory or a glob for more"}

// longestName is how long a path may be, in bytes: what systems allow.
const longestName = 4096

// list reads arguments from a file, a line at a time; lists in lists are not followed.
func (e *expansion) list(path string) error {
	f, err := bounded.Open(path, listLimit)
	if err != nil {
		return inputError(path, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestName)
	named, offset := false, int64(0)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		offset += int64(n)
		return n, line, err
	})
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		named = true
		if err := e.argument(line); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		reason := fmt.Sprintf("byte %d: is no path: it goes on for more than %d bytes", offset, longestName)
		return &Error{File: path, Reason: reason, Hint: listLimit.Hint, Err: err}
	case err != nil:
		return inputError(path, err)
	case !named:
		return &Error{File: path, Reason: "names no file"}
	}
	return nil
}

func (e *expansion) argument(arg string) error {
	if arg == Stdin {
		e.add(arg)
		return nil
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil && !exists(arg) && isGlob(arg):
		return e.glob(arg)
	case err != nil:
		return systemError(arg, err)
	case info.IsDir():
		return e.directory(arg)
	}
	e.add(arg)
	return nil
}

func (e *expansion) glob(pattern string) error {
	matches, unreadable, err := glob(pattern)
	if err != nil {
		return err
	}
	found := 0
	for _, dir := range unreadable {
		e.add(dir)
	}
	for _, m := range matches {
		if info, err := os.Stat(m); err != nil || !info.IsDir() {
			e.add(m)
			found++
			continue
		}
		n, err := e.search(m)
		switch {
		case errors.Is(err, fs.ErrPermission):
			e.add(m)
			found++
		case err != nil:
			return err
		}
		found += n
	}
	if found+len(unreadable) == 0 {
		return &Error{File: pattern, Reason: "matches no trace"}
	}
	return nil
}

func (e *expansion) directory(dir string) error {
	found, err := e.search(dir)
	if err == nil && found == 0 {
		hint := "it was searched for *.json and *.trace.txt, plain, .gz or .zst"
		if n := len(e.passed); n > 0 {
			hint = e.passed[n-1] + " is there, but is no trace; " + hint
		}
		return &Error{File: dir, Reason: "holds no trace", Hint: hint}
	}
	return err
}

// mostFound is how many files a search may look into: the traces of the largest jobs
// there are. It takes some five seconds.
var mostFound = 1 << 17

// search adds the traces below dir and returns their number. A directory that cannot be
// read counts as one, so that reading it says why and the others are not lost.
func (e *expansion) search(dir string) (found int, err error) {
	looked := 0
	err = walk(dir, func(path string, isDir bool) (enter bool) {
		if isDir || !isKnown(filepath.Base(path)) {
			return looked <= mostFound
		}
		looked++
		switch {
		case looked > mostFound:
		case mayBeTrace(path):
			e.add(path)
			found++
		default:
			e.passed = append(e.passed, path)
		}
		return false
	}, func(below string) { e.add(below); found++ })
	if err == nil && looked > mostFound {
		return 0, tooMany(dir)
	}
	return found, err
}

func tooMany(where string) error {
	reason := fmt.Sprintf("holds more than %d files that may be traces", mostFound)
	return &Error{File: where, Reason: reason, Hint: narrower}
}
