package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"
)

// measured is what was counted in a package.
type measured struct {
	path    string
	files   int
	cycle   []string // the files of the largest cycle, by name; nil is none
	graph   graph
	methods []methods // of each type, most first
	fields  []count   // of each struct, most first; embedded ones count
	cyclo   []count   // cyclomatic complexity of each function, most first
	lengths []int     // lines of each function, ascending
	long    []count   // lines of each file, most first

	lines, comments     int // lines that are not blank, and those of them that are comment only
	exported, explained int // exported fields of structs, and those with a comment
	wide                int // lines over 120 columns
}

// count is a number and what has it.
type count struct {
	name string
	n    int
}

// methods is how many methods a type has, and in how many files they stand.
type methods struct {
	name     string
	n, files int
}

// measure counts everything in p.
func measure(p *pkg) measured {
	m := measured{path: p.path, files: len(p.files), graph: dependencies(p)}
	if cycles := m.graph.cycles(); len(cycles) > 0 {
		m.cycle = cycles[0]
	}
	receivers := make(map[string]map[string]int)
	for _, f := range p.files {
		m.countLines(p, f)
		for _, d := range f.syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				m.countFunc(p, d)
				countMethod(receivers, f.name, d)
			}
		}
		m.countStructs(f)
	}
	for name, files := range receivers {
		r := methods{name: name, files: len(files)}
		for _, n := range files {
			r.n += n
		}
		m.methods = append(m.methods, r)
	}
	slices.SortFunc(m.methods, func(a, b methods) int { return cmp.Or(b.n-a.n, strings.Compare(a.name, b.name)) })
	for _, counts := range [][]count{m.fields, m.cyclo, m.long} {
		slices.SortStableFunc(counts, func(a, b count) int { return b.n - a.n })
	}
	slices.Sort(m.lengths)
	return m
}

func countMethod(receivers map[string]map[string]int, file string, d *ast.FuncDecl) {
	name := receiver(d)
	if name == "" {
		return
	}
	if receivers[name] == nil {
		receivers[name] = make(map[string]int)
	}
	receivers[name][file]++
}

// receiver returns the name of the type that d is a method of, or nothing.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func (m *measured) countFunc(p *pkg, d *ast.FuncDecl) {
	name := d.Name.Name
	if r := receiver(d); r != "" {
		name = r + "." + name
	}
	m.cyclo = append(m.cyclo, count{name, complexity(d)})
	if d.Body != nil {
		m.lengths = append(m.lengths, p.line(d.End())-p.line(d.Pos())+1)
	}
}

func (p *pkg) line(pos token.Pos) int { return p.fset.Position(pos).Line }

// complexity is what gocyclo counts: 1, and 1 for each if, for, case that is not
// the default, && and ||, those of function literals inside as well.
func complexity(d *ast.FuncDecl) int {
	n := 1
	ast.Inspect(d, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// countStructs counts the fields of each struct of f that has a name; those of a
// struct inside it without a name count as fields of its own only.
func (m *measured) countStructs(f *file) {
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			m.fields = append(m.fields, count{spec.Name.Name, s.Fields.NumFields()})
			if spec.Name.IsExported() {
				m.countExplained(s)
			}
		}
		return true
	})
}

// countExplained counts the exported fields of s. A comment on or beside a field
// is one on each name of its line.
func (m *measured) countExplained(s *ast.StructType) {
	for _, field := range s.Fields.List {
		for _, name := range field.Names {
			if !name.IsExported() {
				continue
			}
			m.exported++
			if field.Doc != nil || field.Comment != nil {
				m.explained++
			}
		}
	}
}

// columns is how wide a line may be, a tab being four of them.
const columns = 120

func (m *measured) countLines(p *pkg, f *file) {
	lines := bytes.Split(bytes.TrimSuffix(f.text, []byte("\n")), []byte("\n"))
	m.long = append(m.long, count{f.name, len(lines)})
	for _, line := range lines {
		if len(bytes.TrimSpace(line)) > 0 {
			m.lines++
		}
		if utf8.RuneCount(line)+3*bytes.Count(line, []byte("\t")) > columns {
			m.wide++
		}
	}
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			first := lines[p.line(c.Pos())-1]
			if bytes.HasPrefix(bytes.TrimSpace(first), []byte("/")) {
				m.comments += p.line(c.End()) - p.line(c.Pos()) + 1
			}
		}
	}
}
