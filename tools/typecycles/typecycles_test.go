package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMeasure(t *testing.T) {
	pkgs, err := load([]string{"testdata/house/..."})
	if err != nil || len(pkgs) != 1 {
		t.Fatalf("%d packages, error %v", len(pkgs), err)
	}
	m := measure(pkgs[0])
	for _, c := range []struct{ what, got, want string }{
		{"package", m.path, "room"},
		{"files", fmt.Sprint(m.files), "4"},
		{"cycle", strings.Join(m.cycle, " "), "a.go b.go c.go"},
		{"why", strings.Join(m.graph["a.go"]["b.go"], " "), "second"},
		{"field", strings.Join(m.graph["b.go"]["a.go"], " "), "T left right"},
		{"methods", fmt.Sprint(m.methods), "[{T 2 2}]"},
		{"fields", fmt.Sprint(m.fields), "[{T 4}]"},
		{"complexity", fmt.Sprint(m.cyclo[0]), "{T.second 5}"},
		{"functions", fmt.Sprint(m.lengths), "[1 1 1 10]"},
		{"explained", fmt.Sprint(m.explained, " of ", m.exported), "1 of 2"},
		{"comments", fmt.Sprint(m.comments, " of ", m.lines), "4 of 28"},
		{"wide", fmt.Sprint(m.wide), "1"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
}

func TestCycles(t *testing.T) {
	g := make(graph)
	for _, edge := range strings.Fields("ab ba bc cd de ec ee fa") {
		from, to := edge[:1], edge[1:]
		for _, v := range []string{from, to} {
			if g[v] == nil {
				g[v] = make(map[string][]string)
			}
		}
		g[from][to] = []string{"x"}
	}
	if got := fmt.Sprint(g.cycles()); got != "[[c d e] [a b]]" {
		t.Error(got)
	}
}

func TestBroken(t *testing.T) {
	over := measured{
		path:    "room",
		cycle:   slices.Repeat([]string{"a.go"}, 9),
		methods: []methods{{"T", 9, 6}, {"U", 9, 5}},
		fields:  []count{{"T", 21}, {"U", 20}},
		cyclo:   []count{{"f", 16}, {"g", 15}},
		long:    []count{{"a.go", 351}, {"b.go", 350}},
	}
	var out bytes.Buffer
	if n := broken(&out, over); n != 5 || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("%d:\n%s", n, &out)
	}
	over.path = "analyze/report" // whose structs are exempt, and nothing else of it
	out.Reset()
	if n := broken(&out, over); n != 4 || !strings.Contains(out.String(), "exempt") {
		t.Errorf("%d:\n%s", n, &out)
	}
	if n := broken(&out, measured{cycle: over.cycle[:8], long: over.long[1:]}); n != 0 {
		t.Errorf("%d:\n%s", n, &out)
	}
}
