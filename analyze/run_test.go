package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

// read makes a trace of its text form.
func read(t *testing.T, source string) *trace.Trace {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// stepping is n steps of 1000 ns: a kernel of 600, then a reduce-scatter of rs ns.
func stepping(n, rs int) string {
	var b strings.Builder
	for i := range n {
		t := 1000 * i
		fmt.Fprintf(&b, `1/1 %d +1 cpu_op torch::autograd::AccumulateGrad
1/1 %d +50 user_annotation Optimizer.step#A.step
1/1 %d +1 cuda_runtime launch corr=%d
1/1 %d +1 cuda_runtime launch corr=%d
0/7 %d +600 kernel gemm corr=%d
0/9 %d +%d kernel ncclDevKernel_ReduceScatter corr=%d
`, t+5, t+10, t+11, 2*i+1, t+12, 2*i+2, t+100, 2*i+1, t+700, rs, 2*i+2)
	}
	return b.String()
}

// claimRule claims up to ns of the reduce-scatter bucket of every step.
func claimRule(id string, ns int64) Rule {
	return Rule{ID: id, Doc: Doc{Title: id, Fix: "fix"}, Run: func(p *Pass) {
		var cost Cost
		for _, r := range p.Ranks {
			for i := range r.Steps {
				if !r.Selected(i) {
					continue
				}
				got, others := p.Claim(r, i, 0, timeline.ReduceScatterBucket, ns)
				cost.Add(r, i, got)
				p.Remark(others)
			}
		}
		p.ReportCost(&cost, func(mean, step int64) report.Finding {
			return report.Finding{Message: id, Saving: &report.Range{High: mean}}
		})
	}}
}

func TestClaimsNeverExceedTheLedger(t *testing.T) {
	in := []Input{{File: "f", Trace: read(t, stepping(3, 100))}}
	r := Run(in, Options{Rules: []Rule{claimRule("AA001", 60), claimRule("AA002", 80), claimRule("AA003", 10)}})
	var got []string
	for _, f := range r.Findings {
		got = append(got, fmt.Sprintf("%s %d also %v", f.Rule, *f.Cost, f.Also))
	}
	if want := "AA001 60 also [AA002 AA003], AA002 40 also [AA003]"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestSeverityFollowsTheShare(t *testing.T) {
	for _, test := range []struct {
		rs   int
		want string
	}{{0, ""}, {1, "note"}, {9, "note"}, {10, "warn"}, {99, "warn"}, {100, "error"}, {300, "error"}} {
		r := Run([]Input{{File: "f", Trace: read(t, stepping(5, test.rs))}},
			Options{Rules: []Rule{claimRule("AA001", math.MaxInt64)}})
		got := ""
		for _, f := range r.Findings {
			got = string(f.Severity)
		}
		if got != test.want {
			t.Errorf("%d of 1000 ns: %q, want %q", test.rs, got, test.want)
		}
	}
}

func TestSelection(t *testing.T) {
	in := []Input{
		{File: "a-rank3.json", Trace: read(t, stepping(4, 100))},
		{File: "b", Trace: read(t, stepping(4, 100))},
	}
	fromName := func(file string) (int64, bool) { return 3, strings.Contains(file, "rank3") }
	all := Run(in, Options{RankOf: fromName})
	if !slices.Equal(all.Source.Ranks, []int64{0, 3}) || len(all.Steps) != 8 {
		t.Errorf("ranks %v, %d steps", all.Source.Ranks, len(all.Steps))
	}
	if !slices.ContainsFunc(all.Health.Problems, func(p report.Problem) bool {
		return p.Code == string(trace.RankAssigned) && p.File == "b"
	}) {
		t.Error("the assigned rank is not said")
	}
	some := Run(in, Options{
		RankOf: fromName,
		Ranks:  func(r int64) bool { return r == 3 },
		Steps:  func(n int) (int, int) { return n - 1, n },
		Rules:  []Rule{claimRule("AA001", 50)},
	})
	if len(some.Steps) != 1 || some.Steps[0].Rank != 3 || some.Steps[0].Index != 3 || *some.Findings[0].Cost != 50 {
		t.Errorf("%+v", some.Steps)
	}
	none := Run(in, Options{RankOf: fromName, Rules: []Rule{claimRule("AA001", 50)}, MinCost: 51})
	share := Run(in, Options{RankOf: fromName, Rules: []Rule{claimRule("AA001", 50)}, MinShare: 0.06})
	if len(none.Findings)+len(share.Findings) != 0 {
		t.Error("findings below --min-impact")
	}
}

func TestRanksThatClash(t *testing.T) {
	one := "distributed rank=1 world_size=2\n" + stepping(2, 10)
	r := Run([]Input{{File: "a", Trace: read(t, one)}, {File: "b", Trace: read(t, one)}}, Options{})
	if !slices.Equal(r.Source.Ranks, []int64{0, 1}) {
		t.Errorf("ranks %v", r.Source.Ranks)
	}
	if !slices.ContainsFunc(r.Health.Problems, func(p report.Problem) bool {
		return p.Code == string(trace.RankConflict)
	}) {
		t.Error("the conflict is not said")
	}
}

func TestSkippedRules(t *testing.T) {
	rule := claimRule("AA001", 1)
	rule.Needs = []Need{NeedCollectives}
	r := Run([]Input{{File: "f", Trace: read(t, "1/1 0 +5 user_annotation Optimizer.step#A.step")}},
		Options{Rules: []Rule{rule}})
	if len(r.Skipped) != 1 || r.Skipped[0].Rule != "AA001" || r.Skipped[0].Reason != NeedCollectives.Missing {
		t.Errorf("%+v", r.Skipped)
	}
	if *r.Source.WorldSize != 1 {
		t.Errorf("world size %v of a run alone", r.Source.WorldSize)
	}
}

func TestNoInput(t *testing.T) {
	r := Run(nil, Options{})
	if len(r.Source.Ranks) != 0 || r.Findings == nil || r.Steps == nil {
		t.Errorf("%+v", r)
	}
}

// asJSON is v as a reader of its JSON form sees it.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSchema: the schema names every field and permits more.
func TestSchema(t *testing.T) {
	s, err := report.JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"schema", "source", "health", "steps", "collectives", "findings", "skipped", "exit",
	} {
		if s.Properties[field] == nil {
			t.Errorf("no %s in the schema", field)
		}
	}
	if s.AdditionalProperties != nil || s.Properties["steps"].Items.AdditionalProperties != nil {
		t.Error("the schema forbids fields that later versions may add")
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	made := Run([]Input{{File: "f", Trace: read(t, stepping(3, 100))}}, Options{Rules: []Rule{claimRule("AA001", 60)}})
	if err := resolved.Validate(asJSON(t, made)); err != nil {
		t.Error(err)
	}
}

// What a report says is there again when it is read.
func TestReportIsReadBack(t *testing.T) {
	made := Run([]Input{{File: "f", Trace: read(t, stepping(3, 100))}}, Options{Rules: []Rule{claimRule("AA001", 60)}})
	data, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	back, err := report.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%v\n%s\n%s", err, data, again)
	}
	if _, err := report.Read(strings.NewReader("\xef\xbb\xbf" + string(data))); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
}
