package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEdits: what is changed in one line, and what is left alone.
func TestEdits(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"if a < b { c() }", "if a <= b { c() }|if a >= b { c() }|if a < b {  }"},
		{"if a == nil { return }", "if a != nil { return }|if a == nil {  }"},
		{"if ok && !done { x = 1 }",
			"if !(ok && !done) { x = 1 }|if ok || !done { x = 1 }|if ok && !done {  }|" +
				"if ok && !done { x = 2 }|if ok && !done { x = 0 }"},
		{"for range 0 { x++ }", "for range 0 { break;  x++ }|for range 1 { x++ }|for range 0 { x-- }"},
		{"x := min(a, 0.5)", "x := max(a, 0.5)|x := min(a, 0.55)|x := min(a, 0.45)"},
		{"x := make([]int, 0, 8)", ""},
		{"x, err := strconv.ParseInt(s, 10, 64)", "x, err := strconv.ParseInt(s, 11, 64)|x, err := strconv.ParseInt(s, 9, 64)"},
		{"x += y * 2", "x -= y * 2||x += y / 2|x += y * 3|x += y * 1"},
		{"const unit = 1 << 10", "const unit = 1 >> 10|const unit = 2 << 10|const unit = 0 << 10|" +
			"const unit = 1 << 11|const unit = 1 << 9"},
		{"var x = true", "var x = false"},
		{`x := "a" < b`, `x := "a" <= b|x := "a" >= b`},
	} {
		source := "package p\nfunc f() {\n" + c.source + "\n}\n"
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range find(fset, file) {
			m := mutant{source: []byte(source), edit: e}
			got = append(got, strings.Split(string(m.apply()), "\n")[2])
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.source, text, c.want)
		}
	}
}

func TestEquivalents(t *testing.T) {
	known := equivalents("# a comment\n\na.go: x < 1 => x <= 1\n\tx is never 1,\n\tas y says\nb.go: f() =>\n\tempty\n")
	if got := fmt.Sprint(len(known), known["a.go: x < 1 => x <= 1"]); got != "2x is never 1, as y says" {
		t.Error(got)
	}
	without := &mutant{File: "b.go", Before: "f()"}
	if known[without.key()] != "empty" {
		t.Errorf("%q is not known", without.key())
	}
	for key, why := range equivalents(equivalentText) {
		if why == "" || !strings.Contains(key, ".go: ") || !strings.Contains(key, " =>") {
			t.Errorf("%q: %q", key, why)
		}
	}
}

// TestSample: of a comparison that one test asks twice, the boundary goes unnoticed; what
// no test runs survives, and what does not compile is no mutant.
func TestSample(t *testing.T) {
	res := sampleOf(t, options{n: 5, seed: 3}, "larger")
	want := []string{
		"noticed: func Than(a, b int) bool { return a <= b }",
		"survived: func Than(a, b int) bool { return a >= b }",
		"survived: func Unasked(n int) int { return n + 0 }",
		"survived: func Unasked(n int) int { return n + 2 }",
		"survived: func Unasked(n int) int { return n - 1 }",
	}
	if got := fates(res, ""); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	var out bytes.Buffer
	if err := res.print(&out, false); err != nil {
		t.Fatal(err)
	}
	const score = "0.20: 1 of 5 noticed, 0 more equivalent, seed 3 (7 edits, 2 drawn do not compile, " +
		"0 cannot be chosen at run time)\n"
	if !strings.HasSuffix(out.String(), score) || strings.Count(out.String(), "\n\t+ ") != 4 {
		t.Error(out.String())
	}
}

// TestEvery: all mutants of a package with every kind of place, in one binary, among them a
// type that a variable hides, constants with a type and of others, and a loop that does not end.
func TestEvery(t *testing.T) {
	res := sampleOf(t, options{}, "every")
	want := []string{
		"survived: Calls--", // nobody asks for it
		"survived: for ; step.from < len(list) && (all || step.from < step.to); step.from++ {", // it is 0
		"survived: many = few * 3",
		"survived: var Calls = 1",
	}
	if got := fates(res, survived); !slices.Equal(got, want) {
		t.Errorf("%d noticed, %q", res.Noticed, got)
	}
	if got := fmt.Sprint(res.Noticed, res.Invalid, res.Inexpressible, res.Of); got != "41 6 0 51" {
		t.Error(got, fates(res, noticed))
	}
}

func sampleOf(t *testing.T, o options, name string) *result {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRunner(root, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	r.slow, r.limit, r.workers = time.Minute, time.Minute, 2
	r.grace = time.Second
	res, err := r.sample(o, "./mutate/testdata/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// fates are the mutants of a fate, or all.
func fates(res *result, only fate) []string {
	var got []string
	for _, m := range res.Mutants {
		if only == "" || m.Fate == only {
			got = append(got, fmt.Sprintf("%s: %s", m.Fate, m.After))
		}
	}
	slices.Sort(got)
	return got
}
