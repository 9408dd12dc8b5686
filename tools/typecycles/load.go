package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// pkg is one package, type-checked, without its tests.
type pkg struct {
	path  string // relative to the module, slashes; "." is the root
	fset  *token.FileSet
	files []*file
	types *types.Package
	info  *types.Info
}

// file is one source file of a package.
type file struct {
	name   string // base name
	syntax *ast.File
	text   []byte
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Module                  *struct{ Path, Dir string }
}

// load type-checks the packages that patterns name. All must be of one module,
// which need not be that of this program. Dependencies are not read again: the go
// command has their export data in its cache, so this works offline and takes
// about as long as the build of what has changed.
func load(patterns []string) ([]*pkg, error) {
	module, patterns, err := locate(patterns)
	if err != nil {
		return nil, err
	}
	all, err := list(module, patterns)
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string)
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	fset := token.NewFileSet()
	gc := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var pkgs []*pkg
	for _, l := range all {
		if l.DepOnly || len(l.GoFiles) == 0 {
			continue
		}
		p, err := check(l, fset, gc)
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
	return pkgs, nil
}

// locate returns the root of the module in which the first pattern lies, and the
// patterns relative to it. Patterns are folders, with or without "/...".
func locate(patterns []string) (module string, relative []string, err error) {
	for _, pattern := range patterns {
		abs, err := filepath.Abs(pattern)
		if err != nil {
			return "", nil, err
		}
		if module == "" {
			if module, err = moduleRoot(filepath.Clean(filepath.Dir(filepath.Join(abs, "x")))); err != nil {
				return "", nil, err
			}
		}
		rel, err := filepath.Rel(module, abs)
		if err != nil {
			return "", nil, err
		}
		relative = append(relative, "./"+filepath.ToSlash(rel))
	}
	return module, relative, nil
}

// moduleRoot goes up from dir to the folder of go.mod.
func moduleRoot(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no go.mod above %s", dir)
		}
	}
}

func list(module string, patterns []string) ([]listed, error) {
	args := []string{"list", "-export", "-deps", "-pgo=off", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Module"}
	cmd := exec.Command("go", append(args, patterns...)...)
	cmd.Dir, cmd.Stderr = module, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

func check(l listed, fset *token.FileSet, imports types.Importer) (*pkg, error) {
	p := &pkg{path: l.ImportPath, fset: fset, info: &types.Info{
		Uses:       make(map[*ast.Ident]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection),
	}}
	if l.Module != nil {
		rel, err := filepath.Rel(l.Module.Dir, l.Dir)
		if err != nil {
			return nil, err
		}
		p.path = filepath.ToSlash(rel)
	}
	var syntax []*ast.File
	for _, name := range l.GoFiles {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, filepath.Join(l.Dir, name), text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, f)
		if !ast.IsGenerated(f) {
			p.files = append(p.files, &file{name: name, syntax: f, text: text})
		}
	}
	var err error
	p.types, err = (&types.Config{Importer: imports}).Check(l.ImportPath, fset, syntax, p.info)
	return p, err
}
