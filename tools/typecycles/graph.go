package main

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
)

// graph says which files a file uses, by name, and through which objects.
type graph map[string]map[string][]string

// dependencies returns the graph of the files of p.
func dependencies(p *pkg) graph {
	g := make(graph)
	for _, f := range p.files {
		g[f.name] = make(map[string][]string)
	}
	for _, f := range p.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				g.use(p, f.name, p.info.Uses[id])
			}
			return true
		})
	}
	return g
}

// use adds that file from uses obj, where another file of p declares it and it can
// be used from other files: fields and methods, and what stands in package scope.
func (g graph) use(p *pkg, from string, obj types.Object) {
	if obj == nil || obj.Pkg() != p.types || !reachable(obj) {
		return
	}
	to := filepath.Base(p.fset.Position(obj.Pos()).Filename)
	if _, ok := g[to]; !ok || to == from || slices.Contains(g[from][to], obj.Name()) {
		return
	}
	g[from][to] = append(g[from][to], obj.Name())
}

// reachable reports whether other files can name obj.
func reachable(obj types.Object) bool {
	switch obj := obj.(type) {
	case *types.Var:
		return obj.IsField() || obj.Parent() == obj.Pkg().Scope()
	case *types.Func:
		return true
	}
	return obj.Parent() == obj.Pkg().Scope()
}

// cycles returns the strongly connected components of g with two files or more,
// the largest first, the files of each by name.
func (g graph) cycles() [][]string {
	t := &tarjan{graph: g, index: make(map[string]int), low: make(map[string]int), open: make(map[string]bool)}
	for _, v := range slices.Sorted(maps.Keys(g)) {
		if t.index[v] == 0 {
			t.visit(v)
		}
	}
	slices.SortStableFunc(t.found, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	return t.found
}

// tarjan is the state of Tarjan's algorithm; an index of 0 is that of a file that
// was not visited.
type tarjan struct {
	graph      graph
	index, low map[string]int
	stack      []string
	open       map[string]bool // on the stack
	found      [][]string
}

func (t *tarjan) visit(v string) {
	t.index[v] = len(t.index) + 1
	t.low[v] = t.index[v]
	t.stack, t.open[v] = append(t.stack, v), true
	for _, w := range slices.Sorted(maps.Keys(t.graph[v])) {
		if t.index[w] == 0 {
			t.visit(w)
			t.low[v] = min(t.low[v], t.low[w])
		} else if t.open[w] {
			t.low[v] = min(t.low[v], t.index[w])
		}
	}
	if t.low[v] == t.index[v] {
		t.close(v)
	}
}

// close takes the component whose first file is v off the stack.
func (t *tarjan) close(v string) {
	at := slices.Index(t.stack, v)
	files := slices.Sorted(slices.Values(t.stack[at:]))
	t.stack = t.stack[:at]
	for _, f := range files {
		t.open[f] = false
	}
	if len(files) > 1 {
		t.found = append(t.found, files)
	}
}
