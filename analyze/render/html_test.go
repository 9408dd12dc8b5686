package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
)

var update = flag.Bool("update", false, "write the golden files")

func page1(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, Options{Made: time.Unix(1700000000, 0)}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sample is the report of a sample trace of this repository, with what figures need.
func sample(t *testing.T) *report.Report {
	t.Helper()
	const name = "reduce-scatter-in-step.trace.txt"
	f, err := os.Open(filepath.Join("..", "..", "traces", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := text.Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Run([]analyze.Input{{File: name, Trace: tr}},
		analyze.Options{Version: "0.1", Rules: rules.All(), Drawing: true, Predict: true, Choices: byFlags})
}

// byFlags is what the command calls the choices that the samples speak of.
var byFlags = map[string]string{"tokens": "--tokens FILE", "show": "--show", "drawing": "analyze --drawing"}

var scripts = regexp.MustCompile(`(?s)<script( type="application/json" id="timelines")?>(.*?)</script>`)

// withoutScripts is a page without the scripts of every page, and their data: what else is
// one stays, and fails where it is found.
func withoutScripts(t *testing.T, page string) string {
	t.Helper()
	return scripts.ReplaceAllStringFunc(page, func(element string) string {
		part := scripts.FindStringSubmatch(element)
		switch data := part[1] != ""; {
		case data && json.Valid([]byte(part[2])) && !strings.ContainsAny(part[2], "<>&"):
		case !data && (part[2] == pageScript || part[2] == timelineScript):
			sum := sha256.Sum256([]byte(part[2]))
			hash := base64.StdEncoding.EncodeToString(sum[:])
			if !strings.Contains(html.UnescapeString(page), "'sha256-"+hash+"'") {
				t.Errorf("the policy forbids the script %.60q", part[2])
			}
		default:
			return element
		}
		return ""
	})
}

// elements calls visit for every element of a page, in order, and returns its text, a
// line for each piece; drawings are their description.
func elements(t *testing.T, page string, visit func(xml.StartElement)) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(withoutScripts(t, page)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var text strings.Builder
	inside := 0 // of drawings and style sheets
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("at byte %d: %v", d.InputOffset(), err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			visit(token)
			if inside > 0 || token.Name.Local == "svg" || token.Name.Local == "style" {
				inside++
			}
			if token.Name.Local == "svg" {
				fmt.Fprintln(&text, attribute(token, "aria-label"))
			}
		case xml.EndElement:
			inside = max(0, inside-1)
		case xml.CharData:
			if s := strings.TrimSpace(string(token)); s != "" && inside == 0 {
				fmt.Fprintln(&text, s)
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// harmless fails where a page could run something or ask for something.
func harmless(t *testing.T, page string) {
	t.Helper()
	ids := make(map[string]bool)
	elements(t, page, func(e xml.StartElement) {
		name := strings.ToLower(e.Name.Local)
		if slices.Contains([]string{
			"script", "iframe", "img", "image", "link", "object", "embed", "form", "base", "use", "foreignobject",
			"animate", "set", "a11y",
		}, name) {
			t.Errorf("an element %s", name)
		}
		for _, a := range e.Attr {
			key, value := strings.ToLower(a.Name.Local), strings.ToLower(a.Value)
			switch {
			case strings.HasPrefix(key, "on"), key == "src", key == "srcdoc", key == "action":
				t.Errorf("an attribute %s=%q of %s", key, value, name)
			case key == "href" && !strings.HasPrefix(value, "#"):
				t.Errorf("a link to %q", value)
			case key == "style" && strings.Contains(value, "url"):
				t.Errorf("a style %q", value)
			case key == "id" && ids[value]:
				t.Errorf("id %q twice", value)
			case key == "id":
				ids[value] = true
			}
		}
	})
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	if regexp.MustCompile(`(?i)url\(|@import|https?:|<`).MatchString(style) {
		t.Error("the style sheet asks for something")
	}
	if i := strings.IndexAny(page, "\x1b\x00\u202e\u2028"); i >= 0 {
		t.Errorf("a character that acts: %q", page[max(0, i-40):i+20])
	}
}

// What the test itself is worth: pages that do something are found out. The decoder is
// that of harmless, so a fault in it would show here.
func TestHarmlessFindsHarm(t *testing.T) {
	for _, bad := range []string{
		"<script>x</script>", `<p onclick="x">`, `<img src=x>`, `<a href="https://example.org">x</a>`,
		`<p style="background:url(x)">`,
	} {
		found := false
		elements(t, "<html>"+bad+"</html>", func(e xml.StartElement) {
			for _, a := range e.Attr {
				found = found || strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" ||
					a.Name.Local == "href" || strings.Contains(a.Value, "url")
			}
			found = found || e.Name.Local == "script"
		})
		if !found {
			t.Errorf("%s is not seen", bad)
		}
	}
}

// hostile are names that try to break out of the text around them.
var hostile = []string{
	nasty, `"><script>alert(1)</script>`, `' onload='alert(1)`, "</style></svg></title><script>alert(1)</script>",
	"javascript:alert(1)",
	"{{.}}", "fill:#1F2328\">", strings.Repeat("long name ", 5000), "\xff\xfe", "&lt;script&gt;", "]]>", "<!--",
}

func TestHostileNames(t *testing.T) {
	for _, name := range hostile {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			r := nastyReport()
			replaceNames(r, name)
			p := page1(t, r)
			harmless(t, p)
			if len(p) > 200_000 {
				t.Errorf("a name makes the page %d bytes long", len(p))
			}
			md := MarkdownPage(r, "x.md", Options{})
			if strings.Contains(md, "<script") || strings.ContainsAny(md, "\x1b\x00\u202e") || len(md) > 400_000 {
				t.Errorf("Markdown of %d bytes: %.200q", len(md), md)
			}
		})
	}
}

// replaceNames puts a name wherever a trace or a damaged report can put one.
func replaceNames(r *report.Report, name string) {
	n, z := int64(7), 0
	r.Version = name
	r.Source = report.Source{
		Files:       []string{name},
		Format:      name,
		Device:      name,
		Ranks:       []int64{0, 1},
		StepSource:  name,
		Fingerprint: report.Fingerprint{Model: name},
	}
	r.Steps[0].Optimizers[0].Name, r.Steps[0].Kind = name, name
	r.Groups[0].Name, r.Groups[0].Site, r.Groups[0].Kind = name, name, name
	r.Kernels[0].Name, r.Kernels[0].Cat = name, name
	r.Collectives[0].Kind, r.Collectives[0].Sites[0].Name = name, name
	r.GradientPasses = []report.GradientPass{
		{Kind: name, Where: name, Optimizer: name, Verdict: report.Verdict(name), Reason: name, Span: 7},
	}
	r.GradientSync = []report.GradientSync{{Optimizer: name, Pattern: name}}
	r.Normalization = report.Normalization{
		Mode:     name,
		Evidence: name,
		Basis:    name,
		Factor:   name,
		Declared: name,
		Tokens:   [][]int64{{1, 2}},
	}
	r.Health.Problems[0].Message, r.Health.Problems[0].Action, r.Health.Problems[0].Severity = name, name, name
	f := &r.Findings[0]
	f.Rule, f.Title, f.Message = name, name, name
	f.Severity = report.Severity(name)
	f.Why, f.Fix = name, name
	f.Caveats, f.Also = []string{name}, []string{name}
	r.Skipped = []report.Skip{{Rule: name, Reason: name}}
	r.Matching.Notes, r.Matching.Groups[0].Name = []string{name}, name
	f.Predicted = &report.Predicted{Edit: name, Assumes: name}
	f.Predicted.Kinds = []report.WhatIfKindRange{{Kind: name}, {Kind: name}}
	r.WhatIf = &report.WhatIf{
		Steps: []report.WhatIfSteps{{Kind: name}},
		Paths: []report.WhatIfPath{{Kind: name, Operations: []report.WhatIfOperation{{Name: name}}}},
		Edits: []report.WhatIfEdit{
			{Edit: name, Title: name, How: name, Limit: name, Fitted: name, Legal: true,
				Gain: &report.WhatIfRange{Mean: 1}, Kinds: []report.WhatIfGain{{Kind: name}}},
			{Edit: name, Reason: name},
		},
	}
	side := report.PredictedSide{Duration: 9}
	side.Strips = []report.Strip{{Row: "host", Class: name, Spans: [][2]int64{{0, 7}}}}
	r.Drawing = &report.Drawing{
		Predicted: &report.PredictedStep{Edit: name, Title: name, Kind: name, Before: side, After: side},
		Collectives: []report.Collective{
			{Kind: name, Site: name, Name: name, Bytes: &n, Duration: 5, Exposed: 1, Step: &z},
		},
		Timelines: []report.Timeline{{Device: name, Kind: name, Duration: 100, Resolution: 1,
			Strips: []report.Strip{{Row: name, Class: name, Spans: [][2]int64{{0, 7}}}}}},
	}
}

// TestPageText: what the page of the sample says, without its drawings.
func TestPageText(t *testing.T) {
	r := sample(t)
	p := page1(t, r)
	harmless(t, p)
	golden(t, "sample.page.txt", elements(t, p, func(xml.StartElement) {}))
	golden(t, "sample.page.md", MarkdownPage(r, "sample.md", Options{Choices: byFlags}))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./analyze/render -update writes it), got:\n%s", path, got)
	}
}

// TestPageSaysTheVerdict: the words are those of the text output.
func TestPageSaysTheVerdict(t *testing.T) {
	r := sample(t)
	words := elements(t, page1(t, r), func(xml.StartElement) {})
	for _, s := range append(verdict(r), also(r)...) {
		if !strings.Contains(words, s.head+"\n"+s.text+"\n") {
			t.Errorf("the page does not say %q", s.text)
		}
	}
}

func TestPageIsTheSameAgain(t *testing.T) {
	first := page1(t, sample(t))
	for range 3 {
		if page1(t, sample(t)) != first {
			t.Fatal("the page differs from one run to the next")
		}
	}
}

// What a page says where there is little to say.
func TestPageOfLittle(t *testing.T) {
	step := report.Step{Kind: "A", HostDuration: 5e6, Complete: true, Optimizers: []report.Optimizer{{Name: "Adam"}}}
	for _, test := range []struct {
		name   string
		report report.Report
		want   []string
	}{
		{
			"nothing",
			report.Report{},
			[]string{
				"no optimizer steps", "No optimizer steps: profile", "No collectives on a device",
				"or the report with Options.Drawing.", "Findings", "None.", "Unknown",
			},
		},
		{"a pipeline, which reduces nothing",
			report.Report{Collectives: []report.Collectives{
				{Kind: "send_recv", Overlap: report.Overlap{Ratio: new(float64)}}}},
			[]string{"None seen", "Neither reduce-scatters nor all-reduces run on a device", "only: send recv."}},
		{"a CPU alone", report.Report{Steps: []report.Step{step}, Drawing: &report.Drawing{}},
			[]string{"Steps, host time in ms", "there is no ledger", "No step has activity on a device"}},
		{
			"no collectives, with the reason",
			report.Report{
				Steps:   []report.Step{step},
				Skipped: []report.Skip{{Rule: "OV001", Reason: "because of gloo"}},
			},
			[]string{"2. How much of each reduce-scatter", "because of gloo"},
		},
		{
			"passes cannot be told",
			report.Report{Steps: []report.Step{step}, Skipped: []report.Skip{{Rule: "GS001", Reason: "no shapes"}}},
			[]string{"Unknown\nno shapes"},
		},
		{"a needless pass", report.Report{Steps: []report.Step{step}, GradientPasses: []report.GradientPass{
			{
				Kind:    "scale",
				Where:   "after_backward",
				Verdict: report.Needless,
				Reason:  "one rank",
				Span:    2e6,
				Busy:    1e6,
			}}},
			[]string{
				"Yes, needless", "scale after backward: needless, 1 in 1 step, 2.000 ms each; one rank",
				"Passes over the gradients, mean of each, ms.",
			}},
		{
			"known counts, unknown divisor",
			report.Report{
				Normalization: report.Normalization{
					Mode:     "unknown",
					Tokens:   [][]int64{{59, 60}},
					Evidence: "token log",
				},
				Source: report.Source{Ranks: []int64{3}},
			},
			[]string{"Unknown\ntoken log", "119\n59 60"},
		},
		{
			"per rank",
			report.Report{
				Normalization: report.Normalization{
					Mode:   "per_rank",
					Basis:  "gradients",
					Factor: "1/R",
					Ratio:  &report.WeightRatio{Min: 0.5, Max: 2},
				},
			},
			[]string{"Per rank", "Known from: gradients", "multiplied by 1/R", "0.5 to 2 times the right weight"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := page1(t, &test.report)
			harmless(t, p)
			words := elements(t, p, func(xml.StartElement) {})
			for _, want := range test.want {
				if !strings.Contains(words, want) {
					t.Errorf("no %q in:\n%s", want, words)
				}
			}
		})
	}
}

// TestPageOfMuch: however much there is, a page stays one that a browser shows at once.
func TestPageOfMuch(t *testing.T) {
	const ranks, steps = 64, 200
	r := sample(t)
	line := r.Drawing.Timelines[0]
	line.Strips = append(line.Strips[:0:0], line.Strips...)
	for i := range line.Strips {
		line.Strips[i].Spans = nil
		for k := range int64(4000) {
			line.Strips[i].Spans = append(line.Strips[i].Spans, [2]int64{
				k * line.Duration / 4000, line.Duration / 9000,
			})
		}
	}
	one, sync := r.Steps[0], r.GradientSync[0]
	r.Steps, r.Ranks, r.Source.Ranks = nil, nil, nil
	r.Drawing.Timelines = nil
	for rank := range int64(ranks) {
		r.Source.Ranks = append(r.Source.Ranks, rank)
		line.Rank, sync.Rank = rank, rank
		r.Drawing.Timelines = append(r.Drawing.Timelines, line)
		r.GradientSync = append(r.GradientSync, sync)
		w := rank * 1e6
		r.Ranks = append(r.Ranks, report.RankWaits{Rank: rank, Wait: &w, WaitCaused: &w})
		for step := range steps {
			one.Rank, one.Index = rank, step
			r.Steps = append(r.Steps, one)
		}
	}
	for len(r.Findings) < 600 {
		r.Findings = append(r.Findings, r.Findings[0])
	}
	for len(r.Findings[0].Evidence) < 600 {
		r.Findings[0].Evidence = append(r.Findings[0].Evidence, r.Findings[0].Evidence...)
	}
	p := page1(t, r)
	for _, want := range []string{"The first 500 of 600: the JSON report has all of them.", "the first 500 of "} {
		if !strings.Contains(p, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := strings.Count(p, `<span class="severity">`); n > 500+1 {
		t.Errorf("%d headings", n)
	}
	if t.Logf("%d bytes", len(p)); len(p) > 3_000_000 {
		t.Errorf("%d ranks of %d steps make a page of %d bytes", ranks, steps, len(p))
	}
	if !strings.Contains(p, "Shown are 9 of 64 ranks") {
		t.Error("the page does not say that it leaves ranks out")
	}
}
