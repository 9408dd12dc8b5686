package markup

import (
	"reflect"
	"text/template/parse"
)

// variable is a name like $x with its value.
type variable struct {
	name  string
	value reflect.Value
}

// deepest bounds templates that call themselves.
const deepest = 1000

// flow says how a list of nodes ended.
type flow int

const (
	onward flow = iota
	breaks
	continues
)

// call executes a template by its name.
func (x *execution) call(name string, dot reflect.Value) {
	tree := x.template.trees[name]
	if tree == nil || tree.Root == nil {
		fail("no template %q", name)
	}
	if x.depth++; x.depth > deepest {
		fail("template %q calls itself without end", name)
	}
	outer := x.variables
	x.variables = []variable{{"$", dot}}
	x.list(tree.Root, dot)
	x.variables = outer
	x.depth--
}

// list executes nodes; variables that they declare end with them.
func (x *execution) list(list *parse.ListNode, dot reflect.Value) flow {
	if list == nil {
		return onward
	}
	mark := len(x.variables)
	defer func() { x.variables = x.variables[:mark] }()
	for _, n := range list.Nodes {
		if f := x.node(n, dot); f != onward {
			return f
		}
	}
	return onward
}

func (x *execution) node(n parse.Node, dot reflect.Value) flow {
	switch n := n.(type) {
	case *parse.TextNode:
		x.place.feed(n.Text)
		x.out.Write(n.Text)
	case *parse.ActionNode:
		if v := x.pipe(n.Pipe, dot); len(n.Pipe.Decl) == 0 {
			x.write(v)
		}
	case *parse.IfNode:
		return x.branch(&n.BranchNode, dot, func(reflect.Value) reflect.Value { return dot })
	case *parse.WithNode:
		return x.branch(&n.BranchNode, dot, func(v reflect.Value) reflect.Value { return v })
	case *parse.RangeNode:
		x.loop(n, dot)
	case *parse.TemplateNode:
		x.call(n.Name, x.pipe(n.Pipe, dot))
	case *parse.BreakNode:
		return breaks
	case *parse.ContinueNode:
		return continues
	case *parse.CommentNode:
	default:
		fail("%s is not understood", n)
	}
	return onward
}

// branch executes one of two lists; inner gives the dot of the first.
func (x *execution) branch(n *parse.BranchNode, dot reflect.Value, inner func(reflect.Value) reflect.Value) flow {
	mark := len(x.variables)
	defer func() { x.variables = x.variables[:mark] }()
	if v := x.pipe(n.Pipe, dot); truth(v) {
		return x.list(n.List, inner(v))
	}
	return x.list(n.ElseList, dot)
}

// loop executes a list for each element of a slice, a map in the order of its keys, or
// numbers up to one.
func (x *execution) loop(n *parse.RangeNode, dot reflect.Value) {
	mark := len(x.variables)
	defer func() { x.variables = x.variables[:mark] }()
	over := x.value(n.Pipe, dot)
	keys, values := elements(over)
	if len(values) == 0 {
		x.list(n.ElseList, dot)
		return
	}
	for i, v := range values {
		x.variables = x.variables[:mark]
		switch decl := n.Pipe.Decl; len(decl) {
		case 1:
			x.variables = append(x.variables, variable{decl[0].Ident[0], v})
		case 2:
			x.variables = append(x.variables, variable{decl[0].Ident[0], keys[i]}, variable{decl[1].Ident[0], v})
		}
		if x.list(n.List, v) == breaks {
			return
		}
	}
}
