package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/docs"
)

// plain are labels of the output that say in plain English what stands there.
var plain = []string{
	// words at the start of a line, which docs/formats/diff.md, docs/ci.md and docs/whatif.md explain
	"WHY", "NEXT", "ALSO", "NOTE", "MEMORY", "CONFIG", "PASS", "FAIL", "STEP", "BASE", "NEW", "MOVED", "GONE",
	"ADDED", "RESIZED", "CHANGED", "SETTING", "FIXED", "FINDING", "STAYED", "RECORD", "LOSS", "MACHINE",
	"REPLAY", "ASSUMES", "WHAT IF", "NOT FOR THIS RUN", "FITTED", "NOT FITTED", "MODEL AGAINST TRACE",
	"COLLECTIVES",
	// names of things that every reader of a trace knows, and of units
	"optimizer", "optimizers", "compute", "memory", "communication", "reduce-scatter", "all-gather", "all-reduce",
	"collectives", "device", "host", "group", "tensors", "calls", "tokens", "GB/s", "MB", "us/MB",
	"bus GB/s", "alpha us",
	// words of tables
	"count", "name", "what", "where", "why", "why not", "of", "by", "value", "change", "status", "times",
	"first", "from", "high", "low", "least", "greatest", "at tokens", "max/min", "this run", "at the start",
	"peak", "category", "type", "samples", "sizes", "median error", "90 % within", "figure", "before",
	"model us", "observed us", "ms/step", "predicted", "stage", "data parallel rank", "delay", "ideal", "alone",
	"slowdown", "average", "logged", "optimized", "mode", "stays", "launch latency", "base", "new", "±",
	"event latency", "duration", "steps", "causes",
}

// labels returns the words at the start of lines and the heads of the tables of an output.
func labels(text string) []string {
	var all []string
	upper, title := regexp.MustCompile(`^([A-Z][A-Z ]*[A-Z])(?:  |$)`), regexp.MustCompile(`^[A-Z]([a-z]|[A-Z ]+$)`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if m := upper.FindStringSubmatch(line); m != nil {
			all = append(all, m[1])
		}
		if i > 1 && lines[i-2] == "" && title.MatchString(lines[i-1]) && strings.HasPrefix(line, "  ") {
			all = append(all, regexp.MustCompile(`  +`).Split(strings.TrimSpace(line), -1)...)
		}
	}
	return all
}

// TestLabelsAreExplained: what the output calls a line or a column is in the glossary, or plain English.
func TestLabelsAreExplained(t *testing.T) {
	if testing.Short() {
		t.Skip("analyzes the samples many times")
	}
	const step, before = "../../traces/reduce-scatter-in-step.json", "../../traces/demo-before"
	show := "findings,groups,memory,top,ranks,health,whatif"
	seen := map[string]bool{}
	for _, args := range [][]string{
		{"analyze", "--show", show, step}, {"analyze", "--show", show, before},
		{"whatif", before}, {"check", step}, {"check", before, "--baseline", "../../traces/demo-after"},
		{"norm", before}, {"diff", before, "../../traces/demo-after"},
		{"whatif", "--table", "../../analyze/straggler/testdata/worked.csv"},
	} {
		_, out, _ := runWith("", args...)
		for _, label := range labels(out) {
			seen[label] = true
			if notName(label) && len(docs.Find(label)) == 0 && !slices.Contains(plain, label) {
				t.Errorf("gaprof %s: docs/glossary.md does not say what %q is", strings.Join(args, " "), label)
			}
		}
	}
	for _, label := range []string{"VERDICT", "reduced in", "launched from", "exposed", "span", "held", "waits"} {
		if !seen[label] {
			t.Errorf("%q was not seen", label)
		}
	}
}

// notName leaves out what a table lists: rules and the reasons beside them, numbers, normalizations.
func notName(label string) bool {
	return !regexp.MustCompile(`^[A-Z]{2}\d|\d|_|.{22}`).MatchString(label) && label != "global"
}

// TestExplainWords: explain prints what the glossary says, and hints at what was probably meant.
func TestExplainWords(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"linked", exitOK, "linked, unlinked, launch\n\nA device event is linked if"},
		{"reduced in", exitOK, "Definition     docs/definitions.md#gradient-synchronization"},
		{"Micro-Batches", exitOK, "micro-batch\n"},
		{"step", exitOK, "hook, step\n"},
		{"ov004", exitOK, "OV004: gradient reductions"},
		{"rs.exposed.time", exitOK, "rs.exposed.time"},
		{"OV04", exitUsage, "did you mean gaprof explain OV004?"},
		{"expsed", exitUsage, "did you mean gaprof explain exposed?"},
		{"xyzzyq", exitUsage, "rules are GS006"},
		{"--schema report more", exitUsage, "accepts at most 1 arg"},
	} {
		code, out, stderr := runWith("", append([]string{"explain"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(out+stderr, c.want) {
			t.Errorf("explain %s: exit code %d, %s%s", c.args, code, out, stderr)
		}
	}
}

// TestExplainFits: an explanation is at most as wide as the terminal, and folded once.
func TestExplainFits(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	_, out, _ := runWith("", "explain", "linked")
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 40 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if want := "A device event is linked if the call of\nthe host that launched it"; !strings.Contains(out, want) {
		t.Errorf("%s\nis not folded as %s", out, want)
	}
}
