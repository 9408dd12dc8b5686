package main

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// A newConstant is a constant of the package with the value that a mutant gives it.
type newConstant struct {
	object types.Object
	value  constant.Value
}

// changedConstants compares the constants of a package before and after an edit, which
// adds none and removes none.
func (c *code) changedConstants(after *types.Info) []newConstant {
	old, now := c.declared(c.info), c.declared(after)
	var changed []newConstant
	for i, one := range old {
		if !constant.Compare(one.Val(), token.EQL, now[i].Val()) {
			changed = append(changed, newConstant{one, now[i].Val()})
		}
	}
	return changed
}

// declared are the constants of a package in the order of the text; blank ones have no value.
func (c *code) declared(info *types.Info) []*types.Const {
	var all []*types.Const
	var at []*ast.Ident
	for id, object := range info.Defs {
		if _, ok := object.(*types.Const); ok && id.Name != "_" {
			at = append(at, id)
		}
	}
	slices.SortFunc(at, func(a, b *ast.Ident) int {
		p, q := c.fset.Position(a.Pos()), c.fset.Position(b.Pos())
		return cmp.Or(cmp.Compare(p.Filename, q.Filename), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
	})
	for _, id := range at {
		all = append(all, info.Defs[id].(*types.Const))
	}
	return all
}

// literal is a constant as Go writes it, with its type if it has one.
func (n newConstant) literal() string {
	text := n.value.ExactString()
	if n.value.Kind() == constant.Float {
		x, _ := constant.Float64Val(n.value)
		text = strconv.FormatFloat(x, 'g', -1, 64)
	}
	if t, ok := n.object.Type().(*types.Basic); ok && t.Info()&types.IsUntyped != 0 {
		return "(" + text + ")"
	}
	return types.TypeString(n.object.Type(), func(p *types.Package) string { return p.Name() }) + "(" + text + ")"
}
