package gaprof_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// source is one Go file of this module.
type source struct {
	path  string // slashes, relative to the root
	pkg   string // its folder, "." for the root
	test  bool
	text  string
	lines int
	file  *ast.File
	fset  *token.FileSet
}

// imports returns what the file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

// sources parses every Go file of the module. It reads the files itself: a test
// that ran the go command could be answered from the cache.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (skipDir(d.Name()) || isModule(name)) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		s, err := parse(name)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found %d files only", len(all))
	}
	return all
}

// skipDir tells what the go command passes over as well.
func skipDir(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parse(name string) (source, error) {
	s := source{path: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet()}
	s.pkg = path.Dir(s.path)
	text, err := os.ReadFile(name)
	if err != nil {
		return s, err
	}
	s.text = string(text)
	if s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments); err == nil {
		s.lines = s.fset.File(s.file.FileStart).LineCount()
	}
	return s, err
}
