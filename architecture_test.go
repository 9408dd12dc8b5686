package gaprof_test

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// packageRow is a row of the table of packages: its place, and its name.
var packageRow = regexp.MustCompile("(?m)^\\| (leaf|under [0-9]|[0-9]) \\| `([a-z/.]+)` \\|")

// The page has a row for each package there is, with its place, and no other.
func TestArchitecturePage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]string)
	for _, m := range packageRow.FindAllStringSubmatch(string(text), -1) {
		if rows[m[2]] != "" {
			t.Errorf("%s: two rows of %s", page, m[2])
		}
		rows[m[2]] = m[1]
	}
	for _, pkg := range packages(t) {
		p, ok := placeOf(pkg)
		switch row := rows[pkg]; {
		case row == "":
			t.Errorf("%s: no row of %s", page, pkg)
		case ok && row != p.label():
			t.Errorf("%s: %s stands at %q, in floors_test.go at %q", page, pkg, row, p.label())
		}
		delete(rows, pkg)
	}
	for pkg := range rows {
		t.Errorf("%s: a row of %s, which is no package", page, pkg)
	}
}

// packages returns the folders with Go files that are not tests.
func packages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, s := range sources(t) {
		if !s.test && !slices.Contains(all, s.pkg) {
			all = append(all, s.pkg)
		}
	}
	return all
}
