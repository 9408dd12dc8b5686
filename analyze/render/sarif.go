package render

import (
	"cmp"
	"io"
	"slices"

	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/report"
)

// The form sarif is SARIF 2.1.0 (OASIS): what is said of findings, for code scanning and editors.
// Fields are named by that standard.
const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	homePage    = "https://github.com/gaprof/gaprof"
	rulePages   = homePage + "/blob/main/docs/rules/"
)

// SARIF writes each finding as a result.
func SARIF(w io.Writer, r *report.Report, o Options) error {
	log := sarifOf(r.Version, "analyze", gate.FoundIn([]*report.Report{r}), o)
	log.Runs[0].Invocations = []sarifInvocation{invocation(r.Exit, healthNotes([]*report.Report{r}))}
	return encode(w, log)
}

// CheckSARIF writes each finding of the reports that were judged, and of the baseline those that
// are gone. Rows that failed and are no findings, and rows that could not be decided, are
// notifications.
func CheckSARIF(w io.Writer, c Checked, o Options) error {
	log := sarifOf(c.Result.Version, "check", c.Result.Findings, o)
	notes := slices.Concat(rowNotes(c.Result), healthNotes(c.Reports))
	log.Runs[0].Invocations = []sarifInvocation{invocation(c.Result.Exit, notes)}
	return encode(w, log)
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	AutomationDetails sarifID           `json:"automationDetails"`
	Invocations       []sarifInvocation `json:"invocations"`
	Results           []sarifResult     `json:"results"`
}

type sarifID struct {
	ID string `json:"id"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID     string     `json:"id"`
	Name   string     `json:"name"`
	Short  sarifText  `json:"shortDescription"`
	Full   sarifText  `json:"fullDescription"`
	Help   sarifText  `json:"help"`
	URI    string     `json:"helpUri"`
	Level  sarifLevel `json:"defaultConfiguration"`
	Levels sarifTags  `json:"properties"`
}

type sarifLevel struct {
	Level string `json:"level"`
}

type sarifTags struct {
	Tags []string `json:"tags"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifInvocation struct {
	Successful  bool        `json:"executionSuccessful"`
	Code        int         `json:"exitCode"`
	Description string      `json:"exitCodeDescription,omitempty"`
	Notes       []sarifNote `json:"toolExecutionNotifications"`
}

// sarifNote is a notification.
type sarifNote struct {
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

// invocation says how the program ended. A gate that fails is no failure of the program.
func invocation(e report.Exit, notes []sarifNote) sarifInvocation {
	return sarifInvocation{Successful: true, Code: e.Code, Description: e.Reason, Notes: notes}
}

// sarifOf is the log of a command: results, and the rules that they are of.
func sarifOf(version, command string, list []gate.Found, o Options) sarifLog {
	run := sarifRun{AutomationDetails: sarifID{"gaprof/" + command}, Results: []sarifResult{}}
	d := sarifDriver{Name: "gaprof", Version: cmp.Or(version, "0"), InformationURI: homePage, Rules: []sarifRule{}}
	places := make(map[string]int)
	for i := range list {
		f := &list[i]
		at, known := places[f.Rule]
		if !known {
			at = len(d.Rules)
			places[f.Rule] = at
			d.Rules = append(d.Rules, sarifRuleOf(f, o))
		}
		one := sarifResultOf(f, o)
		one.Index = at
		run.Results = append(run.Results, one)
	}
	run.Tool.Driver = d
	return sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}}
}

// sarifRuleOf describes a rule, by its page where the caller has it.
func sarifRuleOf(f *gate.Found, o Options) sarifRule {
	doc := RuleText{Title: f.Finding.Title, Fix: f.Finding.Fix}
	if o.Rule != nil {
		if known, ok := o.Rule(f.Rule); ok {
			doc = known
		}
	}
	title := cmp.Or(doc.Title, f.Rule)
	why, fix := cmp.Or(doc.Why, title), cmp.Or(doc.Fix, "gaprof explain "+f.Rule)
	help := why + "\n\nFix: " + fix
	if doc.Before != "" {
		help += "\n\nBefore: " + doc.Before + "\nAfter: " + doc.After
	}
	return sarifRule{
		ID:     f.Rule,
		Name:   title,
		Short:  sarifText{Text: title},
		Full:   sarifText{Text: why},
		Help:   sarifText{Text: help},
		URI:    rulePages + f.Rule + ".md",
		Level:  sarifLevel{levelOf(f.Severity)},
		Levels: sarifTags{[]string{"performance", "pytorch"}},
	}
}

// levelOf is a severity as SARIF calls it.
func levelOf(s report.Severity) string {
	if s == report.Warn {
		return "warning"
	}
	return string(s)
}
