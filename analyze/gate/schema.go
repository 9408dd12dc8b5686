package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gaprof/gaprof/internal/choice"
	"github.com/gaprof/gaprof/internal/contract"
)

//go:generate go test -run TestPublished -update

// JSONSchema describes the JSON form of a Result. Fields that it does not name may be
// added in later versions.
func JSONSchema() (*jsonschema.Schema, error) { return contract.Of[Result]("check-1.json", Schema) }

// ConfigSchema describes gaprof.yaml, for editors that complete and check YAML.
func ConfigSchema() *jsonschema.Schema {
	word := func(of ...string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Enum: anys(of)} }
	s := object("The gate of gaprof check", map[string]*jsonschema.Schema{
		"version": {Enum: []any{1}},
		"extends": word(PresetNames()...),
		"job": object("What is declared of the run", map[string]*jsonschema.Schema{
			"accum": {
				Type:        "integer",
				Minimum:     jsonschema.Ptr(1.0),
				Description: "micro-batches that one optimizer step accumulates",
			},
			"norm": word(normalizations...),
			"peak_bw": {
				Type:        "string",
				Pattern:     `^[0-9.eE+]+ ?[TGM]B/s$`,
				Description: "memory bandwidth of the device, such as 3.35TB/s",
			},
			"ranks": {
				AnyOf:       []*jsonschema.Schema{word("all", "any"), {Type: "integer", Minimum: jsonschema.Ptr(1.0)}},
				Description: "how many ranks of the run have to be there; fewer are inconclusive",
			},
			"communication": communicationSchema(),
		}),
		"select": object("Which steps count, and how the values of several become one", map[string]*jsonschema.Schema{
			"steps": {Type: "string", Pattern: `^(last:[1-9][0-9]*|[0-9]*:[0-9]*)$`},
			"skip_warmup": {
				AnyOf: []*jsonschema.Schema{
					word("auto"),
					{Type: "boolean"},
					{Type: "integer", Minimum: jsonschema.Ptr(0.0)},
				},
			},
			"aggregate": word("median", "mean", "max"),
		}),
		"budgets": object("Absolute bounds", map[string]*jsonschema.Schema{}),
		"regressions": object("Bounds of changes against the baseline; every condition must hold",
			map[string]*jsonschema.Schema{}),
		"ignore": {
			Type: "array",
			Items: &jsonschema.Schema{
				Type:                 "object",
				Required:             []string{"rule", "reason"},
				AdditionalProperties: none(),
				Properties: map[string]*jsonschema.Schema{
					"rule": {
						AnyOf: []*jsonschema.Schema{
							{Type: "string", Pattern: "^[A-Z]{2}[0-9]{3}$"},
							word(MetricNames()...),
						},
						Description: "a rule or a metric",
					},
					"until":  {Type: "string", Format: "date", Description: "the last day (UTC)"},
					"reason": {Type: "string", MinLength: jsonschema.Ptr(1)},
				},
			},
		},
	})
	s.Defs = map[string]*jsonschema.Schema{
		"severity":         word("off", "note", "warn", "error"),
		"budget":           entrySchema("max", "min", "unknown"),
		"regression":       entrySchema("max_increase", "max_decrease", "min_delta", "unknown"),
		"timed_regression": entrySchema("max_increase", "max_decrease", "min_delta", "alpha", "unknown"),
	}
	addMetrics(s)
	s.Schema, s.ID, s.Title = contract.Draft, contract.Dir+"config-1.json", "gaprof.yaml, version 1"
	s.Required = []string{"version"}
	return s
}

// addMetrics lets the sections of a configuration name each metric that they may.
func addMetrics(s *jsonschema.Schema) {
	for _, m := range Metrics() {
		add := func(section, def string) {
			s.Properties[section].Properties[m.Name] = &jsonschema.Schema{
				Ref:         "#/$defs/" + def,
				Description: m.Definition + "; write " + example[m.Unit],
			}
		}
		if !m.against {
			add("budgets", "budget")
		}
		switch {
		case m.whole:
		case m.timed:
			add("regressions", "timed_regression")
		default:
			add("regressions", "regression")
		}
	}
}

// entrySchema is a severity, or [severity, {limits}].
func entrySchema(keys ...string) *jsonschema.Schema {
	severity := func() *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/severity"} }
	limits := object("", map[string]*jsonschema.Schema{})
	for _, key := range keys {
		limits.Properties[key] = &jsonschema.Schema{Types: []string{"number", "string"}}
	}
	limits.Properties["unknown"] = &jsonschema.Schema{
		Type: "string", Enum: []any{"ok", "inconclusive"},
		Description: "ok: what cannot be decided may pass, unless the values at hand are out of bounds",
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		severity(),
		{
			Type:        "array",
			PrefixItems: []*jsonschema.Schema{severity(), limits},
			MinItems:    jsonschema.Ptr(1),
			MaxItems:    jsonschema.Ptr(2),
		},
	}}
}

func object(description string, properties map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type:                 "object",
		Description:          description,
		Properties:           properties,
		AdditionalProperties: none(),
	}
}

// none is the schema that matches nothing.
func none() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func anys(words []string) []any {
	var list []any
	for _, w := range words {
		list = append(list, w)
	}
	return list
}

// MetricsPage is docs/metrics.md: the table of metrics, presets and how values are made.
func MetricsPage() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, m := range Metrics() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | `%s` |\n", m.Name, m.Unit, m.decided(), m.Definition, m.Path)
	}
	b.WriteString(pageMiddle)
	for _, p := range presets {
		text := strings.TrimSpace(p.text)
		if text == "" {
			text = "# nothing"
		}
		fmt.Fprintf(&b, "\n### `%s%s`\n\n```yaml\n%s\n```\n", presetPrefix, p.name, text)
	}
	return b.String()
}

// Explain describes a metric as docs/metrics.md does, and what to do about it. choices is
// what the reader calls choices, as in analyze.Options.
func (m *Metric) Explain(choices map[string]string) string {
	text := fmt.Sprintf("%s, %s, %s: %s\n  in the report: %s\n  write: %s\n  next: %s\n",
		m.Name, m.Unit, m.decided(), m.Definition, m.Path, example[m.Unit], m.Next)
	return choice.Name(text, choices)
}

// decided says how a metric is judged.
func (m *Metric) decided() string {
	switch {
	case m.against:
		return "against a baseline"
	case m.timed && m.whole:
		return "recording"
	case m.timed:
		return "median"
	case m.whole:
		return "exact, recording"
	}
	return "exact"
}

const pageHead = `# Metrics

What ` + "`gaprof check`" + ` can limit, by the names in ` + "`gaprof.yaml`" + `. The page
is made of the table that also validates that file (` + "`go generate ./...`" + `).
Every value comes from the report; the last column says where it is in its JSON form.

| metric | unit | decided by | definition | in the report |
|---|---|---|---|---|
`

const pageMiddle = `
**exact**: structure. The worst value of all complete steps, ranks and traces decides: ` +
	`the greatest against a maximum, the least against a minimum.
**exact, recording**: likewise, of the whole recording; it cannot be compared with a baseline, ` +
	`because it grows with the steps that are recorded.
**median**: a time or a ratio of times. A value for each complete step, the mean over its ranks; ` +
	`their median for each kind of step decides
(or what ` + "`select.aggregate`" +
	` says). Below five steps of a kind it decides nothing, and says how many steps to record.
**recording**: one value for each rank, of which the worst decides; it decides nothing below five steps.

Units: times are written ` + "`5ms`" + ` (ns, us, ms, s), ratios ` + "`0.8` or `80%`" + `, bytes ` + "`40MB`" +
	` (MB is 10^6), counts as numbers. In a regression a
percentage is one of the baseline's value.

What cannot be decided makes the gate inconclusive where its severity is error. With ` + "`unknown: ok`" +
	` among the limits it may pass, unless the values that there are
lie beyond the limits, or damage of the trace hides the metric.

## Presets
`

// encode writes a schema as the published files have it.
func encode(s *jsonschema.Schema) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	err := enc.Encode(s)
	return b.Bytes(), err
}
