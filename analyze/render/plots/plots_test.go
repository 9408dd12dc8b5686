package plots

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	tracetext "github.com/gaprof/gaprof/trace/text"
)

var update = flag.Bool("update", false, "write the golden files")

// sample is the report of a sample trace of this repository, with passes and waits of
// made-up ranks, so that it has every figure.
func sample(t *testing.T) *report.Report {
	t.Helper()
	r := reportOf(t, "reduce-scatter-in-hook.trace.txt")
	r.Drawing.Predicted = reportOf(t, "reduce-scatter-in-step.trace.txt").Drawing.Predicted
	floor := int64(350_000)
	r.GradientPasses = []report.GradientPass{
		{
			Kind:     "scale",
			Where:    "after_backward",
			Verdict:  report.Needless,
			Busy:     400_000,
			Span:     1_000_000,
			Floor:    &floor,
			OnDevice: true,
		},
		{Kind: "zero", Where: "in_optimizer", Verdict: report.Required, Busy: 100_000, Span: 120_000, OnDevice: true},
	}
	r.Ranks = waitsOf(2_000_000, 0, 500_000)
	r.Normalization.Tokens = [][]int64{{59, 60, 14, 11}, {12, 268, 133, 6}}
	r.Drawing.Memory = []report.MemorySeries{memoryOf(12_000_000, 40_000_000, 6)}
	return r
}

// reportOf is the report of a trace of this repository.
func reportOf(t *testing.T, file string) *report.Report {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "traces", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := tracetext.Read(f, "hook")
	if err != nil {
		t.Fatal(err)
	}
	o := analyze.Options{Rules: rules.All(), Drawing: true, Predict: true}
	return analyze.Run([]analyze.Input{{File: "hook", Trace: tr}}, o)
}

// memoryOf is a step of so many ns whose forward passes allocate, and whose backward pass
// releases, an amount of bytes n times.
func memoryOf(ns, bytes int64, n int) report.MemorySeries {
	s := report.MemorySeries{Kind: "cuda", Device: "0", Step: 1, Duration: ns, Phases: []report.Strip{
		{Row: "phase", Class: "forward", Spans: [][2]int64{{0, ns / 2}}},
		{Row: "phase", Class: "backward", Spans: [][2]int64{{ns / 2, ns / 3}}},
		{Row: "phase", Class: "optimizer", Spans: [][2]int64{{ns/2 + ns/3, ns / 6}}},
	}}
	for i := range 2 * n {
		held := bytes * int64(n-max(i-n, n-i))
		s.At = append(s.At, int64(i)*ns/int64(3*n))
		s.Allocated, s.Held = append(s.Allocated, held+2*bytes), append(s.Held, held)
		s.Reserved = append(s.Reserved, bytes*int64(min(i, n)+3))
	}
	return s
}

// waitsOf are ranks that wait for so many ns, each of which the next one causes.
func waitsOf(ns ...int64) []report.RankWaits {
	var rows []report.RankWaits
	for i := range ns {
		caused := ns[(i+len(ns)-1)%len(ns)]
		rows = append(rows, report.RankWaits{Rank: int64(i), Wait: &ns[i], WaitCaused: &caused})
	}
	return rows
}

func TestFigures(t *testing.T) {
	r := sample(t)
	for _, section := range Sections() {
		figures := Of(r, section)
		if len(figures) == 0 {
			t.Errorf("%s has no figure", section)
		}
		for _, f := range figures {
			golden(t, f.ID+".svg", f.File(Wide))
			golden(t, f.ID+".narrow.inline.svg", f.Inline(Narrow))
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./analyze/render/plots -update writes it; look at it)", path)
	}
}

// many is a report of ranks of steps with collectives and timelines.
func many(ranks, steps int) *report.Report {
	r := &report.Report{Drawing: &report.Drawing{}}
	for rank := range int64(ranks) {
		r.Source.Ranks = append(r.Source.Ranks, rank)
		wait := rank * 1000
		r.Ranks = append(r.Ranks, report.RankWaits{Rank: rank, Wait: &wait, WaitCaused: &wait})
		line := report.Timeline{Rank: rank, Duration: 4_000_000, Resolution: 1000}
		for _, row := range []string{"phase", "stream 7", "ledger"} {
			strip := report.Strip{Row: row, Class: "compute"}
			for k := range int64(4000) {
				strip.Spans = append(strip.Spans, [2]int64{1000 * k, 400})
			}
			line.Strips = append(line.Strips, strip)
		}
		r.Drawing.Timelines = append(r.Drawing.Timelines, line)
		for step := range steps {
			start, duration, bytes := int64(step)*1e6, int64(1e6), int64(1+step*step*1000)
			r.Steps = append(r.Steps, report.Step{
				Rank:     rank,
				Index:    step,
				Kind:     string(rune('A' + step%2)),
				Complete: true,
				Start:    &start,
				Duration: &duration,
				Ledger: &report.Ledger{
					Compute:       500_000,
					ReduceScatter: int64(step) * 100,
					Idle:          500_000 - int64(step)*100,
				},
			})
			r.Drawing.Collectives = append(r.Drawing.Collectives,
				report.Collective{
					Rank:     rank,
					Kind:     "reduce_scatter",
					Bytes:    &bytes,
					Duration: 1000,
					Exposed:  int64(step*7) % 1000,
				})
		}
	}
	return r
}

// Reports with little, with nothing and with much.
func TestOddReports(t *testing.T) {
	zero, big := int64(0), int64(1)<<62
	for _, test := range []struct {
		name   string
		report *report.Report
		want   string // the figures
	}{
		{"nothing", &report.Report{}, ""},
		{
			"memory of no time, of no amount, of broken lists, of all there is",
			&report.Report{Drawing: &report.Drawing{Memory: []report.MemorySeries{
				{}, memoryOf(0, 5, 3), memoryOf(9, 0, 3), {Duration: 5, At: []int64{1, 2}, Allocated: []int64{1}},
				memoryOf(1<<40, 1<<50, 300), {Duration: 5, At: []int64{9}, Allocated: []int64{-7}},
			}}},
			"memory-0 memory-1 memory-2",
		},
		{"a CPU alone", &report.Report{Steps: []report.Step{{HostDuration: 5}}, Drawing: &report.Drawing{}}, ""},
		{"one step", many(1, 1), "ledger overlap timeline-0"},
		{
			"a step of no time",
			&report.Report{Steps: []report.Step{{Duration: &zero, Ledger: &report.Ledger{}}}},
			"ledger",
		},
		{"no collectives", &report.Report{Steps: many(1, 3).Steps, Drawing: &report.Drawing{}}, "ledger"},
		{
			"messages of no size",
			&report.Report{
				Drawing: &report.Drawing{Collectives: []report.Collective{{Bytes: &zero, Duration: 1}, {Duration: 1}}},
			},
			"",
		},
		{
			"a message of all the world",
			&report.Report{Drawing: &report.Drawing{Collectives: []report.Collective{{Bytes: &big, Duration: 1}}}},
			"overlap",
		},
		{
			"groups alone",
			&report.Report{
				Groups: []report.CollectiveGroup{{Kind: "all_reduce", Count: 2, Bytes: &big, Busy: 10, Over: 5}},
			},
			"overlap",
		},
		{"one rank that waits for nobody", &report.Report{Ranks: waitsOf(0)}, ""},
		{"ranks that do not wait", &report.Report{Ranks: waitsOf(0, 0)}, "waits"},
		{"no tokens at all", &report.Report{Normalization: report.Normalization{Tokens: [][]int64{{}, {0}}}}, "tokens"},
		{"waits unknown", &report.Report{Ranks: make([]report.RankWaits, 8)}, ""},
		{
			"a timeline of nothing",
			&report.Report{
				Drawing: &report.Drawing{
					Timelines: []report.Timeline{{Duration: 5}, {Strips: make([]report.Strip, 1)}},
				},
			},
			"",
		},
		{"200 steps", many(1, 200), "ledger overlap timeline-0"},
		{"2000 steps", many(1, 2000), "ledger overlap timeline-0"},
		{
			"64 ranks of 40 steps", many(64, 40),
			"ledger overlap timeline-0 timeline-1 timeline-2 timeline-3 timeline-4 timeline-5 timeline-6 timeline-7 " +
				"timeline-8 waits",
		},
		{
			"1000 ranks", many(1000, 2),
			"ledger overlap timeline-0 timeline-1 timeline-2 timeline-3 timeline-4 timeline-5 timeline-6 timeline-7 " +
				"timeline-8 waits",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, section := range Sections() {
				for _, f := range Of(test.report, section) {
					got = append(got, f.ID)
					sound(t, f)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("figures %v, want %s", got, test.want)
			}
		})
	}
}

// mostBytes is what one drawing may take: a page of twenty is far below 3 MB.
const mostBytes = 120_000

// sound checks what every drawing must be: XML that is whole, with a title, a text
// alternative, numbers, and colours by name where it is part of a page.
func sound(t *testing.T, f Figure) {
	t.Helper()
	for _, width := range []int{Wide, Narrow} {
		for form, svg := range map[string]string{"inline": f.Inline(width), "file": f.File(width)} {
			if form == "inline" && regexp.MustCompile(`#[0-9A-Fa-f]{3}`).MatchString(svg) {
				t.Errorf("%s: a colour of its own in a page: %s", f.ID,
					regexp.MustCompile(`.{0,60}#[0-9A-Fa-f]{3}.{0,20}`).FindString(svg))
			}
			if len(svg) > mostBytes {
				t.Errorf("%s, %d wide: %d bytes", f.ID, width, len(svg))
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s: not a number", f.ID)
			}
			if err := whole(svg); err != nil {
				t.Errorf("%s, %s: %v", f.ID, form, err)
			}
			if !strings.Contains(svg, `role="img"`) || f.Title == "" || f.Text == "" || f.Note == "" {
				t.Errorf("%s says too little: %q, %q, %q", f.ID, f.Title, f.Text, f.Note)
			}
		}
	}
}

func whole(svg string) error {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
		}
	}
}

// Reserved memory, memory that is not held and phases that were not recorded have no keys.
func TestMemoryKeys(t *testing.T) {
	s := memoryOf(12_000_000, 40_000_000, 6)
	s.Reserved, s.Held, s.Phases, s.Device = nil, nil, s.Phases[:1], "<script>"
	f := memories(&report.Report{Drawing: &report.Drawing{Memory: []report.MemorySeries{s}}})[0]
	sound(t, f)
	svg := f.File(Wide)
	for text, want := range map[string]bool{
		"allocated": true, "forward": true, "reserved": false, "held until": false, "optimizer": false,
		"<script": false,
	} {
		if strings.Contains(svg, ">"+text) != want && strings.Contains(svg, text+"<") != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}

// Names of streams are drawn: they must be short and harmless.
func TestStreamNames(t *testing.T) {
	for _, name := range []string{
		"<script>alert(1)</script>", "stream \x1b[31m", "\u202eright", strings.Repeat("x", 50000), `"&'`, "",
	} {
		r := many(1, 1)
		r.Drawing.Timelines[0].Strips[1].Row = name
		f := Of(r, Timeline)[0]
		sound(t, f)
		if svg := f.File(Wide); strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\x1b\u202e") {
			t.Errorf("%q gets into the drawing", name)
		}
	}
}

// What is exposed is drawn: a reduce-scatter that something hides is no part of it.
func TestTimelineMarksExposed(t *testing.T) {
	r := many(1, 1)
	strips := &r.Drawing.Timelines[0].Strips
	*strips = []report.Strip{
		{Row: "stream 9", Class: "reduce_scatter", Spans: [][2]int64{{0, 2_000_000}}},
		{Row: "stream 9", Class: "reduce_scatter", Exposed: true, Spans: [][2]int64{{1_000_000, 1_000_000}}},
	}
	svg := Of(r, Timeline)[0].Inline(Wide)
	for _, class := range []ink{rs, hiddenRS} {
		if n := strings.Count(svg, "fill:var(--p-"+class.name+")"); n != 2 { // the legend and the row
			t.Errorf("%s is drawn %d times", class.name, n)
		}
	}
}

func TestRoundSteps(t *testing.T) {
	for _, c := range []struct {
		highest float64
		most    int
		want    float64
	}{{0, 5, 1}, {-1, 5, 1}, {1, 5, 0.2}, {61.4, 6, 20}, {100, 5, 20}, {7e-6, 6, 2e-6}, {3e9, 6, 5e8}, {99, 10, 10}} {
		if got := roundStep(c.highest, c.most); got/c.want < 0.999 || got/c.want > 1.001 {
			t.Errorf("%g in %d steps: %g, want %g", c.highest, c.most, got, c.want)
		}
	}
}

// No two light colours of the palette are equal: tidy finds names by them.
func TestPalette(t *testing.T) {
	seen := make(map[string]bool)
	for _, i := range palette {
		if seen[i.light] || seen[i.name] || !regexp.MustCompile(`^#[0-9A-F]{6}$`).MatchString(i.light+"") ||
			!regexp.MustCompile(`^#[0-9A-F]{6}$`).MatchString(i.dark) {
			t.Errorf("%v", i)
		}
		seen[i.light], seen[i.name] = true, true
	}
}
