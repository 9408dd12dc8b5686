package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A suite is tests of one package that run together: its fast ones or its slow ones.
type suite struct {
	pkg, dir string
	args     []string // that choose the tests
	took     time.Duration
	covers   []block
}

// A block is lines of a file that the tests of a suite run, from the coverage profile.
type block struct {
	file                 string
	line, column         int
	lineEnd, columnAfter int
	ran                  bool
}

func (b block) holds(m mutant) bool {
	from := b.line < m.Line || b.line == m.Line && b.column <= m.Column
	to := m.Line < b.lineEnd || m.Line == b.lineEnd && m.Column <= b.columnAfter
	return from && to && strings.HasSuffix(b.file, "/"+filepath.Base(m.File))
}

// runs reports whether the suite runs the place of a mutant. What stands outside functions
// is in no block; everybody uses it.
func (s suite) runs(m mutant) bool {
	known := false
	for _, b := range s.covers {
		if b.holds(m) {
			if b.ran {
				return true
			}
			known = true
		}
	}
	return !known
}

// suites measures the tests of a package: the fast ones are one suite, the slow ones another.
func (r *runner) suites(target, pkg string) ([]suite, error) {
	took, err := r.durations(pkg)
	if err != nil {
		return nil, err
	}
	if len(took) == 0 {
		return nil, nil
	}
	var slow, never []string
	for name, d := range took {
		switch {
		case d > r.limit:
			never = append(never, name)
		case d > r.slow:
			slow = append(slow, name)
		}
	}
	slices.Sort(slow)
	slices.Sort(never)
	if len(never) > 0 {
		fmt.Fprintf(r.log, "%s: left out, over %v: %s\n", pkg, r.limit, strings.Join(never, " "))
	}
	kinds := [][]string{}
	if len(slow)+len(never) < len(took) {
		kinds = append(kinds, choose("-test.skip", slices.Concat(slow, never)))
	}
	if len(slow) > 0 {
		kinds = append(kinds, choose("-test.run", slow))
	}
	var all []suite
	for _, args := range kinds {
		s, err := r.measure(target, pkg, args)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func choose(flag string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	return []string{flag + "=^(" + strings.Join(names, "|") + ")$"}
}

// durations runs the tests of a package once and says how long each takes.
func (r *runner) durations(pkg string) (map[string]time.Duration, error) {
	out, err := r.command(r.root, "go", "test", "-json", "-short", "-vet=off", "-pgo=off", "-count=1", pkg)
	if err != nil {
		return nil, fmt.Errorf("the tests of %s fail without any change: %w\n%s", pkg, err, failures(out))
	}
	took := map[string]time.Duration{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var e struct {
			Action, Test string
			Elapsed      float64
		}
		if err := dec.Decode(&e); err != nil {
			return nil, err
		}
		if e.Test != "" && !strings.Contains(e.Test, "/") && e.Action == "pass" {
			took[e.Test] = time.Duration(e.Elapsed * float64(time.Second))
		}
	}
	return took, nil
}

func failures(out []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "FAIL") || strings.Contains(line, "_test.go:") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// measure runs a suite once for its time and what it covers of the target.
func (r *runner) measure(target, pkg string, args []string) (suite, error) {
	dir, err := r.command(r.root, "go", "list", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return suite{}, err
	}
	s := suite{pkg: pkg, dir: strings.TrimSpace(string(dir)), args: args}
	profile := filepath.Join(r.temp, "cover")
	binary := filepath.Join(r.temp, "covered.test")
	build := []string{"test", "-c", "-vet=off", "-pgo=off", "-cover", "-coverpkg=" + target, "-o", binary, pkg}
	if out, err := r.command(r.root, "go", build...); err != nil {
		return s, fmt.Errorf("%w\n%s", err, out)
	}
	began := time.Now()
	run := append([]string{"-test.short", "-test.coverprofile=" + profile}, args...)
	if out, err := r.command(s.dir, binary, run...); err != nil {
		return s, fmt.Errorf("%w\n%s", err, out)
	}
	s.took = time.Since(began)
	s.covers, err = blocks(profile)
	return s, err
}

var profileLine = regexp.MustCompile(`^(.*):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)

// blocks reads a coverage profile.
func blocks(path string) ([]block, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []block
	for s := bufio.NewScanner(f); s.Scan(); {
		m := profileLine.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		n := [4]int{}
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+2])
		}
		all = append(all, block{m[1], n[0], n[1], n[2], n[3], m[6] != "0"})
	}
	return all, nil
}
