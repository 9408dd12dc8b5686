package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
)

// together analyses examples as the ranks of one run, numbered in their order.
func together(t *testing.T, examples ...string) *report.Report {
	t.Helper()
	var inputs []analyze.Input
	for i, example := range examples {
		tr, err := text.Read(strings.NewReader(example), "example")
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, analyze.Input{File: fmt.Sprint(i), Trace: tr, Lean: true})
	}
	number := func(file string) (rank int64, ok bool) {
		_, err := fmt.Sscan(file, &rank)
		return rank, err == nil
	}
	return analyze.Run(inputs, analyze.Options{Rules: perRank(), RankOf: number, FileFirst: true})
}

// perRank are the rules that look at one rank at a time.
func perRank() []analyze.Rule {
	return slices.DeleteFunc(rules.All(), func(r analyze.Rule) bool { return r.Scope != analyze.PerRank })
}

// priced is what a finding says of cost; counts in its words are sums over ranks.
func priced(f report.Finding) string {
	text := fmt.Sprintf("%s %s %v %v", f.Rule, f.Severity, f.Kinds, f.Also)
	if f.Cost != nil {
		text += fmt.Sprintf(" %d %g", *f.Cost, *f.Share)
	}
	if f.Saving != nil {
		text += fmt.Sprintf(" %d..%d", f.Saving.Low, f.Saving.High)
	}
	return text
}

func found(r *report.Report, keep func(report.Finding) string) []string {
	var list []string
	for _, f := range r.Findings {
		if text := keep(f); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

func ruleOf(f report.Finding) string { return f.Rule }

// examples are those of the rules that look at one rank at a time.
func examples() map[string]string {
	list := make(map[string]string)
	for _, rule := range perRank() {
		for _, which := range []rules.Which{rules.Fires, rules.Silent} {
			if text, ok := rules.Example(rule.ID, which); ok {
				list[rule.ID+" "+string(which)] = text
			}
		}
	}
	return list
}

// Three ranks that do the same cost what one of them costs, in every step.
func TestPerRankRulesOverEqualRanks(t *testing.T) {
	for name, example := range examples() {
		one, three := together(t, example), together(t, example, example, example)
		if alone, all := found(one, priced), found(three, priced); !slices.Equal(alone, all) {
			t.Errorf("%s: one rank\n%s\nthree\n%s", name, strings.Join(alone, "\n"), strings.Join(all, "\n"))
		}
	}
}

// Of two ranks that differ a rule finds what it finds on either alone, and no more. A cost
// is the mean over the steps of both: it may become too small to be told, here it does not.
func TestPerRankRulesOverUnlikeRanks(t *testing.T) {
	list := examples()
	for _, rule := range perRank() {
		fires, silent := list[rule.ID+" fires"], list[rule.ID+" silent"]
		want := found(together(t, fires), ruleOf)
		for _, id := range found(together(t, silent), ruleOf) {
			if !slices.Contains(want, id) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		for order, got := range [][]string{
			found(together(t, fires, silent), ruleOf),
			found(together(t, silent, fires), ruleOf),
		} {
			if !slices.Equal(got, want) {
				t.Errorf("%s, order %d: got %v, want %v", rule.ID, order, got, want)
			}
		}
	}
}

// A rule that looks at one rank at a time has no need that only all ranks can meet, and
// does not see what they say together: asking for it is a bug of the rule.
func TestPerRankRulesSeeOneRank(t *testing.T) {
	for _, rule := range perRank() {
		for _, need := range rule.Needs {
			if need.All != nil {
				t.Errorf("%s needs %s, of all ranks", rule.ID, need.Name)
			}
		}
	}
	nosy := analyze.Rule{ID: "XX001", Scope: analyze.PerRank, Run: func(p *analyze.Pass) { p.Matched() }}
	defer func() {
		if err := recover(); err == nil || !strings.Contains(fmt.Sprint(err), "XX001") {
			t.Errorf("a rule that asks for more: %v", err)
		}
	}()
	tr, err := text.Read(strings.NewReader(examples()["OV001 fires"]), "example")
	if err != nil {
		t.Fatal(err)
	}
	analyze.Run([]analyze.Input{{Trace: tr}}, analyze.Options{Rules: []analyze.Rule{nosy}})
}
