package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	check := flag.Bool("check", false, "exit 1 where a limit is broken, and say which")
	verbose := flag.Bool("v", false, "print which file of the largest cycle uses what of which other")
	flag.Parse()
	code, err := run(os.Stdout, flag.Args(), *check, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecycles:", err)
		code = 2
	}
	os.Exit(code)
}

func run(w io.Writer, patterns []string, check, verbose bool) (code int, err error) {
	if len(patterns) == 0 {
		patterns = []string{filepath.Join("..", "...")} // -C tools
	}
	pkgs, err := load(patterns)
	if err != nil {
		return 2, err
	}
	var all []measured
	for _, p := range pkgs {
		if len(p.files) > 0 {
			all = append(all, measure(p))
		}
	}
	slices.SortFunc(all, func(a, b measured) int { return strings.Compare(a.path, b.path) })
	if check {
		return checkAll(w, all), nil
	}
	table(w, all)
	for _, m := range all {
		details(w, m, verbose)
	}
	return 0, nil
}

func checkAll(w io.Writer, all []measured) int {
	n := 0
	for _, m := range all {
		n += broken(w, m)
	}
	if n > 0 {
		return 1
	}
	fmt.Fprintf(w, "%d packages within limits\n", len(all))
	return 0
}

// headings are those of what row writes.
var headings = []string{
	"package", "files", "cycle", "most methods", "in files", "most fields", "cyclo",
	"func median", "p95", "lines", "comment", "fields explained", "wide",
}

// table writes a line a package, and one of all.
func table(w io.Writer, all []measured) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, strings.Join(headings, "\t"))
	total := measured{path: "all"}
	for _, m := range all {
		row(tab, m)
		total.files += m.files
		total.lengths = append(total.lengths, m.lengths...)
		total.lines += m.lines
		total.comments += m.comments
		total.exported += m.exported
		total.explained += m.explained
		total.wide += m.wide
	}
	slices.Sort(total.lengths)
	row(tab, total)
	tab.Flush()
}

func row(w io.Writer, m measured) {
	var central methods
	if len(m.methods) > 0 {
		central = m.methods[0]
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%s %d\t%d\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%d\n",
		m.path, m.files, len(m.cycle), central.name, central.n, central.files, first(m.fields), first(m.cyclo),
		percentile(m.lengths, 50), percentile(m.lengths, 95), m.lines,
		percent(m.comments, m.lines), percent(m.explained, m.exported), m.wide)
}

func first(counts []count) string {
	if len(counts) == 0 {
		return "-"
	}
	return fmt.Sprint(counts[0].name, " ", counts[0].n)
}

// percentile is the value of ascending ns that p percent do not exceed, 0 of none.
func percentile(ns []int, p int) int {
	if len(ns) == 0 {
		return 0
	}
	return ns[min(len(ns)-1, len(ns)*p/100)]
}

func percent(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// details writes what of m deserves a look: the cycle, and all that is above a limit.
func details(w io.Writer, m measured, verbose bool) {
	if len(m.cycle) > 0 {
		fmt.Fprintf(w, "\n%s: %d of %d files in one cycle: %s\n", m.path, len(m.cycle), m.files, strings.Join(m.cycle, " "))
	}
	if verbose {
		for _, from := range m.cycle {
			for _, to := range slices.Sorted(maps.Keys(m.graph[from])) {
				if slices.Contains(m.cycle, to) {
					fmt.Fprintf(w, "  %s -> %s: %s\n", from, to, strings.Join(m.graph[from][to], " "))
				}
			}
		}
	}
	for _, r := range m.methods {
		if r.files > mostMethodFiles {
			fmt.Fprintf(w, "%s: %s has %d methods in %d files\n", m.path, r.name, r.n, r.files)
		}
	}
	for _, c := range above(m.fields, mostFields) {
		fmt.Fprintf(w, "%s: %s has %d fields\n", m.path, c.name, c.n)
	}
	for _, c := range above(m.cyclo, mostCyclo) {
		fmt.Fprintf(w, "%s: %s has a cyclomatic complexity of %d\n", m.path, c.name, c.n)
	}
	for _, c := range above(m.long, mostLines) {
		fmt.Fprintf(w, "%s: %s has %d lines\n", m.path, c.name, c.n)
	}
}
