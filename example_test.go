package gaprof_test

import (
	"fmt"
	"log"
	"os"

	"github.com/gaprof/gaprof"
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
)

// Read a file.
func ExampleOpen() {
	t, err := gaprof.Open("traces/reduce-scatter-in-hook.json")
	if err != nil {
		log.Fatal(err)
	}
	d := t.Meta().Distributed
	fmt.Printf("%d events on %d tracks, rank %d of %d\n", t.Len(), len(t.Tracks()), d.Rank, d.WorldSize)
	// Output:
	// 201 events on 4 tracks, rank 0 of 2
}

// Range over the kernels of a trace.
func ExampleOpen_kernels() {
	t, err := gaprof.Open("traces/reduce-scatter-in-hook.json")
	if err != nil {
		log.Fatal(err)
	}
	streams := make(map[string]int64) // ns by stream
	var longest trace.Event
	for e := range t.Events(trace.CatKernel) {
		streams[e.TextByName("stream")] += e.Dur()
		if longest == (trace.Event{}) || e.Dur() > longest.Dur() {
			longest = e
		}
	}
	fmt.Println(streams)
	fmt.Printf("%s takes %d ns, from %d ns on\n", longest.Name(), longest.Dur(), longest.Start())
	// Output:
	// map[20:5400000 7:15600000]
	// sgemm_backward takes 800000 ns, from 2608000 ns on
}

// Arguments of events are found by the names that the file gives them.
func ExampleRead() {
	file, err := os.Open("traces/reduce-scatter-in-hook.json")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	t, err := gaprof.Read(file)
	if err != nil {
		log.Fatal(err)
	}
	for e := range t.Events(trace.CatCPUOp) {
		if name := e.TextByName("Collective name"); name != "" {
			fmt.Println(name, e.TextByName("In msg nelems"), e.TextByName("dtype"))
			break
		}
	}
	// Output:
	// _allgather_base 2000000 Float
}

// Analyze a run: all rules, on all ranks whose traces are in a folder.
func ExampleAnalyze() {
	r, err := gaprof.Analyze([]string{"traces/demo-before"}, gaprof.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d ranks, %d steps, %s\n", len(r.Source.Ranks), len(r.Steps), r.Source.Device)
	for _, f := range r.Findings {
		fmt.Println(f.Rule, f.Severity, f.Title)
	}
	// Output:
	// 2 ranks, 4 steps, linux/amd64 cpu
	// OV004 error gradient reductions are launched only inside the optimizer step, or after backward
	// NM001 error each rank divides by its own tokens
	// GS002 note avoidable scaling of the gradients
}

// A rule of one's own runs after those of gaprof.
func ExampleRules() {
	many := analyze.Rule{
		ID:    "MY001",
		Doc:   analyze.Doc{Title: "many small collectives", Fix: "use larger buckets"},
		Needs: []analyze.Need{analyze.NeedCollectives},
		Run: func(p *analyze.Pass) {
			for _, r := range p.Ranks {
				if n := len(r.Collectives); n > 10 {
					p.Report(report.Note, report.Finding{Message: fmt.Sprintf("rank %d has %d collectives", r.ID, n)})
				}
			}
		},
	}
	t, err := gaprof.Open("traces/reduce-scatter-in-step.json")
	if err != nil {
		log.Fatal(err)
	}
	r, err := gaprof.AnalyzeTrace(t, gaprof.Options{Rules: append(gaprof.Rules(), many)})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Findings {
		fmt.Println(f.Rule, f.Message)
	}
	// Output:
	// OV004 reduce-scatter exposed 1.20 ms/step (17.6 % of 6.8 ms)
	// OV009 all-gather exposed 0.30 ms/step (4.5 % of 6.8 ms)
	// MY001 rank 0 has 24 collectives
}

// Say what changed between two runs.
func ExampleDiff() {
	var reports []*report.Report
	for _, file := range []string{"traces/reduce-scatter-in-step.json", "traces/reduce-scatter-in-hook.json"} {
		r, err := gaprof.Analyze([]string{file}, gaprof.Options{})
		if err != nil {
			log.Fatal(err)
		}
		reports = append(reports, r)
	}
	d := gaprof.Diff(reports[0], reports[1])
	for _, m := range d.Moves {
		if m.From.Site != m.To.Site {
			fmt.Printf("%d x %s: %s -> %s\n", m.New, m.Collective, m.From.Site, m.To.Site)
		}
	}
	for _, f := range d.Findings {
		fmt.Println(f.Rule, f.Change)
	}
	// Output:
	// 12 x reduce_scatter: optimizer_step -> backward_hook
	// OV004 disappeared
	// OV001 appeared
	// OV009 stayed
}
