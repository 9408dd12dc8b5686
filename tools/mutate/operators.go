package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"strconv"
	"strings"
)

// An edit is one change: bytes [from,to) of a file become text.
type edit struct {
	from, to int
	text     string
	operator string
}

// swapped are the tokens that each operator becomes.
var swapped = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.REM: {token.MUL}, token.AND: {token.OR}, token.OR: {token.AND}, token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
	token.OR_ASSIGN: {token.AND_ASSIGN}, token.AND_ASSIGN: {token.OR_ASSIGN},
}

// A finder collects the edits of one file.
type finder struct {
	fset  *token.FileSet
	edits []edit
	sizes map[ast.Expr]bool // of numbers in bits
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) add(operator string, from, to token.Pos, text string) {
	f.edits = append(f.edits, edit{f.offset(from), f.offset(to), text, operator})
}

// find returns the edits of a file in the order of its text.
func find(fset *token.FileSet, file *ast.File) []edit {
	f := finder{fset: fset, sizes: map[ast.Expr]bool{}}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			f.tokens("operator", n.OpPos, n.Op)
		case *ast.BasicLit:
			if !f.sizes[n] {
				f.literal(n)
			}
		case *ast.Ident:
			f.boolean(n)
		case *ast.CallExpr:
			return f.call(n)
		case *ast.GenDecl:
			return n.Tok == token.CONST || n.Tok == token.VAR
		case ast.Stmt:
			f.statement(n)
		}
		return true
	})
	return f.edits
}

func (f *finder) tokens(operator string, at token.Pos, op token.Token) {
	for _, other := range swapped[op] {
		f.add(operator, at, at+token.Pos(len(op.String())), other.String())
	}
}

// literal moves a number up and down: an integer by one, another one by a tenth.
func (f *finder) literal(l *ast.BasicLit) {
	switch v := constant.MakeFromLiteral(l.Value, l.Kind, 0); l.Kind {
	case token.INT:
		one := constant.MakeInt64(1)
		f.add("constant", l.Pos(), l.End(), constant.BinaryOp(v, token.ADD, one).ExactString())
		if constant.Sign(v) > 0 {
			f.add("constant", l.Pos(), l.End(), constant.BinaryOp(v, token.SUB, one).ExactString())
		}
	case token.FLOAT:
		x, _ := constant.Float64Val(v)
		f.add("constant", l.Pos(), l.End(), strconv.FormatFloat(x*1.1, 'g', -1, 64))
		f.add("constant", l.Pos(), l.End(), strconv.FormatFloat(x*0.9, 'g', -1, 64))
	}
}

func (f *finder) boolean(n *ast.Ident) {
	switch n.Name {
	case "true":
		f.add("constant", n.Pos(), n.End(), "false")
	case "false":
		f.add("constant", n.Pos(), n.End(), "true")
	}
}

// call changes min into max and the reverse. How much room a slice or a map starts with
// changes no result, and how many bits a number may have only that of absurd ones: make
// and the size that strconv is told are left alone.
func (f *finder) call(n *ast.CallExpr) (inside bool) {
	switch fun := n.Fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok && x.Name == "strconv" && strings.HasPrefix(fun.Sel.Name, "Parse") {
			f.sizes[n.Args[len(n.Args)-1]] = true
		}
	case *ast.Ident:
		switch fun.Name {
		case "min":
			f.add("min, max", fun.Pos(), fun.End(), "max")
		case "max":
			f.add("min, max", fun.Pos(), fun.End(), "min")
		}
		return fun.Name != "make"
	}
	return true
}

func (f *finder) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		f.tokens("operator", s.TokPos, s.Tok)
		if s.Tok != token.DEFINE {
			f.add("removed statement", s.Pos(), s.End(), "")
		}
	case *ast.IncDecStmt:
		other := map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok]
		f.add("operator", s.TokPos, s.End(), other)
	case *ast.ExprStmt, *ast.ReturnStmt, *ast.BranchStmt, *ast.SendStmt:
		f.add("removed statement", s.Pos(), s.End(), "")
	case *ast.IfStmt:
		f.condition(s.Cond)
	case *ast.ForStmt:
		f.body(s.Body)
	case *ast.RangeStmt:
		f.body(s.Body)
	}
}

// condition negates what no other operator negates.
func (f *finder) condition(c ast.Expr) {
	if b, ok := c.(*ast.BinaryExpr); ok && b.Op != token.LAND && b.Op != token.LOR {
		return
	}
	f.add("negated condition", c.Pos(), c.Pos(), "!(")
	last := &f.edits[len(f.edits)-1]
	last.to, last.text = f.offset(c.End()), "" // the text needs the source: see mutant.apply
}

// body makes a loop end before its first round.
func (f *finder) body(b *ast.BlockStmt) { f.add("skipped loop", b.Lbrace+1, b.Lbrace+1, " break; ") }
