package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/analyze/whatif"
)

// Every edit that a rule names is one.
func TestEditsOfRules(t *testing.T) {
	for _, r := range rules.All() {
		if r.Edit == "" {
			continue
		}
		if uses, err := whatif.Parse([]string{r.Edit}); err != nil || len(uses) != 1 {
			t.Errorf("%s: edit %q: %v", r.ID, r.Edit, err)
		}
	}
}

// What a finding predicts is what the command whatif says of the same steps, its saving lies
// between nothing and its cost, and notes are not replayed.
func TestSavingsOfReplays(t *testing.T) {
	predicted := make(map[string]int) // findings by rule
	hold := func(t *testing.T, name string, inputs []analyze.Input) {
		o := analyze.Options{Rules: rules.All(), Graph: true}
		a := analyze.New(o)
		for i, in := range inputs {
			a.Add(i, in)
		}
		result := a.Result()
		var rows *report.WhatIf
		for i := range result.Report.Findings {
			f := &result.Report.Findings[i]
			if s := f.Saving; f.Cost != nil && s != nil && (s.Low < 0 || s.Low > s.High || s.High > *f.Cost) {
				t.Errorf("%s: %s costs %d and saves %d to %d", name, f.Rule, *f.Cost, s.Low, s.High)
			}
			if f.Predicted == nil {
				continue
			}
			predicted[f.Rule]++
			if f.Severity == report.Note {
				t.Errorf("%s: %s is a note and was replayed", name, f.Rule)
			}
			if rows == nil {
				rows, _, _ = result.World.Report(whatif.Each())
			}
			agrees(t, name, f, rows)
		}
	}
	smallTraces(t, hold)
	for _, pattern := range []string{
		"gpu/nanogpt-current.json.gz", "gpu/normuon-rank*.json.gz", "idle/resnet50-loader-in-main.json.gz",
	} {
		files, _ := filepath.Glob("../../../shared/traces/" + pattern)
		if len(files) == 0 {
			t.Logf("SKIP: no %s", pattern)
			continue
		}
		hold(t, pattern, readAll(t, files...))
	}
	t.Logf("replayed findings by rule: %v", predicted)
	if len(predicted) < 8 {
		t.Errorf("findings of %d rules were replayed", len(predicted))
	}
}

// agrees compares a finding with the row of its edit.
func agrees(t *testing.T, name string, f *report.Finding, r *report.WhatIf) {
	t.Helper()
	for i := range r.Edits {
		e := &r.Edits[i]
		if e.Edit != f.Predicted.Edit {
			continue
		}
		switch {
		case !e.Legal:
			t.Errorf("%s: %s: %s does not apply: %s", name, f.Rule, e.Edit, e.Reason)
		case len(f.Predicted.Kinds) == len(e.Kinds) && f.Predicted.Gain != *e.Gain:
			t.Errorf("%s: %s predicts %+v, whatif %+v", name, f.Rule, f.Predicted.Gain, *e.Gain)
		}
		return
	}
	t.Errorf("%s: %s: no edit %s", name, f.Rule, f.Predicted.Edit)
}
