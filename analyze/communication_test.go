package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// What counts as communication in hand-made traces. Each says in its first lines what is
// declared of its kernels and what the report must say: all collectives together, those of
// each kind, the ledger of each step, and the kernels that are pointed out.
func TestCommunicationCases(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "communication", "*.txt"))
	if len(files) < 7 {
		t.Fatalf("%d cases", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var o Options
		var want []string
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if text, ok := strings.CutPrefix(line, "# declare "); ok {
				d, err := timeline.ParseDeclaration(text)
				if err != nil {
					t.Fatal(err)
				}
				o.Communication = append(o.Communication, d)
			}
			if text, ok := strings.CutPrefix(line, "# want "); ok {
				want = append(want, text)
			}
		}
		o.Choices = map[string]string{"communication": "{communication}"}
		r := Run([]Input{{File: file, Trace: read(t, string(data))}}, o)
		if got := communicationLines(r); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func communicationLines(r *report.Report) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, c := range r.Communication {
		add("all %d: busy %d overlapped %d, %.2f", c.Count, c.Busy, c.Overlapped, *c.Ratio)
	}
	for _, c := range r.Collectives {
		add("%s %d: busy %d overlapped %d", c.Kind, c.Count, c.Busy, c.Overlapped)
	}
	for _, s := range r.Steps {
		l := s.Ledger
		line := fmt.Sprintf("step %d: compute %d", s.Index, l.Compute)
		if l.AllReduce > 0 {
			line += fmt.Sprintf(" all_reduce %d", l.AllReduce)
		}
		if l.OtherComm > 0 {
			line += fmt.Sprintf(" other %d", l.OtherComm)
		}
		lines = append(lines, line)
	}
	for _, p := range r.Health.Problems {
		if p.Code == string(trace.PossibleCommunication) {
			lines = append(lines, p.Action)
		} else if p.Severity != "note" {
			lines = append(lines, p.Code)
		}
	}
	return lines
}
