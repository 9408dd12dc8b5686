package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

type (
	part   = report.Part
	causes = report.IdleCauses
)

// partsReport is a report on steps of 100 ms with such parts in ms, of which a rule claims.
func partsReport(findings []report.Finding, idle causes, parts ...part) *report.Report {
	t := &report.Time{Of: "step", Count: 3, Idle: &idle}
	for i := range parts {
		parts[i].Mean *= 1e6
		t.Length += parts[i].Mean
	}
	for i := range parts {
		parts[i].Share = float64(parts[i].Mean) / float64(t.Length)
	}
	t.Parts = parts
	return &report.Report{Time: t, Findings: findings}
}

func verdictText(r *report.Report) string {
	var lines []string
	for _, s := range verdict(r) {
		lines = append(lines, strings.TrimSpace(s.head+" "+s.text+" | "+s.right))
	}
	return strings.Join(lines, "\n")
}

// The verdict names the largest part beside compute, whether a rule judges it or not, and
// that all is well only where compute takes more than 90 %.
func TestVerdictOfParts(t *testing.T) {
	note := []report.Finding{{Rule: "OV009", Severity: report.Note, Message: "m"}}
	warn := []report.Finding{{Rule: "OV008", Severity: report.Warn, Message: "m", Why: "w", Fix: "f"}}
	claim := func(rule string, ms int64) []report.PartClaim {
		return []report.PartClaim{{Rule: rule, Mean: ms * 1e6}}
	}
	gaps := causes{KernelGap: 8e6}
	for _, test := range []struct {
		name string
		r    *report.Report
		want string
	}{
		{"well", partsReport(nil, gaps, part{What: "compute", Mean: 92}, part{What: "idle", Mean: 8}),
			"VERDICT nothing above a note: 92.0 % of 100.0 ms is compute, then idle: kernel gaps 8.00 ms/step " +
				"(8.0 % of 100.0 ms) |"},
		{"ninety percent is not more than ninety", partsReport(nil, causes{}, part{What: "compute", Mean: 90},
			part{What: "memory", Mean: 10}),
			"VERDICT copies and memsets 10.00 ms/step (10.0 % of 100.0 ms) is MOST | no finding\n" +
				"WHY compute 90.0 %, copies and memsets 10.0 % |\nNEXT " + hints["memory"] + " |"},
		{"a kind of communication", partsReport(note, causes{}, part{What: "compute", Mean: 80},
			part{What: "all_to_all", Mean: 20}),
			"VERDICT all-to-all exposed 20.00 ms/step (20.0 % of 100.0 ms) is MOST | no finding\n" +
				"WHY compute 80.0 %, all-to-all exposed 20.0 % |"},
		{"a note says it", partsReport(note, causes{}, part{What: "compute", Mean: 80},
			part{What: "all_gather", Mean: 20, Claims: claim("OV009", 12)}),
			"VERDICT all-gather exposed 20.00 ms/step (20.0 % of 100.0 ms) is MOST | OV009 note\n" +
				"WHY compute 80.0 %, all-gather exposed 20.0 % |"},
		{"several causes", partsReport(nil, causes{NoOperator: 10e6, HostOperators: 6e6},
			part{What: "compute", Mean: 84}, part{What: "idle", Mean: 16}),
			"VERDICT idle (62 % no operator on the host, 38 % host operators) 16.00 ms/step (16.0 % of 100.0 ms)" +
				" is MOST | no finding\nWHY compute 84.0 %, idle 16.0 % |\nNEXT " + hints[noOperator] + " |"},
		{"a finding has it", partsReport(warn, gaps, part{What: "all_reduce", Mean: 60, Claims: claim("OV008", 55)},
			part{What: "compute", Mean: 40}), "VERDICT m | OV008 warn\nWHY w |\nNEXT f | gaprof explain OV008"},
		{"a finding has little of it", partsReport(warn, gaps,
			part{What: "memory", Mean: 60, Claims: claim("OV008", 29)}, part{What: "compute", Mean: 40}),
			"VERDICT m | OV008 warn\nWHY w |\nNEXT f | gaprof explain OV008\n" +
				"LARGEST copies and memsets 60.00 ms/step (60.0 % of 100.0 ms) is MOST | no finding"},
		{"findings that were left out count for nothing", partsReport(warn, gaps,
			part{What: "memory", Mean: 60, Claims: claim("OV001", 59)}, part{What: "compute", Mean: 40}),
			"VERDICT m | OV008 warn\nWHY w |\nNEXT f | gaprof explain OV008\n" +
				"LARGEST copies and memsets 60.00 ms/step (60.0 % of 100.0 ms) is MOST | no finding"},
		{"no device", &report.Report{Skipped: []report.Skip{{Rule: "OV001"}}},
			"VERDICT where the time goes is unknown: no device activity was recorded; 1 rule could not be judged | " +
				"no finding"},
		{"no device, with steps and notes", &report.Report{Steps: make([]report.Step, 1), Findings: note},
			"VERDICT where the time of a step goes is unknown: no device activity was recorded | only notes"},
		{"steps without activity", &report.Report{Steps: make([]report.Step, 1),
			Health: report.Health{TimeUnknown: "the steps have no device activity"}},
			"VERDICT where the time of a step goes is unknown: the steps have no device activity | no finding"},
		{"only compute", partsReport(nil, causes{}, part{What: "compute", Mean: 5}),
			"VERDICT nothing above a note |"},
	} {
		want := strings.ReplaceAll(test.want, "MOST", "most of what is not compute")
		if got := verdictText(test.r); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, want)
		}
	}
}

// Without steps it is the recording that is spoken of; no format is silent.
func TestVerdictOfRecording(t *testing.T) {
	r := partsReport(nil, causes{}, part{What: report.OtherPart, Mean: 70}, part{What: "compute", Mean: 30})
	r.Time.Of, r.Time.Idle = "recording", nil
	const want = "communication of unknown kind exposed 70.00 ms (70.0 % of 100.0 ms recorded)"
	for _, name := range []string{"text", "md", "html", "github"} {
		f, err := Reports.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.Write(&b, r, Options{}); err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer("no finding", "", "%25", "%").Replace(b.String())
		plain = strings.Join(strings.Fields(plain), " ")
		if !strings.Contains(plain, want) {
			t.Errorf("%s does not say it:\n%.2000s", name, b.String())
		}
	}
}

// The page says of a reduction without a finding how much of it is exposed, never that no rule
// found enough.
func TestExposedWords(t *testing.T) {
	r := partsReport(nil, causes{}, part{What: "compute", Mean: 40}, part{What: "all_reduce", Mean: 60})
	ratio := 0.0
	r.Steps = []report.Step{{Kind: "A"}}
	over := report.Overlap{Busy: 60, Ratio: &ratio}
	r.Collectives = []report.Collectives{{Kind: "all_reduce", Count: 1, Overlap: over}}
	words := strings.Join(overlapSection(r).words, "\n")
	if !strings.Contains(words, "all-reduce exposed 60.00 ms/step (60.0 % of 100.0 ms), which no finding covers") {
		t.Error(words)
	}
	r.Skipped = []report.Skip{{Rule: "OV008", Reason: "no launches"}}
	if words := strings.Join(overlapSection(r).words, "\n"); !strings.Contains(words, "no launches") {
		t.Error(words)
	}
}
