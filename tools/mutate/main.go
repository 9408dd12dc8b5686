package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	if err := r.ownCache(); err != nil {
		return err
	}
	r.slow, r.limit = o.slow, o.limit
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

// sample tries mutants of one package until enough of them compiled.
func (r *runner) sample(o options, target string) (*result, error) {
	all, err := r.candidates(o, target)
	if err != nil {
		return nil, err
	}
	suites, err := r.prepare(target, o.dependents(target))
	if err != nil {
		return nil, err
	}
	defer r.forget()
	res := &result{Package: target, Seed: o.seed, Of: len(all)}
	known := equivalents(equivalentText)
	tried := 0
	for _, m := range all {
		if o.n > 0 && tried == o.n {
			break
		}
		f, by, err := r.fate(m, target, suites, known, tried < o.skip)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m, err)
		}
		if f == invalid {
			res.Invalid++
			continue
		}
		tried++
		if tried > o.skip {
			res.add(r.log, m, f, by)
		}
		if tried%10 == 0 {
			r.forget()
		}
	}
	return res, nil
}

// fate asks, unless the mutant is known to be equivalent or is only counted.
func (r *runner) fate(
	m mutant, target string, suites []suite, known map[string]string, counted bool,
) (f fate, by string, err error) {
	if counted {
		suites = nil
	}
	f, by, err = r.ask(m, target, suites)
	if _, ok := known[m.key()]; ok && f == survived {
		f = equivalent
	}
	return f, by, err
}

// candidates are the edits of the package's files, in the order of the sample.
func (r *runner) candidates(o options, target string) ([]mutant, error) {
	out, err := r.command(r.root, "go", "list", "-f", "{{.Dir}}\t{{join .GoFiles \"\\t\"}}", target)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	dir, names, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	var files []string
	for name := range strings.SplitSeq(names, "\t") {
		if strings.Contains(name, o.only) {
			files = append(files, name)
		}
	}
	return mutants(r.root, dir, files, o.seed)
}

func (o options) dependents(target string) []string {
	if o.with != "" {
		return strings.Split(o.with, ",")
	}
	return plan[target]
}

// A result is the score of one package.
type result struct {
	Package    string
	Seed       uint64
	Of         int // edits there are, those that do not compile included
	Invalid    int // that were drawn and do not compile
	Noticed    int
	Survived   int
	Equivalent int
	Mutants    []outcome
}

// An outcome is a mutant and its fate.
type outcome struct {
	mutant
	Fate fate
	By   string `json:",omitempty"` // the package whose tests noticed
}

func (r *result) add(log io.Writer, m mutant, f fate, by string) {
	r.Mutants = append(r.Mutants, outcome{m, f, by})
	switch f {
	case noticed:
		r.Noticed++
	case survived:
		r.Survived++
		fmt.Fprintf(log, "survived: %s\n", m)
	case equivalent:
		r.Equivalent++
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
	_, err := fmt.Fprintf(w, "%s: %.2f: %d of %d noticed, %d more equivalent, seed %d (%d edits, %d drawn do not compile)\n",
		r.Package, r.score(), r.Noticed, r.Noticed+r.Survived, r.Equivalent, r.Seed, r.Of, r.Invalid)
	return err
}
