package gaprof_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The limits of docs/decisions/0005, in lines and columns; a tab is four columns.
const (
	medianFunc, mostFuncs, anyFunc = 9, 30, 80 // of a function: half, 95 %, all
	anyFile, mostTests             = 350, 500  // of a file: all but tests, 95 % of tests
	anyLine                        = 120       // columns
)

// longFuncs are functions over anyFunc lines, each with its good reason.
var longFuncs = map[string]string{}

func TestFunctionLength(t *testing.T) {
	var lengths []int
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.file) {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			n := s.line(f.End()) - s.line(f.Pos()) + 1
			lengths = append(lengths, n)
			if n > anyFunc && longFuncs[s.path+":"+f.Name.Name] == "" {
				t.Errorf("%s: %s has %d lines", s.path, f.Name.Name, n)
			}
		}
	}
	slices.Sort(lengths)
	if half := lengths[len(lengths)/2]; half > medianFunc {
		t.Errorf("the median function has %d lines", half)
	}
	if most := lengths[len(lengths)*95/100]; most >= mostFuncs {
		t.Errorf("5 %% of functions have %d lines and more", most)
	}
}

func (s source) line(p token.Pos) int { return s.fset.Position(p).Line }

// longFiles are files over anyFile lines that are yet to be divided.
var longFiles []string

func TestFileLength(t *testing.T) {
	var long []string
	tests := 0
	for _, s := range sources(t) {
		switch {
		case s.test:
			tests++
			if s.lines > mostTests {
				long = append(long, s.path)
			}
		case s.lines > anyFile && !slices.Contains(longFiles, s.path):
			t.Errorf("%s has %d lines", s.path, s.lines)
		}
	}
	if len(long)*20 > tests {
		names := strings.Join(long, ", ")
		t.Errorf("%d of %d test files have more than %d lines: %s", len(long), tests, mostTests, names)
	}
}

// wideCode and wideTests are packages that still have lines over anyLine columns, in
// code and in tests. None is added to them: wrap the line.
var (
	wideCode  []string
	wideTests = []string{
		"trace/chrome",
	}
)

func TestLineWidth(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		listed := wideCode
		if s.test {
			listed = wideTests
		}
		if slices.Contains(listed, s.pkg) {
			continue
		}
		for i, line := range strings.Split(s.text, "\n") {
			if n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); n > anyLine {
				t.Errorf("%s:%d: %d columns", s.path, i+1, n)
			}
		}
	}
}

// Every exported name says what it is, and every package.
func TestDocumented(t *testing.T) {
	packages := make(map[string]bool)
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		packages[s.pkg] = packages[s.pkg] || s.file.Doc != nil
		for _, d := range s.file.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s:%d: %s has no comment", s.path, s.line(name.Pos()), name.Name)
			}
		}
	}
	for pkg, ok := range packages {
		if !ok {
			t.Errorf("package %s has no comment", pkg)
		}
	}
}

// undocumented returns the exported names that d declares without a comment. A
// comment on a group of constants, variables or types is one on each.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !isStandard(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc == nil {
			return undocumentedSpecs(d.Specs)
		}
	}
	return nil
}

func undocumentedSpecs(specs []ast.Spec) []*ast.Ident {
	var names []*ast.Ident
	for _, spec := range specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && spec.Doc == nil {
				names = append(names, spec.Name)
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() && spec.Doc == nil && spec.Comment == nil {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	name, ok := t.(*ast.Ident)
	return ok && name.IsExported()
}

// isStandard tells of methods that everybody knows from the standard library.
func isStandard(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "String", "Len", "Less", "Swap"}, d.Name.Name)
}
