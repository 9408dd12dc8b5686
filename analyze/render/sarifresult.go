package render

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// sarifResult is a finding. Its fingerprint is the same for the same finding of the next run;
// GitHub looks at primaryLocationLineHash alone.
type sarifResult struct {
	Rule         string             `json:"ruleId"`
	Index        int                `json:"ruleIndex"`
	Kind         string             `json:"kind"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	State        string             `json:"baselineState,omitempty"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   sarifProperties    `json:"properties"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region sarifRegion `json:"region"`
}

// sarifRegion is a line of the program, the first line of a trace, or an offset into one.
type sarifRegion struct {
	Line   int    `json:"startLine,omitempty"`
	Offset *int64 `json:"byteOffset,omitempty"`
}

// sarifLogical is what runs there: a function of the program, or an event of the trace.
type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
}

// sarifProperties are gaprof's own: times in ns per step, and the events to look at.
type sarifProperties struct {
	Cost     *int64            `json:"cost_ns"`
	Share    *float64          `json:"cost_share"`
	Saving   *report.Range     `json:"saving_ns"`
	Bytes    *int64            `json:"cost_bytes,omitempty"`
	Caveats  []string          `json:"caveats"`
	Evidence []report.Evidence `json:"evidence"`
}

// mostEvidence is how many events a result names.
const mostEvidence = 10

func sarifResultOf(f *gate.Found, o Options) sarifResult {
	of := f.Finding
	r := sarifResult{
		Rule:         f.Rule,
		Kind:         "fail",
		Level:        levelOf(f.Severity),
		Message:      sarifMessage(o.name(findingText(of))),
		Locations:    locationsOf(f),
		Fingerprints: map[string]string{"gaprof/v1": f.Fingerprint, "primaryLocationLineHash": f.Fingerprint + ":1"},
		Properties: sarifProperties{
			Cost: of.Cost, Share: of.Share, Saving: of.Saving, Bytes: of.CostBytes,
			Caveats:  append([]string{}, of.Caveats...),
			Evidence: append([]report.Evidence{}, of.Evidence[:min(mostEvidence, len(of.Evidence))]...),
		},
	}
	switch f.State {
	case gate.New, gate.Unchanged:
		r.State = string(f.State)
	case gate.Absent: // its rule looked for it and found nothing
		r.State, r.Kind, r.Level = string(f.State), "pass", "none"
	}
	if f.Ignored != "" {
		r.Suppressions = []sarifSuppression{{"external", f.Ignored}}
	}
	return r
}

// findingText is a finding in a paragraph.
func findingText(f *report.Finding) string {
	text := f.Message
	for _, more := range []struct{ head, text string }{{" Why: ", f.Why}, {" Fix: ", f.Fix}} {
		if more.text != "" {
			text = strings.TrimRight(text, ".") + "." + more.head + more.text
		}
	}
	return text
}

// sarifMessage is the text of a message, in which brackets would make a link.
func sarifMessage(text string) sarifText {
	return sarifText{Text: strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(escape.Control(text))}
}

// locationsOf are the lines of the program that the evidence of a finding names, each once, else
// the trace that shows it. The first is where a viewer puts the result.
func locationsOf(f *gate.Found) []sarifLocation {
	var list []sarifLocation
	seen := make(map[string]bool)
	for _, e := range f.Finding.Evidence {
		if file, line, function := codeOf(e); file != "" && !seen[e.Code] {
			seen[e.Code] = true
			list = append(list, locationIn(file, sarifRegion{Line: line}, function))
		}
	}
	if len(list) > 0 {
		return list
	}
	file, event := "", ""
	if len(f.Finding.Evidence) > 0 {
		event = f.Finding.Evidence[0].Name
	}
	if f.Report != nil {
		file = traceOf(f)
	}
	return []sarifLocation{locationIn(file, sarifRegion{Line: 1}, event)}
}

// traceOf is the file of the rank that a finding points at, else the first of its report.
func traceOf(f *gate.Found) string {
	s := &f.Report.Source
	for _, e := range f.Finding.Evidence {
		for _, r := range s.RankFiles {
			if r.Rank == e.Rank {
				return r.File
			}
		}
	}
	if len(s.Files) > 0 {
		return s.Files[0]
	}
	return ""
}

func locationIn(file string, region sarifRegion, what string) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Region: region}}
	l.Physical.Artifact.URI = fileURI(file)
	if what != "" {
		l.Logical = []sarifLogical{{escape.Control(what)}}
	}
	return l
}

// fileURI is a file as a URI: relative as it was named, so that the reader's root applies.
func fileURI(file string) string {
	if file == "" || file == "-" {
		return "stdin"
	}
	path := filepath.ToSlash(file)
	switch {
	case strings.HasPrefix(path, "/"):
		return (&url.URL{Scheme: "file", Path: path}).String()
	case len(path) > 2 && path[1:3] == ":/":
		return (&url.URL{Scheme: "file", Path: "/" + path}).String()
	}
	return (&url.URL{Path: strings.TrimPrefix(path, "./")}).String()
}

// frame matches a frame of Python: file, line and function.
var frame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+)\(([0-9]{1,7})\): (.+)$`)
})

// codeOf is the line of the program that does an event; file is empty where it is not known.
func codeOf(e report.Evidence) (file string, line int, function string) {
	m := frame().FindStringSubmatch(e.Code)
	if m == nil {
		return "", 0, ""
	}
	line, err := strconv.Atoi(m[2])
	if err != nil || line < 1 {
		return "", 0, ""
	}
	return m[1], line, m[3]
}

// rowNotes are the rows of a gate that failed without being findings, and those that are not
// decided, with what the gate says besides.
func rowNotes(r *gate.Result) []sarifNote {
	list := []sarifNote{{Level: "note", Message: sarifMessage(string(r.Verdict) + ": " + r.Summary)}}
	for _, g := range unpassed(r) {
		if row := g[0]; row.Check != "finding" || row.Verdict == gate.Undecidable {
			level := levelOf(row.Severity)
			if row.Verdict == gate.Undecidable && (row.Tolerated || level == "error") {
				level = map[bool]string{true: "note", false: "warning"}[row.Tolerated]
			}
			list = append(list, sarifNote{Level: level, Message: sarifMessage(rowHead(row) + " " + g.text())})
		}
	}
	for _, note := range r.Notes {
		list = append(list, sarifNote{Level: "note", Message: sarifMessage(note)})
	}
	return list
}

// healthNotes are the damages of traces, with their place in the decompressed text.
func healthNotes(reports []*report.Report) []sarifNote {
	list := []sarifNote{}
	for _, r := range reports {
		for _, p := range r.Health.Problems {
			list = append(list, sarifNote{
				Level:     levelOf(report.Severity(p.Severity)),
				Message:   sarifMessage(p.Message),
				Locations: []sarifLocation{locationIn(p.File, placeOf(p.Offset), "")},
			})
		}
	}
	return list
}

func placeOf(offset *int64) sarifRegion {
	if offset == nil {
		return sarifRegion{Line: 1}
	}
	return sarifRegion{Offset: offset}
}
