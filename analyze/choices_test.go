package analyze

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/choice"
)

// Every text that advises a choice calls it what the caller does.
func TestChoicesAreNamed(t *testing.T) {
	advice := "pass {tokens}"
	rules := []Rule{
		{ID: "XX001", Doc: Doc{Fix: advice}, Run: func(p *Pass) {
			p.Report(report.Note, report.Finding{Why: advice, Caveats: []string{advice}})
		}},
		{ID: "XX002", Needs: []Need{{Missing: advice, Met: func(*Rank) bool { return false }}}},
	}
	// Two traces whose ranks are not said, without token counts.
	inputs := []Input{{File: "a", Trace: read(t, stepping(2, 10))}, {File: "b", Trace: read(t, stepping(2, 10))}}
	for _, test := range []struct {
		names map[string]string
		want  []string
	}{
		{nil, []string{"pass Options.Logs.Tokens", "pass Options.RankOf, or record"}},
		{
			map[string]string{"tokens": "--tokens FILE", "rank-regex": "--rank-regex"},
			[]string{"pass --tokens FILE", "pass --rank-regex, or record"},
		},
	} {
		r := Run(inputs, Options{Rules: rules, Choices: test.names})
		f, skipped := r.Findings[0], r.Skipped[0]
		for _, got := range []string{f.Why, f.Fix, f.Caveats[0], skipped.Reason} {
			if got != test.want[0] {
				t.Errorf("%s, want %s", got, test.want[0])
			}
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%q is nowhere", want)
			}
		}
		for _, name := range choice.All() {
			if strings.Contains(string(text), "{"+name+"}") {
				t.Errorf("the choice %s has no name somewhere in %s", name, text)
			}
		}
	}
}
