package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/render/agent"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/analyze/straggler"
	"github.com/gaprof/gaprof/docs"
)

func newExplainCommand(s streams) *cobra.Command {
	var schema, examples bool
	cmd := &cobra.Command{
		Use:   "explain [WORD]",
		Short: "a rule, a word of the output, a metric of check, or a JSON Schema",
		Example: "  gaprof explain OV004\n  gaprof explain exposed\n  gaprof explain rs.exposed.time\n" +
			"  gaprof explain --schema > report.schema.json\n" +
			"  gaprof explain --schema config > gaprof.schema.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if schema {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return nil // words of one name
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			words := slices.DeleteFunc(explained(), func(name string) bool { return strings.Contains(name, " ") })
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case schema:
				return printSchema(s.out, append(args, "report")[0])
			case len(args) == 0:
				return listRules(s)
			}
			return explain(s, strings.Join(args, " "), examples)
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false,
		"print the JSON Schema of --format json, or of what is named: "+strings.Join(schemaNames(), ", "))
	cmd.Flags().BoolVar(&examples, "examples", false, "print the events of a rule's examples too")
	return cmd
}

func ruleIDs() []string {
	var ids []string
	for _, r := range rules.All() {
		ids = append(ids, r.ID)
	}
	return ids
}

func listRules(s streams) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rules.All() {
		fmt.Fprintf(t, "%s\t%s\n", r.ID, r.Doc.Title)
	}
	t.Flush()
	return s.print(b.String())
}

// explained returns every name that explain knows.
func explained() []string {
	return slices.Concat(ruleIDs(), gate.MetricNames(), docs.Names())
}

// explain prints what a rule, a metric or a word of the output is.
func explain(s streams, name string, examples bool) error {
	text := ""
	if r, ok := rules.Find(strings.ToUpper(name)); ok {
		text = explainedRule(r, s.width(100), examples)
	} else if m, ok := gate.FindMetric(name); ok {
		text = m.Explain(flagNames)
	} else if text = glossary(name, s.width(80)); text == "" {
		return unknownName(name)
	}
	return s.print(text)
}

func unknownName(name string) error {
	hint := "rules are " + strings.Join(ruleIDs(), ", ") + "; docs/metrics.md lists metrics, docs/glossary.md words"
	best := cmp.Or(near(strings.ToUpper(name), ruleIDs()), near(strings.ToLower(name), explained()))
	if best != "" {
		hint = "did you mean gaprof explain " + best + "?"
	}
	return usage(hint, "no rule, metric or word of the output is called %q", name)
}

// width is that of the terminal, or most if there is none or it is wider.
func (s streams) width(most int) int {
	if columns, _ := sizeOf(s.out); columns > 0 {
		return min(columns, most)
	}
	return most
}

// glossary returns what the glossary says of a word, in lines of a width; "" for nothing.
func glossary(word string, width int) string {
	var b strings.Builder
	for i, e := range docs.Find(word) {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n\n%s\nIn the output  %s\nDefinition     %s\n",
			strings.Join(e.Names, ", "), folded(e.Text, width), e.Output, e.Definition)
	}
	return b.String()
}

// folded breaks a text into lines of at most so many letters.
func folded(text string, width int) string {
	var b strings.Builder
	at := 0
	for _, word := range wordsOf(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at > 0 && at+1+n > width:
			b.WriteByte('\n')
			at = 0
		case at > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String() + "\n"
}

// wordsOf are the words of a text between which a line may end: a figure stays with its unit, and code is one word.
func wordsOf(text string) []string {
	var list []string
	code := false
	for _, w := range strings.Fields(text) {
		n := len(list)
		if n > 0 && (code || strings.HasPrefix(w, "%") && strings.ContainsAny(list[n-1], "0123456789")) {
			list[n-1] += " " + w
		} else {
			list = append(list, w)
		}
		code = code != (strings.Count(w, "`")%2 == 1)
	}
	return list
}

// schemas are what --schema prints, by its argument.
var schemas = []struct {
	name string
	make func() (*jsonschema.Schema, error)
}{
	{"report", report.JSONSchema},
	{"diff", compare.JSONSchema},
	{"check", gate.JSONSchema},
	{"norm", normalization.JSONSchema},
	{"straggler", straggler.JSONSchema},
	{"whatif", report.WhatIfJSONSchema},
	{"agent", agent.JSONSchema},
	{"version", versionSchema},
	{"calibration", report.CalibrationJSONSchema},
	{"config", func() (*jsonschema.Schema, error) { return gate.ConfigSchema(), nil }},
}

func schemaNames() []string {
	var names []string
	for _, s := range schemas {
		names = append(names, s.name)
	}
	return names
}

func printSchema(w io.Writer, name string) error {
	for _, s := range schemas {
		if s.name != name {
			continue
		}
		schema, err := s.make()
		if err != nil {
			return err
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(schema)
	}
	return usage(orNear(name, schemaNames(), "schemas are "+strings.Join(schemaNames(), ", ")),
		"there is no schema of %q", name)
}
