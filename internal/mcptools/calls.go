package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/agent"
	"github.com/gaprof/gaprof/analyze/report"
)

// runInput names a run.
type runInput struct {
	Path  string `json:"path" jsonschema:"trace, folder or glob pattern of the traces of one run, below the root"`
	Steps string `json:"steps,omitempty" jsonschema:"only these optimizer steps: 3:8 (without 8) or last:5"`
	Ranks string `json:"ranks,omitempty" jsonschema:"only these ranks: 0,4-7"`
}

// mostAnswer is how long the answer of a command may be, in bytes: that of the format agent is far less.
const mostAnswer = 1 << 20

// answer runs a command in the format agent.
func (s *server) answer(ctx context.Context, args ...string) (*Answer, error) {
	var out bytes.Buffer
	if err := s.run(ctx, &limited{&out, mostAnswer}, args...); err != nil {
		return nil, err
	}
	a := new(Answer)
	if err := json.Unmarshal(out.Bytes(), &a.Answer); err != nil {
		return nil, err
	}
	a.Next, a.Calls = []string{}, []Call{}
	return a, nil
}

// command is the words of a command in a format.
func (s *server) command(name, format string, flags []string, files ...string) []string {
	return append(append(append([]string{name}, s.Flag(format)...), append(flags, "--")...), files...)
}

func (s *server) analyze(ctx context.Context, in runInput) (*Answer, error) {
	files, err := s.files(in.Path)
	if err != nil {
		return nil, err
	}
	a, err := s.answer(ctx, s.command("analyze", "agent", s.flags("steps", in.Steps, "ranks", in.Ranks), files...)...)
	if err != nil {
		return nil, err
	}
	for i, f := range a.Findings {
		if i < 2 {
			a.Calls = append(a.Calls, Call{"explain", map[string]string{"rule": f.Rule}})
		}
	}
	if a.LeftOut.Findings > 0 || a.LeftOut.Texts {
		a.Calls = append(a.Calls, Call{"findings", map[string]string{"path": in.Path}})
	}
	a.Calls = append(a.Calls, Call{"whatif", map[string]string{"path": in.Path}})
	return a, nil
}

// compareInput names two runs.
type compareInput struct {
	Base string `json:"base" jsonschema:"traces of the run before the change, or its report as JSON"`
	New  string `json:"new" jsonschema:"traces of the run after the change, or its report as JSON"`
}

func (s *server) compare(ctx context.Context, in compareInput) (*Answer, error) {
	words := append([]string{"diff"}, s.Flag("agent")...)
	for _, side := range []struct{ choice, path string }{{"base", in.Base}, {"new", in.New}} {
		files, err := s.files(side.path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			words = append(words, s.flags(side.choice, file)...)
		}
	}
	a, err := s.answer(ctx, words...)
	if err != nil {
		return nil, err
	}
	a.Calls = append(a.Calls, Call{"analyze", map[string]string{"path": in.New}})
	return a, nil
}

// whatifInput names a run and changes of it.
type whatifInput struct {
	Path  string   `json:"path" jsonschema:"trace, folder or glob pattern of the traces of one run, below the root"`
	Edits []string `json:"edits,omitempty" jsonschema:"changes to predict together; without, each that applies alone"`
}

func (s *server) whatif(ctx context.Context, in whatifInput) (*Answer, error) {
	files, err := s.files(in.Path)
	if err != nil {
		return nil, err
	}
	a, err := s.answer(ctx, s.command("whatif", "agent", s.flags("edit", strings.Join(in.Edits, ",")), files...)...)
	if err != nil {
		return nil, err
	}
	a.Calls = append(a.Calls, Call{"analyze", map[string]string{"path": in.Path}})
	return a, nil
}

type explainInput struct {
	Rule string `json:"rule,omitempty" jsonschema:"a rule such as OV004, or a metric; without, the list of rules"`
}

// text is a page, cut where it is long.
type text struct {
	Text string `json:"text"`
	Cut  bool   `json:"cut"`
}

// mostText is how long a page may be, in bytes.
const mostText = 12 << 10

func (s *server) explain(ctx context.Context, in explainInput) (*text, error) {
	words := []string{"explain"}
	if in.Rule != "" {
		words = append(words, "--", in.Rule)
	}
	var out bytes.Buffer
	if err := s.run(ctx, &limited{&out, mostAnswer}, words...); err != nil {
		return nil, err
	}
	page := &text{Text: out.String()}
	if len(page.Text) > mostText {
		page.Text, page.Cut = strings.ToValidUTF8(page.Text[:mostText], ""), true
	}
	return page, nil
}

// findingsInput chooses findings of a run.
type findingsInput struct {
	runInput
	Rule     string `json:"rule,omitempty" jsonschema:"only this rule, or rules that begin so: OV"`
	Severity string `json:"severity,omitempty" jsonschema:"at least this one: note, warn or error"`
	Offset   int    `json:"offset,omitempty" jsonschema:"how many to pass over"`
	Limit    int    `json:"limit,omitempty" jsonschema:"how many at most: 1 to 20, 5 if left out"`
}

// findingsOutput is some of the findings of a run.
type findingsOutput struct {
	Total    int             `json:"total" jsonschema:"findings that were asked for"`
	Findings []agent.Finding `json:"findings"`
	Cut      bool            `json:"texts_cut"`
	Next     *int            `json:"next_offset" jsonschema:"where to go on; null at the end"`
	Skips    []agent.Skip    `json:"not_judged" jsonschema:"rules that did not run, and what would let them"`
}

// mostFindings is how long the answer of findings is, in bytes.
const mostFindings = 16 << 10

func (s *server) findings(ctx context.Context, in findingsInput) (*findingsOutput, error) {
	least := report.Note
	if in.Severity != "" {
		var err error
		if least, err = report.ParseSeverity(in.Severity); err != nil || least == report.Off {
			return nil, fmt.Errorf("severity: note, warn or error, not %q", in.Severity)
		}
	}
	r, err := s.report(ctx, in.runInput)
	if err != nil {
		return nil, err
	}
	all := agent.OfReport(r, "", agent.Inputs{})
	all.Findings = slices.DeleteFunc(all.Findings, func(f agent.Finding) bool {
		return !f.Severity.AtLeast(least) || !strings.HasPrefix(f.Rule, strings.ToUpper(in.Rule))
	})
	total := len(all.Findings)
	from, to := window(in.Offset, in.Limit, 5, 20, total)
	all.Findings, all.Run = all.Findings[from:to], nil
	some, err := all.Fit(mostFindings)
	if err != nil {
		return nil, err
	}
	out := &findingsOutput{Total: total, Findings: some.Findings, Cut: some.LeftOut.Texts, Skips: some.Skips}
	if end := from + len(some.Findings); end < total {
		out.Next = &end
	}
	return out, nil
}

// window is the part of a list that is asked for.
func window(offset, limit, usual, most, total int) (from, to int) {
	if limit <= 0 {
		limit = usual
	}
	from = min(max(offset, 0), total)
	return from, min(from+min(limit, most), total)
}

// stepsInput chooses steps of a run.
type stepsInput struct {
	runInput
	Offset int `json:"offset,omitempty" jsonschema:"how many rows to pass over"`
	Limit  int `json:"limit,omitempty" jsonschema:"how many rows at most: 1 to 50, 10 if left out"`
}

// stepsOutput is some rows: by rank, then step, then device.
type stepsOutput struct {
	Total int    `json:"total"`
	Steps []step `json:"steps"`
	Next  *int   `json:"next_offset" jsonschema:"where to go on; null at the end"`
}

// step is one optimizer step on one device of a rank, in ns.
type step struct {
	Rank       int64              `json:"rank"`
	Device     string             `json:"device"`
	Index      int                `json:"index"`
	Kind       string             `json:"kind" jsonschema:"of one kind: the same optimizers and accumulation"`
	Complete   bool               `json:"complete"`
	Optimizers []string           `json:"optimizers"`
	Start      *int64             `json:"start_ns" jsonschema:"on the clock of the trace; null unknown"`
	Duration   *int64             `json:"duration_ns"`
	Ledger     *report.Ledger     `json:"ledger_ns" jsonschema:"where it goes; communication is what nothing hides"`
	Idle       *report.IdleCauses `json:"idle_causes_ns"`
}

func (s *server) steps(ctx context.Context, in stepsInput) (*stepsOutput, error) {
	r, err := s.report(ctx, in.runInput)
	if err != nil {
		return nil, err
	}
	from, to := window(in.Offset, in.Limit, 10, 50, len(r.Steps))
	out := &stepsOutput{Total: len(r.Steps), Steps: []step{}}
	for _, row := range r.Steps[from:to] {
		one := step{Rank: row.Rank, Device: short(row.Device), Index: row.Index, Kind: row.Kind, Complete: row.Complete,
			Optimizers: []string{}, Start: row.Start, Duration: row.Duration, Ledger: row.Ledger, Idle: row.Idle}
		for _, o := range row.Optimizers[:min(len(row.Optimizers), 8)] {
			one.Optimizers = append(one.Optimizers, short(o.Name))
		}
		out.Steps = append(out.Steps, one)
	}
	if to < out.Total {
		out.Next = &to
	}
	return out, nil
}

func short(name string) string {
	const most = 80
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}

// limited refuses what goes beyond a number of bytes.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, fmt.Errorf("the answer is too long")
	}
	l.left -= len(p)
	return l.w.Write(p)
}
