// Command testlog reads what `go test -json` prints and prints what `go test` would, and
// at the end which tests were skipped and why, so that nobody takes what did not run for
// what passed. It exits 1 if a test or a package failed, or nothing ran at all.
//
//	go test -json ./... | go run -C tools ./testlog
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	l := newLog(os.Stdout)
	if err := l.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(1)
	}
	if !l.finish() {
		os.Exit(1)
	}
}

// An event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// A log is what was read so far.
type log struct {
	w        io.Writer
	output   map[[2]string][]string // by package and test, of those that run
	reasons  map[string][]string    // tests that were skipped, by reason
	running  map[string]bool        // packages that began and have not ended
	failed   bool
	packages int
	tests    int // without subtests
	skipped  int // tests and subtests
}

func newLog(w io.Writer) *log {
	return &log{
		w: w, output: make(map[[2]string][]string), reasons: make(map[string][]string), running: make(map[string]bool),
	}
}

// read takes all lines. What is no event is printed as it is.
func (l *log) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if line[0] != '{' || json.Unmarshal(line, &e) != nil {
				l.w.Write(line)
			} else {
				l.take(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *log) take(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "start":
		l.running[e.Package] = true
	case "output":
		l.keep(e, key)
	case "build-output":
		io.WriteString(l.w, e.Output)
	case "build-fail":
		l.failed = true
	case "skip", "pass", "fail":
		l.end(e, key)
	}
}

// keep remembers what a test prints; what a package prints goes out at once.
func (l *log) keep(e event, key [2]string) {
	if e.Test == "" {
		if e.Output != "PASS\n" {
			io.WriteString(l.w, e.Output)
		}
		return
	}
	l.output[key] = append(l.output[key], e.Output)
}

func (l *log) end(e event, key [2]string) {
	lines := l.output[key]
	delete(l.output, key)
	if e.Action == "fail" {
		l.failed = true
		io.WriteString(l.w, strings.Join(lines, ""))
	}
	switch {
	case e.Test == "":
		l.packages++
		delete(l.running, e.Package)
		l.abandoned(e.Package)
		return
	case !strings.Contains(e.Test, "/"):
		l.tests++
	}
	if e.Action == "skip" {
		l.skipped++
		why := reason(lines)
		l.reasons[why] = append(l.reasons[why], e.Package+" "+e.Test)
	}
}

// abandoned prints what tests said that never ended: the package panicked or was killed.
func (l *log) abandoned(pkg string) {
	for _, key := range slices.SortedFunc(maps.Keys(l.output), func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) }) {
		if key[0] == pkg {
			io.WriteString(l.w, strings.Join(l.output[key], ""))
			delete(l.output, key)
		}
	}
}

var said = regexp.MustCompile(`^\s*\S+\.go:\d+: (?:SKIP: )?(.*)`)

// reason is what a test said when it was skipped: its last line with a place in a file.
func reason(lines []string) string {
	why := "no reason given"
	for _, line := range lines {
		if m := said.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			why = m[1]
		}
	}
	return why
}

// finish prints which tests were skipped and reports whether all others passed.
func (l *log) finish() bool {
	if l.packages == 0 {
		fmt.Fprintln(l.w, "no test ran")
		return false
	}
	for _, pkg := range slices.Sorted(maps.Keys(l.running)) {
		fmt.Fprintf(l.w, "%s: did not end\n", pkg)
		l.abandoned(pkg)
		l.failed = true
	}
	fmt.Fprintf(l.w, "\n%d tests in %d packages, %d skipped\n", l.tests, l.packages, l.skipped)
	reasons := slices.SortedFunc(maps.Keys(l.reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(l.reasons[b]), len(l.reasons[a])), cmp.Compare(a, b))
	})
	for _, why := range reasons {
		list := l.reasons[why]
		slices.Sort(list)
		fmt.Fprintf(l.w, "%5d  %s\n", len(list), why)
		for _, test := range list[:min(3, len(list))] {
			fmt.Fprintf(l.w, "         %s\n", test)
		}
		if n := len(list) - 3; n > 0 {
			fmt.Fprintf(l.w, "         and %d more\n", n)
		}
	}
	return !l.failed
}
