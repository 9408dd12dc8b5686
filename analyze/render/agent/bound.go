package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// Bytes is how long an answer is at most unless a caller asks for more.
const Bytes = 4 << 10

// room is how much of everything an answer has.
type room struct {
	findings, evidence, caveats, list, next, files int

	text int // bytes of a text
}

// rooms are tried in order, the largest first. The last one fits whatever the texts are: each
// of their bytes may take six as JSON.
var rooms = []room{
	{1 << 20, 1 << 20, 1 << 20, 1 << 20, 8, 1 << 20, 4000},
	{200, 3, 3, 100, 8, 64, 2000},
	{50, 3, 2, 40, 8, 16, 1000},
	{20, 2, 2, 20, 6, 8, 600},
	{8, 2, 2, 8, 6, 4, 400},
	{5, 2, 1, 6, 5, 4, 300},
	{4, 1, 1, 5, 5, 2, 240},
	{3, 1, 1, 4, 4, 2, 200},
	{3, 1, 0, 3, 4, 1, 150},
	{2, 1, 0, 2, 3, 1, 120},
	{1, 1, 0, 1, 2, 1, 60},
	{1, 1, 0, 1, 1, 1, 24},
	{1, 0, 0, 0, 0, 0, 12},
}

// Within returns the JSON form of as much of an answer as fits into so many bytes, at least Bytes.
func (a *Answer) Within(most int) ([]byte, error) {
	_, text, err := a.fit(most)
	return text, err
}

// Fit returns as much of an answer as Within writes.
func (a *Answer) Fit(most int) (*Answer, error) {
	some, _, err := a.fit(most)
	return some, err
}

func (a *Answer) fit(most int) (some *Answer, text []byte, err error) {
	for _, r := range rooms {
		some = a.cut(r)
		var b bytes.Buffer
		if err := json.NewEncoder(escape.JSONWriter(&b)).Encode(some); err != nil {
			return nil, nil, err
		}
		if text = b.Bytes(); len(text) <= max(most, Bytes) {
			break
		}
	}
	return some, text, nil
}

// cut is an answer with what a room has space for.
func (a *Answer) cut(r room) *Answer {
	c := &cutter{most: r.text}
	b := *a
	b.Verdict = c.text(a.Verdict)
	if a.Run != nil {
		run := *a.Run
		run.Files = c.texts(first(run.Files, r.files))
		run.Device, run.Health = c.text(run.Device), c.text(run.Health)
		run.Parts = c.parts(run.Parts)
		b.Run = &run
	}
	b.Findings, b.Checks, b.Facts, b.Edits, b.Skips = []Finding{}, nil, nil, nil, nil
	for _, f := range first(a.Findings, r.findings) {
		b.Findings = append(b.Findings, c.finding(f, r))
	}
	for _, k := range first(a.Checks, r.list) {
		k.Metric, k.Kind = c.text(k.Metric), c.text(k.Kind)
		k.Severity, k.Unit = report.Severity(c.text(string(k.Severity))), c.text(k.Unit)
		k.Limit, k.Reason = c.text(k.Limit), c.text(k.Reason)
		b.Checks = append(b.Checks, k)
	}
	b.Facts = c.texts(first(a.Facts, r.list))
	for _, e := range first(a.Edits, r.list) {
		e.Edit, e.Title, e.Reason = c.text(e.Edit), c.text(e.Title), c.text(e.Reason)
		b.Edits = append(b.Edits, e)
	}
	for _, s := range first(a.Skips, r.list) {
		b.Skips = append(b.Skips, Skip{c.texts(first(s.Rules, max(4, r.list))), c.text(s.Reason)})
	}
	b.Next = []string{}
	for _, line := range first(a.Next, r.next) {
		if len(line) <= 2*r.text { // half a command is none
			b.Next = append(b.Next, line)
		}
	}
	b.Exit.Reason = c.text(a.Exit.Reason)
	b.LeftOut = LeftOut{Findings: len(a.Findings) - len(b.Findings), Checks: len(a.Checks) - len(b.Checks),
		Facts: len(a.Facts) - len(b.Facts), Edits: len(a.Edits) - len(b.Edits), Skips: len(a.Skips) - len(b.Skips),
		Texts: c.cut}
	return &b
}

// cutter shortens texts and remembers whether it had to.
type cutter struct {
	most int
	cut  bool
}

func (c *cutter) finding(f Finding, r room) Finding {
	f.Rule, f.Severity = c.text(f.Rule), report.Severity(c.text(string(f.Severity)))
	f.Message, f.Why, f.Fix = c.text(f.Message), c.text(f.Why), c.text(f.Fix)
	f.Caveats = c.texts(first(f.Caveats, r.caveats))
	if f.Change != nil {
		f.Change = &report.Change{Before: c.text(f.Change.Before), After: c.text(f.Change.After)}
	}
	evidence := []Evidence{}
	for _, e := range first(f.Evidence, r.evidence) {
		e.File, e.Name, e.Track, e.Code = c.text(e.File), c.text(e.Name), c.text(e.Track), c.text(e.Code)
		evidence = append(evidence, e)
	}
	f.Evidence = evidence
	return f
}

// mostParts is how many kinds of time gaprof itself ever tells apart.
const mostParts = 16

// parts are the largest ones, by names that are cut.
func (c *cutter) parts(all map[string]int64) map[string]int64 {
	names := slices.Collect(maps.Keys(all))
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(all[y], all[x]), cmp.Compare(x, y)) })
	cut := make(map[string]int64)
	for _, name := range first(names, mostParts) {
		cut[c.text(name)] = all[name]
	}
	return cut
}

func (c *cutter) texts(list []string) []string {
	cut := make([]string, len(list))
	for i := range list {
		cut[i] = c.text(list[i])
	}
	return cut
}

// text cuts what is long, at a character.
func (c *cutter) text(s string) string {
	if len(s) <= c.most {
		return s
	}
	c.cut = true
	return strings.ToValidUTF8(s[:c.most-len("…")], "") + "…"
}

func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }
