package gate

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// ruleIDs are those that configurations of these tests may name.
var ruleIDs = []string{"GS001", "GS002", "OV001", "OV004"}

var update = flag.Bool("update", false, "write docs/metrics.md and the published schemas")

// What is wrong is said with line, column and, where there is one, the nearest name.
func TestBrokenConfigurations(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{
			"findings that are new without two sides", "version: 1\nbudgets: {findings.new: [error, {max: 0}]}\n",
			"f:2:11: findings.new needs a baseline: write it under regressions: [error, {max_increase: 0}]",
		},
		{
			"an unknown way to take the unknown",
			"version: 1\nbudgets: {rs.per_step: [error, {max: 0, unknown: fine}]}\n",
			`f:2:50: unknown is ok or inconclusive, not "fine": ` +
				`write unknown: ok, or leave it out to be inconclusive then`,
		},
		{
			"nothing but the unknown", "version: 1\nbudgets: {rs.per_step: [error, {unknown: ok}]}\n",
			"f:2:33: budget of rs.per_step without max and min: write {max: ...} or {min: ...}",
		},
		{"nothing", "", "f: is empty: it begins with version: 1"},
		{"a comment", "# nothing\n", "f: is empty: it begins with version: 1"},
		{"a list", "- version", "f:1:1: a configuration is a mapping, not a list: it begins with version: 1"},
		{"a word", "version", "f:1:1: a configuration is a mapping, not a value: it begins with version: 1"},
		{"no version", "budgets:\n", "f:1:1: no version: write version: 1"},
		{"a later version", "version: 2\n", `f:1:10: unknown version "2": this gaprof reads version 1`},
		{
			"a later version behind a byte order mark", "\ufeffversion: 2\n",
			`f:1:10: unknown version "2": this gaprof reads version 1`,
		},
		{"two documents", "version: 1\n---\nversion: 1\n", "f:3:8: a second document"},
		{
			"an unknown key", "version: 1\nbudget:\n",
			`f:2:1: unknown key in the configuration "budget": did you mean budgets?`,
		},
		{"a key twice", "version: 1\nversion: 1\n", "f:2:1: mapping key \"version\" already defined at [1:1]"},
		{"an open bracket", "version: 1\nbudgets: {step.time: [error\n", "f:2:22: sequence end token ']' not found"},
		{
			"a tab", "version: 1\nbudgets:\n\tstep.time: off\n",
			"f:3:1: found character '\t' that cannot start any token",
		},
		{
			"an anchor", "version: 1\nbudgets: &a {}\n",
			"f:2:10: anchors, aliases, tags and merges are not allowed in a configuration",
		},
		{
			"an unknown preset", "version: 1\nextends: gaprof:recomended\n",
			`f:2:10: unknown preset "gaprof:recomended": did you mean gaprof:recommended?`,
		},
		{
			"a preset without its prefix", "version: 1\nextends: strict\n",
			`f:2:10: unknown preset "strict": there are gaprof:off, gaprof:recommended, gaprof:strict`,
		},
		{
			"an unknown metric", "version: 1\nbudgets:\n  rs.exposed.tim: [error, {max: 5ms}]\n",
			`f:3:3: unknown metric "rs.exposed.tim": did you mean rs.exposed.time?`,
		},
		{
			"an unlike metric", "version: 1\nbudgets:\n  x: [error, {max: 5ms}]\n",
			`f:3:3: unknown metric "x": docs/metrics.md lists what there is`,
		},
		{
			"a metric twice", "version: 1\nbudgets: {step.time: off, 'step.time': off}\n",
			"f:2:27: mapping key \"step.time\" already defined at [2:11]",
		},
		{
			"no severity", "version: 1\nbudgets:\n  step.time: {max: 5ms}\n",
			"f:3:15: a severity is a value, not a mapping: off, note, warn or error",
		},
		{
			"an unknown severity", "version: 1\nbudgets:\n  step.time: [erorr, {max: 5ms}]\n",
			`f:3:15: unknown severity "erorr": did you mean error?`,
		},
		{
			"three parts", "version: 1\nbudgets:\n  step.time: [error, {max: 5ms}, 1]\n",
			"f:3:14: step.time needs a severity and limits: write [error, {max: 5}]",
		},
		{
			"limits that are none", "version: 1\nbudgets:\n  step.time: [error, 5ms]\n",
			"f:3:22: what follows the severity is a mapping, not a value: write [error, {max: 5}]",
		},
		{
			"a budget without limits", "version: 1\nbudgets:\n  step.time: [error, {}]\n",
			"f:3:22: budget of step.time without max and min: write {max: ...} or {min: ...}",
		},
		{
			"a severity alone", "version: 1\nbudgets:\n  step.time: error\n",
			"f:3:3: budget of step.time without max and min: write [error, {max: 5}]",
		},
		{
			"an unknown limit", "version: 1\nbudgets:\n  step.time: [error, {mx: 5ms}]\n",
			`f:3:23: unknown key in a budget "mx": did you mean max?`,
		},
		{
			"a time without a unit", "version: 1\nbudgets:\n  step.time: [error, {max: 5}]\n",
			`f:3:28: "5" is not a value of step.time: write a time such as 5ms`,
		},
		{
			"a count with a unit", "version: 1\nbudgets:\n  reductions.per_step: [error, {max: 1ms}]\n",
			`f:3:38: "1ms" is not a value of reductions.per_step: write a number such as 16`,
		},
		{
			"infinity", "version: 1\nbudgets:\n  rs.overlap.ratio: [error, {min: .inf}]\n",
			`f:3:35: ".inf" is not a value of rs.overlap.ratio: write a ratio such as 0.8 or 80%`,
		},
		{
			"max below min", "version: 1\nbudgets:\n  rs.overlap.ratio: [error, {min: 0.5, max: 40%}]\n",
			"f:3:30: budget of rs.overlap.ratio whose max is less than its min",
		},
		{
			"a regression without a limit", "version: 1\nregressions:\n  step.time: [error, {alpha: 0.01}]\n",
			"f:3:23: regression of step.time without max_increase and max_decrease: write {max_increase: 3%}",
		},
		{
			"a regression of a whole recording",
			"version: 1\nregressions:\n  rs.launched_in_optimizer: [error, {max_increase: 0}]\n",
			"f:3:3: rs.launched_in_optimizer grows with the number of recorded steps: compare " +
				"rs.launched_in_optimizer.per_step",
		},
		{
			"a regression of a wait", "version: 1\nregressions:\n  wait.max: [error, {max_increase: 0}]\n",
			"f:3:3: wait.max has no value for each step, so that changes cannot be told from noise: give it a budget",
		},
		{
			"alpha of structure", "version: 1\nregressions:\n  micro_batches: [error, {max_increase: 0, alpha: 0.1}]\n",
			"f:3:51: micro_batches is exact and has no significance: leave alpha out",
		},
		{
			"alpha of one", "version: 1\nregressions:\n  step.time: [error, {max_increase: 0, alpha: 1}]\n",
			`f:3:47: alpha is a probability between 0 and 1, not "1": write alpha: 0.01`,
		},
		{
			"a negative increase", "version: 1\nregressions:\n  step.time: [error, {max_increase: -3%}]\n",
			"f:3:37: -3% is negative",
		},
		{
			"steps", "version: 1\nselect: {steps: \"8:3\"}\n",
			`f:2:17: "8:3" is not a range of steps: write "3:8" or "last:5"`,
		},
		{
			"aggregate", "version: 1\nselect: {aggregate: p95}\n",
			`f:2:21: unknown aggregate "p95": there are median, mean, max`,
		},
		{"accumulation", "version: 1\njob: {accum: 0}\n", `f:2:14: accum is a whole number from 1 on, not "0"`},
		{
			"normalization", "version: 1\njob: {norm: globl}\n",
			`f:2:13: unknown normalization "globl": did you mean global?`,
		},
		{
			"bandwidth", "version: 1\njob: {peak_bw: 3.35}\n",
			`f:2:16: "3.35" is not a bandwidth: write 3.35TB/s or 900GB/s`,
		},
		{
			"an unknown kind of communication", "version: 1\njob: {communication: {my_dispatch: all_to_al}}\n",
			`f:2:36: unknown kind of communication "all_to_al": did you mean all_to_all?`,
		},
		{
			"a pattern that is none", "version: 1\njob: {communication: {'my(': all_to_all}}\n",
			"f:2:23: error parsing regexp: missing closing ): `my(`: write {my_dispatch: all_to_all}",
		},
		{
			"communication that is a word", "version: 1\njob: {communication: all}\n",
			"f:2:22: communication is a mapping, not a value: write {my_dispatch: all_to_all}",
		},
		{
			"an entry without a kind", "version: 1\njob: {communication: [my_dispatch, 'a=b=barrier', [x]]}\n",
			`f:2:23: "my_dispatch" is not REGEX=KIND: write {my_dispatch: all_to_all}` + "\n" +
				"f:2:51: an entry of communication is a value, not a list: write {my_dispatch: all_to_all}",
		},
		{
			"an ignore without a reason", "version: 1\nignore:\n  - {rule: GS002}\n",
			"f:3:6: an entry of ignore needs a reason: say why, for whoever finds it later",
		},
		{"an ignore of nothing", "version: 1\nignore:\n  - {reason: x}\n", "f:3:6: an entry of ignore needs a rule"},
		{
			"an ignore of an unknown rule", "version: 1\nignore:\n  - {rule: GS022, reason: x}\n",
			`f:3:12: unknown rule or metric "GS022": did you mean GS002?`,
		},
		{
			"an ignore until some time", "version: 1\nignore:\n  - {rule: GS002, until: soon, reason: x}\n",
			`f:3:26: "soon" is not a date: write 2027-03-01`,
		},
		{
			"several things", "version: 1\nbudgets:\n  a: off\n  step.tme: off\n",
			`f:3:3: unknown metric "a": docs/metrics.md lists what there is` + "\n" +
				`f:4:3: unknown metric "step.tme": did you mean step.time?`,
		},
	} {
		_, err := Parse("f", []byte(test.text), ruleIDs)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.name, err, test.want)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 40000), strings.Repeat("- ", 30000), strings.Repeat("? ", 30000),
		strings.Repeat("a: ", 20000), strings.Repeat(" ", 70000), strings.Repeat("{a: ", 15000),
	} {
		start := time.Now()
		if _, err := Parse("f", []byte(text), ruleIDs); err == nil {
			t.Errorf("%.10q is a configuration", text)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%.10q takes %v", text, d)
		}
	}
}

// The example of docs/ci.md's kind, with everything in it.
const full = `version: 1
extends: gaprof:recommended
job: {accum: 4, norm: global, peak_bw: 3.35TB/s}
select: {steps: "last:5", skip_warmup: auto, aggregate: mean}
budgets:
  grad.scale.time:             [error, {max: 0ms}]
  rs.exposed.time:             [error, {max: 5ms}]
  rs.overlap.ratio:            [warn,  {min: 0.80}]
  rs.launched_in_optimizer:    [error, {max: 0}]      # structural: exact, never flaky
  reductions.per_step:         error
  grad.scale.needless:         off
  norm.max_weight_error:       [error, {max: 1e-6}]
regressions:
  step.time: [error, {max_increase: 3%, min_delta: 1ms, alpha: 0.01}]
  micro_batches: [warn, {max_increase: 1, max_decrease: 0}]
ignore:
  - {rule: GS002, until: 2027-03-01, reason: "fold lands in #123"}
`

func TestConfiguration(t *testing.T) {
	c, err := Parse("f", []byte(full), ruleIDs)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, b := range c.Budgets {
		lines = append(lines, b.Metric.Name+" "+string(b.Severity)+" "+b.limit())
	}
	for _, g := range c.Regressions {
		lines = append(lines, g.Metric.Name+" "+string(g.Severity)+" "+g.limit())
	}
	want := `rs.exposed.time error max 5.000 ms
rs.overlap.ratio warn min 80.00 %
grad.scale.time error max 0.000 ms
grad.scale.passes warn max 1
reductions.per_step error max 1
rs.launched_in_optimizer error max 0
rs.launched_in_optimizer.per_step warn max 0
norm.max_weight_error error max 1e-06
collectives.mismatched error max 0
step.time error +3 %, at least 1.000 ms, p < 0.01
grad.scale.passes error +0
grad.clip.passes error +0
micro_batches warn +1, -0
reductions.per_step error +0
reductions.missing error +0
rs.launched_in_optimizer.per_step error +0
ar.launched_in_optimizer.per_step error +0
collectives.per_step error +0
comm.bytes.per_step error +0 B
device.events.per_step warn +5 %
findings.new error +0`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	j := c.Job
	if j.Accumulation != 4 || j.Normalization != "global" || j.PeakBandwidth != 3_350_000_000_000 ||
		c.Select != (Select{Range{Last: 5}, AutoWarmup, "mean"}) ||
		c.Extends != "recommended" ||
		len(c.Ignores) != 1 || c.Ignores[0].Place != "f:17:6" ||
		c.Ignores[0].Until.Format(time.DateOnly) != "2027-03-01" {
		t.Errorf("%+v", c)
	}
}

// Both ways to declare communication keep the order of the file, in which the last wins.
func TestCommunication(t *testing.T) {
	for _, text := range []string{
		"version: 1\njob: {communication: {'a\\b': all-to-all, b=c: none}}\n",
		"version: 1\njob: {communication: ['a\\b=all_to_all', 'b=c=none']}\n",
	} {
		c, err := Parse("f", []byte(text), ruleIDs)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, text := range c.Job.Communication {
			d, err := timeline.ParseDeclaration(text)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d.Pattern.String(), d.Kind.String())
		}
		if want := []string{`a\b`, "all_to_all", "b=c", ""}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if c, err := Parse("f", []byte("version: 1\njob: {communication: }\n"), ruleIDs); err != nil ||
		len(c.Job.Communication) > 0 {
		t.Errorf("%+v, %v", c.Job, err)
	}
}

// The kinds that a configuration may name are those of the analysis.
func TestCommunicationKinds(t *testing.T) {
	if want := timeline.DeclarableKinds(); !slices.Equal(communicationKinds, want) {
		t.Errorf("%q, want %q", communicationKinds, want)
	}
}

func TestParseRange(t *testing.T) {
	for text, want := range map[string]Range{
		"last:5": {Last: 5},
		"3:8":    {3, 8, 0},
		":8":     {0, 8, 0},
		"3:":     {3, 1 << 30, 0},
		":":      {0, 1 << 30, 0},
	} {
		if got, ok := ParseRange(text); !ok || got != want {
			t.Errorf("%s: %+v %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "5", "8:3", "last:0", "last:", "last", "-1:3", "a:b", "3:3"} {
		if got, ok := ParseRange(text); ok {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestPresets(t *testing.T) {
	for _, name := range PresetNames() {
		c, ok := Preset(name)
		if !ok || presetPrefix+c.Extends != name {
			t.Errorf("%s: %+v", name, c)
		}
		if name == "gaprof:recommended" {
			for _, b := range c.Budgets {
				if b.Metric.timed {
					t.Errorf("%s bounds the time %s", name, b.Metric.Name)
				}
			}
			for _, want := range []string{"step.time", "collectives.per_step", "findings.new"} {
				i := slices.IndexFunc(c.Regressions, func(g Regression) bool { return g.Metric.Name == want })
				if i < 0 || c.Regressions[i].Severity != report.Error {
					t.Errorf("%s does not fail for %s", name, want)
				}
			}
		}
	}
}

// The published files are those of the code.
func TestPublished(t *testing.T) {
	result, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	check, err := encode(result)
	if err != nil {
		t.Fatal(err)
	}
	config, err := encode(ConfigSchema())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"metrics.md": MetricsPage(), "schema/config-1.json": string(config), "schema/check-1.json": string(check),
	} {
		path := filepath.Join("..", "..", "docs", filepath.FromSlash(name))
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what the code says; run go generate ./... (%v)", path, err)
		}
	}
}

// The published schema takes what is read here, and refuses what is not.
func TestConfigSchema(t *testing.T) {
	schema, err := ConfigSchema().Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) error {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(plain, &value); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(value)
	}
	texts := []string{full, example1(t, "../../docs/ci.md"), readText(t, "../../gaprof.yaml")}
	for _, p := range presets {
		texts = append(texts, "version: 1\n"+p.text)
	}
	for _, text := range texts {
		if err := valid(text); err != nil {
			t.Errorf("%v:\n%s", err, text)
		}
		if _, err := Parse("f", []byte(text), ruleIDs); err != nil {
			t.Errorf("%v:\n%s", err, text)
		}
	}
	for _, text := range []string{
		"{}", "version: 2", "version: 1\nx: 1", "version: 1\nbudgets: {x: off}",
		"version: 1\nbudgets: {step.time: [error, {mx: 1ms}]}",
		"version: 1\nregressions: {wait.max: off}",
		"version: 1\nregressions: {micro_batches: [error, {max_increase: 0, alpha: 0.1}]}",
		"version: 1\nignore: [{rule: GS002}]", "version: 1\njob: {accum: 0}",
	} {
		if valid(text) == nil {
			t.Errorf("the schema takes %q", text)
		}
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// example1 is the first configuration in a page.
func example1(t *testing.T, name string) string {
	t.Helper()
	_, text, _ := strings.Cut(readText(t, name), "```yaml\nversion")
	text, _, ok := strings.Cut(text, "```")
	if !ok {
		t.Fatalf("no configuration in %s", name)
	}
	return "version" + text
}

// Each metric can be asked for, and each is defined.
func TestMetrics(t *testing.T) {
	seen := make(map[string]bool)
	for i, m := range Metrics() {
		if m.index() != i || seen[m.Name] || m.Definition == "" || m.Path == "" || m.Missing == "" || m.Next == "" ||
			m.touched == 0 || (m.step == nil) == (m.all == nil) && !m.against || example[m.Unit] == "" {
			t.Errorf("%+v", m)
		}
		if !m.against && m.timed != (m.touched&clocks != 0) && m.touched&^otherRanks != everything ||
			m.whole && m.step != nil || m.timed && m.step == nil && !m.whole {
			t.Errorf("%s: timed %v, whole %v, touched %b", m.Name, m.timed, m.whole, m.touched)
		}
		seen[m.Name] = true
	}
}

// What is read once is read alike again, never with a panic, and errors have a place in
// the file.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(full))
	for _, p := range presets {
		f.Add([]byte("version: 1\nextends: gaprof:" + p.name + p.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 2
		c, err := Parse("f", text, ruleIDs)
		if err == nil {
			if c.Select.Aggregate == "" {
				t.Errorf("%+v", c)
			}
			for _, b := range c.Budgets {
				if b.Max == nil && b.Min == nil || b.Metric == nil || b.Severity == "off" {
					t.Errorf("%+v", b)
				}
			}
			return
		}
		list := []error{err}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			list = joined.Unwrap()
		}
		for _, err := range list {
			e, ok := err.(*ConfigError)
			if !ok || e.Line < 0 || e.Line > lines || e.Column < 0 || e.Message == "" {
				t.Errorf("%v", err)
			}
		}
	})
}
