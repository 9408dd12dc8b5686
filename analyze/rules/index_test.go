package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/rules"
)

// TestIndex: each rule stands in the index once, with a severity that all examples and cases bear out.
func TestIndex(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| \[([A-Z]{2}\d{3})\]\(([A-Z0-9]+)\.md\) \| ([^|]+) \| [^|]+ \|$`)
	listed := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(rules.Index(), -1) {
		if listed[m[1]] != "" || m[1] != m[2] {
			t.Errorf("%s leads to %s, or stands there twice", m[1], m[2])
		}
		listed[m[1]] = m[3]
	}
	if len(listed) != len(rules.All()) {
		t.Errorf("%d of %d rules are listed", len(listed), len(rules.All()))
	}
	found := 0
	for _, text := range exampleTexts(t) {
		for _, want := range wanted(text, "want", ", ") {
			id, severity, _ := strings.Cut(want, " ")
			found++
			says := strings.Fields(strings.ReplaceAll(listed[id], ";", ""))
			if !slices.Contains(says, "by") && !slices.Contains(says, severity) {
				t.Errorf("%s is %s in an example, and %q in the index", id, severity, listed[id])
			}
		}
	}
	if found < 60 {
		t.Errorf("%d findings in the examples", found)
	}
}

func exampleTexts(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"examples/*/*.txt", "testdata/cases/*.txt"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
	}
	return all
}
