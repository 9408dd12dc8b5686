package rules

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/text"
)

// plainSteps is a trace of n steps of a millisecond each on one device. Of each the device computes
// for 300 us in forward, for 200 us in backward and for 10 us in the optimizer; then it all-reduces for 100 us,
// reduce-scatters for 100 us, and is idle for 290 us. Steps are complete but the first and the last.
func plainSteps(n int) string {
	var b strings.Builder
	b.WriteString("distributed backend=nccl rank=0 world_size=8\nthread 1/1 process=python name=main\n" +
		"thread 1/2 name=autograd\n")
	corr := 0
	launch := func(thread string, at int, kernel string, start, us, stream int, more string) {
		corr++
		fmt.Fprintf(&b, "1/%s %dus +2us cuda_runtime cudaLaunchKernel corr=%d\n", thread, at, corr)
		fmt.Fprintf(&b, "0/%d %dus +%dus kernel %s corr=%d stream=%d%s\n", stream, start, us, kernel, corr, stream,
			more)
	}
	for i := range n {
		at := 1000 * i
		launch("1", at+1, "gemm", at+10, 300, 7, "")
		fmt.Fprintf(&b, "1/2 %dus +30us cpu_op \"autograd::engine::evaluate_function: AddmmBackward0\"\n", at+20)
		launch("2", at+21, "gemm_backward", at+310, 200, 7, "")
		launch("2", at+30, "ncclDevKernel_AllReduce_Sum_f32_RING_LL()", at+510, 100, 20, "")
		launch("2", at+40, "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL()", at+610, 100, 20, "")
		fmt.Fprintf(&b, "1/1 %dus +20us user_annotation Optimizer.step#AdamW.step\n", at+60)
		launch("1", at+65, "adam", at+1000, 10, 7, "")
	}
	return b.String()
}

// commOf is what stands in the place of all-reduces for rules about other kinds.
var commOf = map[string]string{"OV009": "AllGather", "OV010": "SendRecv", "OV011": "AllToAll", "OV012": "Broadcast"}

// onFacts is a rule, and a change of the facts that it sees.
type onFacts struct {
	name   string
	rule   analyze.Rule
	change func(p *analyze.Pass, r *analyze.Rank) // of the only rank
}

// ruled runs one rule without its needs on six plain steps, after a change of their facts, and says what it
// found in text.
func (c *onFacts) ruled(t *testing.T) string {
	t.Helper()
	source := plainSteps(6)
	if kind := commOf[c.rule.ID]; kind != "" {
		source = strings.ReplaceAll(source, "AllReduce_Sum_f32", kind)
	}
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	probe := c.rule
	probe.Needs = nil
	probe.Run = func(p *analyze.Pass) {
		c.change(p, p.Ranks[0])
		c.rule.Run(p)
	}
	o := analyze.Options{Rules: []analyze.Rule{probe}, PeakBandwidth: 1_000_000_000_000}
	var b strings.Builder
	for _, f := range analyze.Run([]analyze.Input{{File: "rank0.txt", Trace: tr}}, o).Findings {
		told(&b, &f, &c.rule.Doc)
	}
	return b.String()
}

// TestFiguresOnFacts holds what rules say of facts at their bounds: what is just enough, and what is not. Facts
// are set by hand, so that one thing at a time is at its bound.
func TestFiguresOnFacts(t *testing.T) {
	var b strings.Builder
	for _, list := range [][]onFacts{passFacts(), loopFacts(), timeFacts(), otherFacts()} {
		for i := range list {
			said := list[i].ruled(t)
			fmt.Fprintf(&b, "%s %s\n%s", list[i].rule.ID, list[i].name, cmp.Or(said, "  nothing\n"))
		}
	}
	file := filepath.Join("testdata", "facts.golden")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s:%d differs (-update writes it):\n got %s\nwant %s", file, i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%s has %d lines instead of %d (-update writes it)", file, len(w), len(g))
	}
}

// told writes a finding: each thing that a person reads in a line, but for a fix that is that of the rule.
func told(b *strings.Builder, f *report.Finding, doc *analyze.Doc) {
	fmt.Fprintf(b, "  %s %s: %s\n", f.Rule, f.Severity, f.Message)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(b, "    %s: %s\n", name, text)
		}
	}
	line("why", f.Why)
	if f.Fix != doc.Fix {
		line("fix", f.Fix)
	}
	if f.Cost != nil {
		line("cost", fmt.Sprint(*f.Cost))
	}
	if f.Saving != nil {
		line("saving", fmt.Sprintf("%d to %d", f.Saving.Low, f.Saving.High))
	}
	if f.CostBytes != nil {
		line("bytes", fmt.Sprintf("%d, saves %d to %d", *f.CostBytes, f.SavingBytes.Low, f.SavingBytes.High))
	}
	line("caveats", strings.Join(f.Caveats, "; "))
	var events []string
	for _, e := range f.Evidence {
		events = append(events, fmt.Sprintf("%s at %d", e.Name, e.Start/1000))
	}
	line("evidence", strings.Join(events, ", "))
}
