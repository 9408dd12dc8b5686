package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are what the command is asked for.
type options struct {
	n, skip     int
	seed        uint64
	with        string
	only        string
	asJSON      bool
	slow, limit time.Duration
	workers     int
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 60, "how many mutants to try of each package; 0: all")
	flag.IntVar(&o.skip, "after", 0, "leave out as many of the sample's first ones")
	flag.Uint64Var(&o.seed, "seed", 1, "which sample")
	flag.StringVar(&o.with, "with", "", "packages whose tests are asked too, with commas; default: table in plan.go")
	flag.StringVar(&o.only, "file", "", "only files whose names contain this")
	flag.BoolVar(&o.asJSON, "json", false, "one JSON object for each package, with every mutant and its fate")
	flag.DurationVar(&o.slow, "slow", time.Second, "tests that take longer run after the others")
	flag.DurationVar(&o.limit, "limit", 20*time.Second, "tests that take longer are left out")
	flag.IntVar(&o.workers, "j", 2, "how many mutants to ask about at the same time")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: mutate [flags] PACKAGE...; -h lists the flags")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Stderr, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(out, log io.Writer, o options, targets []string) error {
	root, err := filepath.Abs("..") // -C tools
	if err != nil {
		return err
	}
	r, err := newRunner(root, log)
	if err != nil {
		return err
	}
	defer r.close()
	r.slow, r.limit, r.workers = o.slow, o.limit, o.workers
	for _, target := range targets {
		result, err := r.sample(o, target)
		if err != nil {
			return err
		}
		if err := result.print(out, o.asJSON); err != nil {
			return err
		}
	}
	return nil
}

// sample tries mutants of one package.
func (r *runner) sample(o options, target string) (*result, error) {
	c, err := load(r, target)
	if err != nil {
		return nil, err
	}
	all, err := c.candidates(o)
	if err != nil {
		return nil, err
	}
	res := &result{Package: target, Seed: o.seed, Of: len(all)}
	s := &schema{code: c}
	drawn := s.draw(o, all, res)
	binaries, err := r.build(s, append([]string{target}, o.dependents(target)...))
	if err != nil {
		return nil, err
	}
	tests, err := r.tests(binaries, s.mutantsAt())
	if err != nil {
		return nil, err
	}
	res.count(r.askAll(drawn, tests), equivalents(equivalentText))
	return res, nil
}

// draw fills the schema with the sample, and returns it: what does not compile, or cannot
// be chosen at run time, takes nobody's place.
func (s *schema) draw(o options, all []*mutant, res *result) []*mutant {
	var drawn []*mutant
	for i := 0; i < len(all) && (o.n == 0 || len(drawn) < o.n); {
		var more []*mutant
		for ; i < len(all) && (o.n == 0 || len(drawn)+len(more) < o.n); i++ {
			if all[i].number = i + 1; s.code.compiles(all[i]) {
				more = append(more, all[i])
			} else {
				res.Invalid++
			}
		}
		left := s.add(more)
		res.Inexpressible += len(left)
		drawn = append(drawn, slices.DeleteFunc(more, func(m *mutant) bool { return slices.Contains(left, m) })...)
	}
	return drawn[min(o.skip, len(drawn)):]
}

// candidates are the edits of the package's files, in the order of the sample.
func (c *code) candidates(o options) ([]*mutant, error) {
	var names []string
	for _, f := range c.files {
		if name := filepath.Base(f.path); strings.Contains(name, o.only) {
			names = append(names, name)
		}
	}
	return mutants(c.root, c.dir, names, o.seed)
}

func (o options) dependents(target string) []string {
	if o.with != "" {
		return strings.Split(o.with, ",")
	}
	return plan[target]
}

// A result is the score of one package.
type result struct {
	Package       string
	Seed          uint64
	Of            int // edits there are, those that do not compile included
	Invalid       int // that were drawn and do not compile
	Inexpressible int // that were drawn and cannot be chosen at run time
	Noticed       int
	Survived      int
	Equivalent    int
	Mutants       []outcome
}

func (r *result) count(all []outcome, known map[string]string) {
	for _, o := range all {
		if _, ok := known[o.key()]; ok && o.Fate == survived {
			o.Fate = equivalent
		}
		r.Mutants = append(r.Mutants, o)
		switch o.Fate {
		case noticed:
			r.Noticed++
		case survived:
			r.Survived++
		case equivalent:
			r.Equivalent++
		}
	}
}

// score is the share of the mutants noticed that anybody could notice.
func (r *result) score() float64 {
	if r.Noticed == 0 {
		return 0
	}
	return float64(r.Noticed) / float64(r.Noticed+r.Survived)
}

func (r *result) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "\t")
		return enc.Encode(r)
	}
	for _, m := range r.Mutants {
		if m.Fate == survived {
			fmt.Fprintln(w, m.mutant)
		}
	}
	_, err := fmt.Fprintf(w, "%s: %.2f: %d of %d noticed, %d more equivalent, seed %d (%d edits, %d drawn do not compile, "+
		"%d cannot be chosen at run time)\n",
		r.Package, r.score(), r.Noticed, r.Noticed+r.Survived, r.Equivalent, r.Seed, r.Of, r.Invalid, r.Inexpressible)
	return err
}
