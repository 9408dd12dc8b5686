package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A kind of site says how a choice is written there.
type kind int

const (
	statement  kind = iota // in a list of statements
	simple                 // a statement before or after the condition of if, for or switch
	expression             // a value
	insertion              // something new between two statements
)

// A site is a place where mutants differ from the code.
type site struct {
	file     *file
	from, to int
	kind     kind
	typ      types.Type // of an expression
	number   int        // set where the schema is written
	alts     []alternative
}

// An alternative is what stands at a site in one mutant.
type alternative struct {
	mutant int
	text   string
}

// sites returns where a mutant differs from the code and what stands there instead; none
// if no choice at run time can be made of it.
func (c *code) sites(m *mutant) []site {
	f := c.fileOf(m.path)
	path := c.enclosing(f, m.edit.from, m.edit.to)
	if m.Operator == "skipped loop" {
		return []site{{file: f, from: m.edit.from, to: m.edit.to, kind: insertion, alts: one("break")}}
	}
	if inConst(path) {
		return c.constantSites(m)
	}
	at := c.changed(path, m)
	if at == nil {
		return nil
	}
	s := site{file: f, kind: expression}
	s.from, s.to = c.span(at)
	switch at := at.(type) {
	case ast.Expr:
		s.typ = types.Default(c.info.TypeOf(at))
	case ast.Stmt:
		s.kind = c.place(path, at)
	}
	changed := m.apply()
	s.alts = one(string(changed[s.from : s.to+len(changed)-len(m.source)]))
	return []site{s}
}

func one(text string) []alternative { return []alternative{{text: text}} }

func inConst(path []ast.Node) bool {
	for _, n := range path {
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
			return true
		}
	}
	return false
}

// changed is the smallest statement or value that can be chosen at run time.
func (c *code) changed(path []ast.Node, m *mutant) ast.Node {
	for i := len(path) - 1; i >= 0; i-- {
		from, to := c.span(path[i])
		switch n := path[i].(type) {
		case ast.Stmt:
			return n
		case ast.Expr:
			exact := from == m.edit.from && to == m.edit.to
			wanted := m.Operator == "operator" || m.Operator == "constant" || m.Operator == "negated condition" && exact
			if _, call := n.(*ast.CallExpr); call && m.Operator == "min, max" || wanted {
				return c.constantAround(path[:i+1])
			}
		}
	}
	return nil
}

// constantAround is the largest constant that the last node of a path is a part of, or the node.
func (c *code) constantAround(path []ast.Node) ast.Node {
	last := path[len(path)-1].(ast.Expr)
	if c.info.Types[last].Value == nil {
		return last
	}
	for i := len(path) - 2; i >= 0; i-- {
		outer, ok := path[i].(ast.Expr)
		if !ok || c.info.Types[outer].Value == nil {
			break
		}
		last = outer
	}
	return last
}

// place says whether a statement stands in a list.
func (c *code) place(path []ast.Node, s ast.Stmt) kind {
	for i, n := range path {
		if n != s || i == 0 {
			continue
		}
		switch path[i-1].(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
			return simple
		}
	}
	return statement
}

// constantSites are the uses of the constants that a mutant changes.
func (c *code) constantSites(m *mutant) []site {
	var all []site
	for _, changed := range m.constants {
		if changed.object.Exported() && changed.object.Parent() == changed.object.Pkg().Scope() {
			return nil // others may use it
		}
		for id, object := range c.info.Uses {
			if object != changed.object {
				continue
			}
			f := c.fileOf(c.fset.Position(id.Pos()).Filename)
			from, to := c.span(id)
			path := c.enclosing(f, from, to)
			if !inConst(path) {
				all = append(all, c.constantSite(f, path, changed))
			}
		}
	}
	return all
}

func (c *code) constantSite(f *file, path []ast.Node, changed newConstant) site {
	at := c.constantAround(path)
	s := site{file: f, kind: expression, typ: types.Default(c.info.TypeOf(at.(ast.Expr)))}
	s.from, s.to = c.span(at)
	from, to := c.span(path[len(path)-1])
	s.alts = one(string(f.source[s.from:from]) + changed.literal() + string(f.source[to:s.to]))
	return s
}

// write returns the choice between a site's text and its alternatives.
func (s *site) write(original, typeName string) string {
	var b strings.Builder
	switch s.kind {
	case expression:
		fmt.Fprintf(&b, "func() %s { switch mutantAt(%d) { ", typeName, s.number)
		for _, a := range s.alts {
			fmt.Fprintf(&b, "case %d: return %s; ", a.mutant, a.text)
		}
		fmt.Fprintf(&b, "}; return %s }()", original)
	case insertion:
		fmt.Fprintf(&b, " if mutantAt(%d) == %d { %s }; ", s.number, s.alts[0].mutant, s.alts[0].text)
	default:
		fmt.Fprintf(&b, "if mutantNow := mutantAt(%d); ", s.number)
		for _, a := range s.alts {
			fmt.Fprintf(&b, "mutantNow == %d { %s } else if ", a.mutant, a.text)
		}
		fmt.Fprintf(&b, "true { %s }", original)
	}
	if s.kind == simple {
		return "func() { " + b.String() + " }()"
	}
	return b.String()
}
