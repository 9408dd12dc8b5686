package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/render/agent"
	"github.com/gaprof/gaprof/analyze/report"
)

// mostAgent is how long the answer of the format agent is with all findings asked for, in bytes.
const mostAgent = 64 << 10

// Agent writes the contract gaprof.agent/1: a report in 4 KB at most, or in 64 KB with the
// section of findings.
func Agent(w io.Writer, r *report.Report, o Options) error {
	most := agent.Bytes
	if o.shows("findings") {
		most = mostAgent
	}
	return writeAnswer(w, agent.OfReport(withKinds(r), firstSaid(verdict(r), o), o.inputs(0)), most)
}

// DiffAgent writes what changed as gaprof.agent/1.
func DiffAgent(w io.Writer, d *compare.Diff, o Options) error {
	return writeAnswer(w, agent.OfDiff(d, sentenceWords(diffSentences(d)), o.inputs(0), o.inputs(1)), agent.Bytes)
}

// CheckAgent writes what the gate says as gaprof.agent/1.
func CheckAgent(w io.Writer, c Checked, o Options) error {
	return writeAnswer(w, agent.OfCheck(c.Result, c.Reports, o.inputs(0)), agent.Bytes)
}

// WhatIfAgent writes predictions as gaprof.agent/1.
func WhatIfAgent(w io.Writer, p *report.WhatIf, o Options) error {
	said := whatIfHeadline(p)
	if e := agent.Best(p); e != nil {
		said = fmt.Sprintf("%s gains most: %s ms per step", e.Edit, millis(e.Gain.Mean))
	}
	return writeAnswer(w, agent.OfWhatIf(p, said, o.inputs(0)), agent.Bytes)
}

// firstSaid is the sentence of a verdict.
func firstSaid(list []saying, o Options) string {
	return o.name(strings.TrimSpace(list[0].text + "  " + list[0].right))
}

func writeAnswer(w io.Writer, a *agent.Answer, most int) error {
	text, err := a.Within(most)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// inputs are what the user called a run; none where that is not known.
func (o Options) inputs(i int) agent.Inputs {
	in := agent.Inputs{Name: o.name}
	if i < len(o.Inputs) {
		in.Paths = o.Inputs[i]
	}
	return in
}

// Verdict is what is said first of a report, in a sentence.
func Verdict(r *report.Report, o Options) string { return firstSaid(verdict(withKinds(r)), o) }
