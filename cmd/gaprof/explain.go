package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/gate"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/analyze/straggler"
)

func newExplainCommand(s streams) *cobra.Command {
	var schema bool
	cmd := &cobra.Command{
		Use:   "explain [RULE]",
		Short: "the rules, one rule with its examples, a metric of check, or a JSON Schema",
		Example: "  gaprof explain OV004\n  gaprof explain rs.exposed.time\n" +
			"  gaprof explain --schema > report.schema.json\n" +
			"  gaprof explain --schema config > gaprof.schema.json",
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(ruleIDs(), gate.MetricNames()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case schema:
				return printSchema(s.out, append(args, "report")[0])
			case len(args) == 0:
				return listRules(s)
			}
			return explainRule(s, args[0])
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false,
		"print the JSON Schema of --format json, or of what is named: "+strings.Join(schemaNames(), ", "))
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

func explainRule(s streams, id string) error {
	if m, ok := gate.FindMetric(id); ok {
		return s.print(m.Explain(flagNames))
	}
	r, ok := rules.Find(strings.ToUpper(id))
	if !ok {
		return usage("rules are "+strings.Join(ruleIDs(), ", ")+"; docs/metrics.md lists metrics",
			"unknown rule or metric %q", id)
	}
	return s.print(rules.Page(r, flagNames))
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
	return usage("schemas are "+strings.Join(schemaNames(), ", "), "there is no schema of %q", name)
}
