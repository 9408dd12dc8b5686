package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// code is a package with its types.
type code struct {
	root     string
	dir      string
	name     string // of its package clause
	files    []*file
	fset     *token.FileSet
	info     *types.Info
	importer types.Importer
}

// A file is one of a package's.
type file struct {
	path   string // absolute
	source []byte
	syntax *ast.File
}

// load reads a package; what it imports is built, not read.
func load(r *runner, target string) (*code, error) {
	out, err := r.command(r.root, "go", "list", "-f", `{{.Dir}}{{range .GoFiles}}{{"\t"}}{{.}}{{end}}`, target)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	names := strings.Split(strings.TrimSpace(string(out)), "\t")
	c := &code{root: r.root, dir: names[0], fset: token.NewFileSet()}
	if c.importer, err = c.exports(r, target); err != nil {
		return nil, err
	}
	for _, name := range names[1:] {
		f := &file{path: filepath.Join(c.dir, name)}
		if f.source, err = os.ReadFile(f.path); err != nil {
			return nil, err
		}
		if f.syntax, err = parser.ParseFile(c.fset, f.path, f.source, parser.ParseComments); err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
		c.name = f.syntax.Name.Name
	}
	c.info, err = c.check(nil)
	return c, err
}

// exports returns an importer of what the go command has built.
func (c *code) exports(r *runner, target string) (types.Importer, error) {
	out, err := r.command(r.root, "go", "list", "-export", "-pgo=off", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", target,
		"os", "strconv", "sync") // of the chooser
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	built := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, export, _ := strings.Cut(strings.TrimSpace(line), "\t")
		built[path] = export
	}
	return importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if built[path] == "" {
			return nil, errors.New("not among what the package needs")
		}
		return os.Open(built[path])
	}), nil
}

// check type-checks the package with other texts for some of its files, and files that it
// does not have.
func (c *code) check(texts map[string][]byte) (*types.Info, error) {
	var files []*ast.File
	left := len(texts)
	for _, f := range c.files {
		syntax := f.syntax
		if text, ok := texts[f.path]; ok {
			var err error
			if syntax, err = parser.ParseFile(c.fset, f.path, text, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
			left--
		}
		files = append(files, syntax)
	}
	if text, ok := texts[c.added()]; ok && left > 0 {
		syntax, err := parser.ParseFile(c.fset, c.added(), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, syntax)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: c.importer, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	_, err := config.Check(c.name, c.fset, files, info)
	return info, err
}

// added is the file that a schema adds to the package.
func (c *code) added() string { return filepath.Join(c.dir, "mutants.go") }

// compiles reports whether the package is valid with a mutant, and what changed constants
// are then.
func (c *code) compiles(m *mutant) bool {
	info, err := c.check(map[string][]byte{m.path: m.apply()})
	if err != nil {
		return false
	}
	m.constants = c.changedConstants(info)
	return true
}

// fileOf returns the file at a path.
func (c *code) fileOf(path string) *file {
	for _, f := range c.files {
		if f.path == path {
			return f
		}
	}
	return nil
}

// enclosing returns the nodes that hold [from,to) of a file, outermost first.
func (c *code) enclosing(f *file, from, to int) []ast.Node {
	base := c.fset.File(f.syntax.FileStart).Base()
	start, end := token.Pos(base+from), token.Pos(base+to)
	var path []ast.Node
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if n == nil || n.Pos() > start || end > n.End() {
			return false
		}
		path = append(path, n)
		return true
	})
	return path
}

// span is where a node stands in its file.
func (c *code) span(n ast.Node) (from, to int) {
	return c.fset.Position(n.Pos()).Offset, c.fset.Position(n.End()).Offset
}
