package markup

import (
	"cmp"
	"reflect"
	"slices"
	"text/template/parse"
)

// valueOf is the value behind interfaces and pointers; invalid for nil.
func valueOf(data any) reflect.Value { return settled(reflect.ValueOf(data)) }

func settled(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// truth reports whether a value is not the empty one of its type.
func truth(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map:
		return v.Len() > 0
	case reflect.Struct:
		return true
	}
	return !v.IsZero()
}

// elements are what range goes over.
func elements(v reflect.Value) (keys, values []reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			keys, values = append(keys, reflect.ValueOf(i)), append(values, settled(v.Index(i)))
		}
	case reflect.Map:
		keys = v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			values = append(values, settled(v.MapIndex(k)))
		}
	case reflect.Int:
		for i := range int(v.Int()) {
			keys, values = append(keys, reflect.ValueOf(i)), append(values, reflect.ValueOf(i))
		}
	default:
		fail("range over %s", v.Type())
	}
	return keys, values
}

// pipe evaluates a pipeline and declares or sets its variables.
func (x *execution) pipe(p *parse.PipeNode, dot reflect.Value) reflect.Value {
	if p == nil {
		return reflect.Value{}
	}
	v := x.value(p, dot)
	for _, d := range p.Decl {
		if !p.IsAssign {
			x.variables = append(x.variables, variable{d.Ident[0], v})
			continue
		}
		x.variables[x.indexOf(d.Ident[0])].value = v
	}
	return v
}

// value evaluates a pipeline: each result is the last argument of the next command.
func (x *execution) value(p *parse.PipeNode, dot reflect.Value) reflect.Value {
	var v reflect.Value
	for i, c := range p.Cmds {
		var last []reflect.Value
		if i > 0 {
			last = []reflect.Value{v}
		}
		v = x.command(c, dot, last)
	}
	return v
}

// command evaluates a function with its arguments, or a single value.
func (x *execution) command(c *parse.CommandNode, dot reflect.Value, last []reflect.Value) reflect.Value {
	name, ok := c.Args[0].(*parse.IdentifierNode)
	if !ok {
		if len(c.Args) > 1 || last != nil {
			fail("%s: there are functions and fields, no methods", c)
		}
		return x.argument(c.Args[0], dot)
	}
	var args []reflect.Value
	for _, a := range c.Args[1:] {
		args = append(args, x.argument(a, dot))
	}
	return functions[name.Ident](append(args, last...))
}

func (x *execution) argument(n parse.Node, dot reflect.Value) reflect.Value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return fields(dot, n.Ident)
	case *parse.VariableNode:
		return fields(x.variables[x.indexOf(n.Ident[0])].value, n.Ident[1:])
	case *parse.ChainNode:
		return fields(x.argument(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return x.pipe(n, dot)
	case *parse.IdentifierNode:
		return functions[n.Ident](nil)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	case *parse.NumberNode:
		if n.IsInt {
			return reflect.ValueOf(int(n.Int64))
		}
		return reflect.ValueOf(n.Float64)
	case *parse.NilNode:
		return reflect.Value{}
	}
	fail("%s is not understood", n)
	return reflect.Value{}
}

// indexOf finds the innermost variable of a name.
func (x *execution) indexOf(name string) int {
	for i := len(x.variables) - 1; i >= 0; i-- {
		if x.variables[i].name == name {
			return i
		}
	}
	fail("no variable %s", name)
	return 0
}

// fields follows names of fields or keys.
func fields(v reflect.Value, names []string) reflect.Value {
	for _, name := range names {
		switch v.Kind() {
		case reflect.Struct:
			field := v.FieldByName(name)
			if !field.IsValid() {
				fail("%s has no field %s", v.Type(), name)
			}
			v = settled(field)
		case reflect.Map:
			v = settled(v.MapIndex(reflect.ValueOf(name)))
		case reflect.Invalid:
			fail("field %s of nothing", name)
		default:
			fail("%s has no field %s", v.Type(), name)
		}
	}
	return v
}
