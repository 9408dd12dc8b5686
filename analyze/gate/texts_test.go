package gate

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// configsGolden is what is read of configurations, or what is said of them.
var configsGolden = filepath.Join("testdata", "configs.golden")

// configText writes a configuration: what is not as in an empty one, a line for each entry.
func configText(c *Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s", c.Extends)
	if j := c.Job; fmt.Sprint(j) != fmt.Sprint(Job{}) {
		fmt.Fprintf(&b, ", job %+v", j)
	}
	if c.Select != defaultSelect {
		fmt.Fprintf(&b, ", select %+v", c.Select)
	}
	b.WriteByte('\n')
	for i := range c.Budgets {
		one := &c.Budgets[i]
		fmt.Fprintf(&b, "  budget %s %s %s%s\n", one.Metric.Name, one.Severity, one.limit(), tolerantText(one.Tolerant))
	}
	for i := range c.Regressions {
		one := &c.Regressions[i]
		fmt.Fprintf(&b, "  regression %s %s %s (alpha %g)%s", one.Metric.Name, one.Severity, one.limit(), one.Alpha,
			tolerantText(one.Tolerant))
		if one.preset {
			b.WriteString(", of the preset")
		}
		b.WriteByte('\n')
	}
	for _, one := range c.Ignores {
		until := "for ever"
		if !one.Until.IsZero() {
			until = one.Until.Format(time.DateTime)
		}
		fmt.Fprintf(&b, "  ignore %s until %s: %s, at %s\n", one.Rule, until, one.Reason, one.Place)
	}
	return b.String()
}

func tolerantText(yes bool) string {
	if yes {
		return ", unknown: ok"
	}
	return ""
}

// TestConfigurationsText holds what many small configurations mean, line by line, and what is said where
// they mean nothing. Each begins with version: 1 unless it has a version of its own.
func TestConfigurationsText(t *testing.T) {
	var b strings.Builder
	for _, text := range configTexts {
		whole := text
		if !strings.Contains(text, "version") {
			whole = "version: 1\n" + text
		}
		fmt.Fprintf(&b, "%q\n", text)
		if c, err := Parse("f", []byte(whole), ruleIDs); err != nil {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		} else {
			b.WriteString(configText(&c))
		}
	}
	sameGolden(t, configsGolden, b.String())
}

// configTexts are configurations of all kinds, right and wrong.
var configTexts = []string{
	// Forms of YAML.
	"", "---\nversion: 1\n", "# a remark\nversion: 1 # another\n", "{version: 1, job: {accum: 2}}",
	"\ufeffversion: 1\n", "\"version\": '1'\n", "version: 1\r\njob:\r\n  accum: 2\r\n", "version: 1.0\n",
	"version: [1]\n",
	"version:\n", "job: ~\n", "job: null\nselect:\nbudgets: {}\nregressions: {}\nignore: []\n", "job: {accum: ''}\n",
	"job:\n  norm: |\n    global\n", "job:\n  norm: >-\n    global\n", "job: {norm: \"gl\\x6fbal\"}\n", "1: 2\n",
	"~: 2\n",
	"[a]: 2\n", "? [a]\n: 2\n", "? a\n", "a\n", "job: *x\n", "job: !!map {}\n", "<<: {a: 1}\n",
	"job: {<<: {accum: 1}}\n",
	"job: [{accum: 2}]\n", "job: [[&x a]]\n", "budgets: {step.time: [error, [&x a]]}\n", "job: {\"a: 1}\n", "job: {a\n",
	"job: a: b\n", "job:\n- a\n b\n", "@\n", "version: 1\n---\n---\n", "version: 1\n---\nversion: 1\n",
	"version: 1\nversion: 2\n", "job: {}\njob: {}\n", "job: {accum: 1, 'accum': 2}\n",
	"budgets: {step.time: off, \"step\\x2etime\": off}\n",
	"select: " + strings.Repeat("[", 15) + strings.Repeat("]", 15),
	"select: " + strings.Repeat("[", 16) + strings.Repeat("]", 16),
	"select: " + strings.Repeat("[", 17) + strings.Repeat("]", 17),
	deep(15), deep(16), deep(17),

	// The document.
	"extends: gaprof:off\n", "extends: off\n", "extends: [a]\n", "extends:\n", "extends: gaprof:strict\nextend: x\n",
	"budgets:\n  step.time: off\nextends: gaprof:recommended\n",
	"extends: gaprof:recommended\nbudgets: {grad.scale.needless: warn}\n",
	"extends: gaprof:strict\nbudgets:\n  findings.warn: off\n  findings.error: [note]\n" +
		"  step.time: [warn, {max: 1ms}]\n" +
		"regressions:\n  step.time: warn\n  idle.time: off\n  idle.ratio: off\n" +
		"  comm.exposed.time: [error, {max_increase: 1ms}]\n",
	"a: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\ng: 1\nh: 1\ni: 1\nk: 1\nl: 1\n",
	"budgets: {a: off}\nextends: x\njob: {accum: x, norm: y}\n",

	"{version: 1, budgets: {a: off}, extends: x}\n",

	// The job.
	"job: {accum: 1, norm: sum, ranks: 8}\n", "job: {accum: -1}\n", "job: {accum: 1.5}\n", "job: {accum: 1e3}\n",
	"job: {accum: [2]}\n", "job: {accum: 1073741824}\n", "job: {accum: 1073741825}\n", "job: {norm: [sum]}\n",
	"job: {ranks: all}\n", "job: {ranks: any}\n", "job: {ranks: 1}\n", "job: {ranks: 0}\n", "job: {ranks: some}\n",
	"job: {ranks: [1]}\n", "job: {peak_bw: 3.35TB/s}\n", "job: {peak_bw: 900 GB/s}\n", "job: {peak_bw: 1e3MB/s}\n",
	"job: {peak_bw: 0GB/s}\n", "job: {peak_bw: -1GB/s}\n", "job: {peak_bw: 1e6TB/s}\n", "job: {peak_bw: 999999TB/s}\n",
	"job: {peak_bw: 900KB/s}\n", "job: {peak_bw: [1TB/s]}\n", "job: {peak_bw: TB/s}\n",
	"job: {communication: {a: all_to_all, 'b.*c': none}}\n", "job: {communication: ['a=b=none', c=all-to-all]}\n",
	"job: {communication: [=none]}\n", "job: {communication: [a=]}\n", "job: {communication: {'.*': none}}\n",
	"job: {communication: {a: [none]}}\n", "job: {communication: {a: nothing}}\n",
	"job: {communication: [a=nothing]}\n",
	"job: {communication: none, ranks: x}\n",

	// Which steps.
	"select: {steps: '3:8', aggregate: max, skip_warmup: 3}\n", "select: {steps: ':8', skip_warmup: true}\n",
	"select: {steps: '3:', skip_warmup: false}\n", "select: {steps: 'last:1', skip_warmup: 0}\n",
	"select: {steps: '8', skip_warmup: -1}\n", "select: {steps: [3], skip_warmup: [3]}\n", "select: {aggregate: []}\n",
	"select: {skip_warmup: yes}\n", "select: {steps: 'last:0'}\n", "select: {steps: '5:5'}\n",
	"select: {steps: '5:6'}\n",
	"select: {skip_warmup: auto, aggregate: mean}\n",

	// Budgets and regressions.
	"budgets: {step.time: [error, {max: 5ms}]}\n", "budgets: {step.time: [note, {min: 1us, max: 1us}]}\n",
	"budgets: {step.time: [warn, {min: 2us, max: 1us}]}\n", "budgets: {step.time: []}\n",
	"budgets: {step.time: [error]}\n",
	"budgets: {step.time: [error, {max: 1ms}, {min: 1ms}]}\n", "budgets: {step.time: [error, [max]]}\n",
	"budgets: {step.time: [error, {}]}\n", "budgets: {step.time: [error, ]}\n",
	"budgets: {step.time: [[error], {max: 1ms}]}\n",
	"budgets: {step.time: [error, {max: [1ms]}]}\n", "budgets: {step.time: [error, {max: 1ms, unknown: [ok]}]}\n",
	"budgets: {step.time: [error, {max: 1ms, unknown: ok}], micro_batches: [error, {max: 1, unknown: inconclusive}]}\n",
	"budgets: {micro_batches: [error, {max: -1}]}\n", "budgets: {memory.peak: [error, {max: 40}]}\n",
	"budgets: {rs.overlap.ratio: [error, {min: 80%}], memory.peak: [error, {max: 40GiB}]}\n",
	"budgets: {step.time: [off, {max: 1ms}], x: off, micro_batch: warn}\n", "budgets: {findings.new: warn}\n",
	"budgets: {findings.new: off}\n", "budgets: {micro_batches: [error, {max: 2}], step.time: [error, {max: 1ms}]}\n",
	"regressions: {step.time: [error, {max_increase: 3%, max_decrease: 1ms, min_delta: 2us, alpha: 0.01}]}\n",
	"regressions: {step.time: [error, {max_increase: 3 %, unknown: ok}], micro_batches: [warn, {max_decrease: 0}]}\n",
	"regressions: {step.time: [error, {max_increase: 3}]}\n",
	"regressions: {step.time: [error, {max_increase: 3%%}]}\n",
	"regressions: {step.time: [error, {max_increase: [3%]}]}\n",
	"regressions: {step.time: [error, {max_increase: -1ms}]}\n",
	"regressions: {step.time: [error, {max_decrease: -3%}]}\n",
	"regressions: {step.time: [error, {max_increase: 1%, min_delta: -1ms}]}\n",
	"regressions: {step.time: [error, {max_increase: 1%, min_delta: 0}]}\n",
	"regressions: {step.time: [error, {max_increase: 1%, min_delta: 3%}]}\n",
	"regressions: {rs.overlap.ratio: [error, {max_decrease: 3%, min_delta: 3%}]}\n",
	"regressions: {step.time: [error, {max_increase: 1%, alpha: 0}]}\n",
	"regressions: {step.time: [error, {max_increase: 1%, alpha: 1e-9}]}\n",
	"regressions: {step.time: [error, {max_increase: 1%, alpha: [1]}]}\n",
	"regressions: {step.time: [error, {max_increase: 1%, alpha: low}]}\n",
	"regressions: {step.time: [error, {alpha: low}]}\n", "regressions: {step.time: [error, {unknown: ok}]}\n",
	"regressions: {step.time: error}\n", "regressions: {step.time: off}\n", "regressions: {wait.max: error}\n",
	"regressions: {wait.max: off, rs.launched_in_optimizer: off}\n", "regressions: {rs.launched_in_optimizer: warn}\n",
	"regressions: {findings.new: [error, {max_increase: 0}]}\n", "regressions: [step.time]\n",
	"regressions: {step.time: {max_increase: 3%}}\n", "regressions: {step.time: [bad, {max_increase: 3%}]}\n",
	"regressions: {step.time: [error, {max_incraese: 3%}]}\n",

	// Ignores.
	"ignore: [{rule: GS001, reason: ' why ', until: 2027-03-01}, {rule: step.time, reason: x}]\n",
	"ignore: {rule: GS001}\n",
	"ignore: [GS001]\n", "ignore: [{}]\n", "ignore:\n-\n", "ignore: [{rule: GS001, reason: '  '}]\n",
	"ignore: [{rule: [GS001], reason: x}]\n", "ignore: [{rule: GS001, reason: [x]}]\n",
	"ignore: [{rule: GS001, reason: x, until: [2027-03-01]}]\n",
	"ignore: [{rule: GS001, reason: x, until: 2027-02-29}]\n",
	"ignore: [{rule: GS001, reason: x, until: 2027-03-01T10:00:00Z}]\n",
	"ignore: [{rule: GS001, reason: x, untill: 1}]\n",
	"ignore: [{rule: GS009, reason: x}, {rule: GS001, reason: x}]\n",
}

// deep is a mapping in a mapping, n of them below a section.
func deep(n int) string {
	text := "select:\n"
	for i := range n {
		text += strings.Repeat(" ", i+1) + "a:\n"
	}
	return text + strings.Repeat(" ", n+1) + "b\n"
}

// TestSizeOfConfiguration: one of 64 KiB is read, and one that is a byte larger is not.
func TestSizeOfConfiguration(t *testing.T) {
	const text = "version: 1\n# "
	whole := text + strings.Repeat("x", 1<<16-len(text))
	if _, err := Parse("f", []byte(whole), ruleIDs); err != nil {
		t.Error(err)
	}
	if _, err := Parse("f", []byte(whole+"x"), ruleIDs); err == nil ||
		err.Error() != "f: a configuration has at most 65536 bytes" {
		t.Error(err)
	}
	if l := FileLimit(true); l.Bytes != 1<<16 || !l.Pipes || l.What == "" || l.Hint == "" || FileLimit(false).Pipes {
		t.Errorf("%+v", l)
	}
}

// TestMetricInWords: a metric says its unit, how it is decided, and what to write.
func TestMetricInWords(t *testing.T) {
	for name, want := range map[string]string{
		"findings.new": "findings.new, count, against a baseline: ", "wait.max": "wait.max, ns, recording: ",
		"step.time": "step.time, ns, median: ", "micro_batches": "micro_batches, count, exact: ",
		"rs.launched_in_optimizer": "rs.launched_in_optimizer, count, exact, recording: ",
	} {
		m, _ := FindMetric(name)
		text := m.Explain(map[string]string{"show": "--show"})
		rest := fmt.Sprintf("%s%s\n  in the report: %s\n  write: %s\n  next: ", want, m.Definition, m.Path,
			example[m.Unit])
		if !strings.HasPrefix(text, rest) || strings.Contains(text, "{show}") {
			t.Errorf("%s: %s", name, text)
		}
	}
	m, _ := FindMetric("step.time")
	if unit, better := m.Bench(); unit != "ns/op" || better != "lower" {
		t.Error(unit, better)
	}
	if i := (&Metric{}).index(); i != len(Metrics()) {
		t.Errorf("a metric that is in no table stands at %d", i)
	}
}
