package tracefile

import (
	"path/filepath"
	"slices"
	"strings"
)

// isGlob reports whether a path that does not exist is meant as a pattern.
func isGlob(path string) bool { return strings.ContainsAny(path, "*?[") }

// glob returns the files and directories that match pattern, by name, and the directories
// that may hold more but cannot be read.
func glob(pattern string) (found, unreadable []string, err error) {
	root, parts := splitPattern(pattern)
	for _, p := range parts {
		if _, err := filepath.Match(p, ""); err != nil {
			return nil, nil, &Error{File: pattern, Reason: "is not a valid pattern", Err: err}
		}
	}
	if !exists(root) {
		return nil, nil, nil
	}
	m := matcher{root: root, shown: root, parts: parts}
	if root == "." && !filepath.IsAbs(pattern) {
		m.shown = ""
	}
	err = walk(root, m.visit, func(dir string) { unreadable = append(unreadable, dir) })
	if err == nil && m.looked > mostFound {
		err = tooMany(pattern)
	}
	return m.found, unreadable, err
}

// matcher collects what matches a pattern.
type matcher struct {
	root, shown string   // where the walk begins, and how paths that are found begin
	parts       []string // of the pattern, below root
	found       []string
	looked      int
}

func (m *matcher) visit(path string, isDir bool) (enter bool) {
	rest, err := filepath.Rel(m.root, path)
	if err != nil {
		return false
	}
	names := strings.Split(rest, string(filepath.Separator))
	traces := m.parts[len(m.parts)-1] == "**" // by ** traces are meant
	if traces && (isDir || !isKnown(path)) || !matches(m.parts, names) {
		return isDir && m.looked <= mostFound && mayMatchBelow(m.parts, names)
	}
	if m.looked++; m.looked <= mostFound && (!traces || mayBeTrace(path)) {
		m.found = append(m.found, filepath.Join(m.shown, rest))
	}
	return false
}

// mayMatchBelow reports whether a directory can hold what matches the pattern.
func mayMatchBelow(pattern, dir []string) bool {
	if i := slices.Index(pattern, "**"); i >= 0 && i <= len(dir) {
		return matches(pattern[:i], dir[:i])
	}
	return len(dir) < len(pattern) && matches(pattern[:len(dir)], dir)
}

// splitPattern splits a pattern into the directory above its first wildcard and
// the parts below it.
func splitPattern(pattern string) (root string, parts []string) {
	parts = strings.Split(filepath.Clean(pattern), string(filepath.Separator))
	n := 0
	for n < len(parts)-1 && !isGlob(parts[n]) {
		n++
	}
	root = strings.Join(parts[:n], string(filepath.Separator))
	switch {
	case n == 0:
		root = "."
	case root == "":
		root = string(filepath.Separator)
	}
	return root, parts[n:]
}

// matches reports whether the parts of a path match those of a pattern. It is
// linear in both for every **, like filepath.Match for *.
func matches(pattern, path []string) bool {
	star, mark := -1, 0 // the last ** of the pattern, and where in path it ends for now
	p, i := 0, 0
	for i < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, i
			p++
		case p < len(pattern) && matchPart(pattern[p], path[i]):
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchPart(pattern, name string) bool {
	ok, err := filepath.Match(pattern, name)
	return err == nil && ok
}
