package mcptools

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/trace/tracefile"
)

// realFolder is a folder without links in its path.
func realFolder(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// mostFiles is how many files one call may read: the ranks of a large job.
const mostFiles = 4096

// files are the traces that a path names, relative to the folder; an error where any of them is outside of it,
// whatever links lead there.
func (s *server) files(path string) ([]string, error) {
	switch {
	case path == "" || path == tracefile.Stdin || strings.HasPrefix(path, "@"):
		return nil, errors.New("path: a file, a folder or a pattern below the root of the server")
	case strings.ContainsRune(path, 0):
		return nil, errors.New("path: it holds a byte that no name has")
	}
	whole := path
	if !filepath.IsAbs(whole) {
		whole = filepath.Join(s.root, whole)
	}
	if s.inside(whole) == "" {
		return nil, outside(path)
	}
	if real, err := filepath.EvalSymlinks(whole); err == nil && s.inside(real) == "" {
		return nil, outside(path)
	}
	found, err := tracefile.Expand([]string{whole})
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), s.root+string(filepath.Separator), ""))
	}
	if len(found) > mostFiles {
		return nil, fmt.Errorf("path: %d files, more than %d", len(found), mostFiles)
	}
	var list []string
	for _, file := range found {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			return nil, outside(path)
		}
		inside := s.inside(real)
		if inside == "" {
			return nil, outside(path)
		}
		list = append(list, "."+string(filepath.Separator)+inside)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

func outside(path string) error {
	return fmt.Errorf("path: %s is outside the root of the server", path)
}

// inside is a path relative to the folder, empty where it is not below it.
func (s *server) inside(path string) string {
	rel, err := filepath.Rel(s.root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}
