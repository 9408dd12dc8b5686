package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A binary is the tests of a package, with all mutants in them.
type binary struct {
	pkg, dir, path string
}

// A test is one that passes without a mutant.
type test struct {
	in      *binary
	name    string
	took    time.Duration
	reaches map[int]bool // mutants
}

// build compiles the tests of packages with the schema in place of the code.
func (r *runner) build(s *schema, packages []string) ([]*binary, error) {
	overlay, err := r.overlay(s.texts())
	if err != nil {
		return nil, err
	}
	var all []*binary
	for i, pkg := range packages {
		dir, err := r.command(r.root, "go", "list", "-f", "{{.Dir}}", pkg)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, dir)
		}
		b := &binary{pkg: pkg, dir: strings.TrimSpace(string(dir)), path: filepath.Join(r.temp, fmt.Sprintf("%d.test", i))}
		build := []string{"test", "-c", "-vet=off", "-pgo=off", "-overlay", overlay, "-o", b.path, pkg}
		if out, err := r.command(r.root, "go", build...); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		if _, err := os.Stat(b.path); err == nil { // a package without tests has none
			all = append(all, b)
		}
	}
	return all, nil
}

// tests runs every test of the binaries on its own, for its time and which mutants it
// reaches. Those that fail on their own or take over the limit are left out.
func (r *runner) tests(binaries []*binary, mutantsAt [][]int) ([]*test, error) {
	var all []*test
	for _, b := range binaries {
		out, err := r.command(b.dir, b.path, "-test.list=.")
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		total := time.Duration(0)
		for name := range strings.FieldsSeq(string(out)) {
			if strings.HasPrefix(name, "Benchmark") {
				continue
			}
			t := &test{in: b, name: name}
			if why := r.measure(t, mutantsAt); why != "" {
				fmt.Fprintf(r.log, "%s: %s is left out: %s\n", b.pkg, name, why)
				continue
			}
			total += t.took
			all = append(all, t)
		}
		fmt.Fprintf(r.log, "%s: %v\n", b.pkg, total.Round(time.Millisecond))
	}
	return all, nil
}

// measure runs a test without a mutant and says why it is of no use, if it is not.
func (r *runner) measure(t *test, mutantsAt [][]int) (why string) {
	notes := filepath.Join(r.temp, "notes")
	if err := os.WriteFile(notes, nil, 0o600); err != nil {
		return err.Error()
	}
	began := time.Now()
	passed := r.passes(t.in, []string{t.name}, r.limit, notesVariable+"="+notes)
	t.took = time.Since(began)
	switch {
	case t.took >= r.limit:
		return fmt.Sprint("it takes over ", r.limit)
	case !passed:
		return "it fails without any change"
	}
	text, err := os.ReadFile(notes)
	if err != nil {
		return err.Error()
	}
	t.reaches = map[int]bool{}
	for line := range strings.FieldsSeq(string(text)) {
		site, _ := strconv.Atoi(line)
		for _, m := range mutantsAt[site] {
			t.reaches[m] = true
		}
	}
	return ""
}

// A batch is tests of one binary that run together.
type batch struct {
	in    *binary
	names []string
	took  time.Duration
}

// batches are the tests that reach a mutant, quick ones first: those below slow all at
// once, the others one after another.
func (r *runner) batches(all []*test, mutant int) []batch {
	var quick, slow []batch
	for _, t := range all {
		one := batch{t.in, []string{t.name}, t.took}
		switch n := len(quick) - 1; {
		case !t.reaches[mutant]:
		case t.took > r.slow:
			slow = append(slow, one)
		case n < 0 || quick[n].in != t.in:
			quick = append(quick, one)
		default:
			quick[n].names = append(quick[n].names, t.name)
			quick[n].took += t.took
		}
	}
	slices.SortStableFunc(quick, func(a, b batch) int { return int(a.took - b.took) })
	slices.SortStableFunc(slow, func(a, b batch) int { return int(a.took - b.took) })
	return append(quick, slow...)
}
