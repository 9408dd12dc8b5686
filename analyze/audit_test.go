package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
)

// said is a rule that finds how many normalized steps there are.
var said = analyze.Rule{ID: "XX001", Run: func(p *analyze.Pass) {
	p.Report(report.Note, report.Finding{Message: fmt.Sprintf("%d steps", len(p.Normalized)), Fix: "nothing"})
}}

// An audit goes by the traces where they have token counts, else by the logs.
func TestAuditNormalization(t *testing.T) {
	counted := loop{1, [][]int64{{30, 10}, {20, 5}}, "1", []string{"DivBackward0"}, false, false, true}
	silent := counted
	silent.noted = false
	tokens := analyze.Options{Logs: analyze.Logs{Tokens: log([]int64{3, 1}), TokensFrom: "log", TokensFound: true}}
	for _, test := range []struct {
		name   string
		traced *loop
		o      analyze.Options
		want   string
	}{
		{"traces", &counted, analyze.Options{}, "micro_mean by trace, micro_mean by trace; XX001 2 steps"},
		{
			"traces before a log that was found",
			&counted,
			tokens,
			"micro_mean by trace, micro_mean by trace; XX001 2 steps",
		},
		{
			"traces without counts, and a log of other micro-batches",
			&silent,
			analyze.Options{Logs: analyze.Logs{Tokens: log([]int64{3, 1, 1}), TokensFrom: "log"}},
			"unknown by unknown; XX001 1 steps; note: no complete step",
		},
		{"traces without counts", &silent, analyze.Options{}, "note: no token counts"},
		{"a log alone", nil, tokens, "unknown by unknown; XX001 1 steps"},
		{"nothing", nil, analyze.Options{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.Rules = []analyze.Rule{said}
			r := normalization.NewReport("v", nil)
			var traced *analyze.Result
			if test.traced != nil {
				a := analyze.New(test.o)
				for i, in := range test.traced.inputs(t) {
					a.Add(i, in)
				}
				traced = a.Result()
			}
			findings := analyze.AuditNormalization(r, traced, test.o)
			var steps, parts []string
			for _, s := range r.Steps {
				steps = append(steps, string(s.Mode)+" by "+string(s.Basis))
			}
			if len(steps) > 0 {
				parts = append(parts, strings.Join(steps, ", "))
			}
			for _, f := range r.Findings {
				parts = append(parts, f.Rule+" "+f.Message)
			}
			for _, n := range r.Notes {
				parts = append(parts, "note: "+n)
			}
			got := strings.Join(parts, "; ")
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			if len(findings) != len(r.Findings) {
				t.Errorf("%d findings, %d in the report", len(findings), len(r.Findings))
			}
		})
	}
}
