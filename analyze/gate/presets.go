package gate

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// presetPrefix comes before the names of presets in extends.
const presetPrefix = "gaprof:"

// presets are the configurations that extends names, off first. They are written as
// a configuration is.
var presets = []struct{ name, text string }{
	{"off", ""},
	{"recommended", `
budgets:
  grad.scale.needless: [error, {max: 0, unknown: ok}]
  norm.max_weight_error: [error, {max: 1e-3, unknown: ok}]
  collectives.mismatched: [error, {max: 0, unknown: ok}]
  reductions.per_step: [warn, {max: 1}]
  rs.launched_in_optimizer.per_step: [warn, {max: 0}]
  grad.scale.passes: [warn, {max: 1}]
regressions: # where a baseline is given: step time, structure, findings
  step.time: [error, {max_increase: 3%, min_delta: 1ms, alpha: 0.01, unknown: ok}]
  grad.scale.passes: [error, {max_increase: 0, unknown: ok}]
  grad.clip.passes: [error, {max_increase: 0, unknown: ok}]
  reductions.per_step: [error, {max_increase: 0, unknown: ok}]
  reductions.missing: [error, {max_increase: 0, unknown: ok}]
  rs.launched_in_optimizer.per_step: [error, {max_increase: 0, unknown: ok}]
  ar.launched_in_optimizer.per_step: [error, {max_increase: 0, unknown: ok}]
  collectives.per_step: [error, {max_increase: 0, unknown: ok}]
  comm.bytes.per_step: [error, {max_increase: 0, unknown: ok}]
  device.events.per_step: [warn, {max_increase: 5%}]
  findings.new: [error, {max_increase: 0}]
`},
	{"strict", `
budgets:
  grad.scale.needless: [error, {max: 0}]
  norm.max_weight_error: [error, {max: 1e-6}]
  collectives.mismatched: [error, {max: 0}]
  reductions.per_step: [error, {max: 1}]
  rs.launched_in_optimizer.per_step: [error, {max: 0}]
  grad.scale.passes: [error, {max: 1}]
  findings.error: [error, {max: 0}]
  findings.warn: [error, {max: 0}]
  trace.unlinked.ratio: [error, {max: 1%}]
regressions:
  step.time: [error, {max_increase: 3%, min_delta: 1ms, alpha: 0.01}]
  comm.exposed.time: [error, {max_increase: 5%, min_delta: 0.5ms, alpha: 0.01}]
  idle.time: [warn, {max_increase: 10%, min_delta: 0.5ms, alpha: 0.01}]
  reductions.missing: [error, {max_increase: 0}]
  ar.launched_in_optimizer.per_step: [error, {max_increase: 0}]
  collectives.per_step: [error, {max_increase: 0}]
  comm.bytes.per_step: [error, {max_increase: 0}]
  findings.new: [error, {max_increase: 0}]
`},
}

// PresetNames lists the presets as extends names them.
func PresetNames() []string {
	var names []string
	for _, p := range presets {
		names = append(names, presetPrefix+p.name)
	}
	return names
}

// Preset returns the configuration of a preset, with or without its prefix.
func Preset(name string) (Config, bool) {
	name = strings.TrimPrefix(name, presetPrefix)
	for _, p := range presets {
		if p.name == name {
			base := Config{Extends: name, Select: defaultSelect}
			c, err := parse(presetPrefix+name, []byte("version: 1\n"+p.text), nil, base)
			if err != nil {
				panic(err) // a broken preset is a bug, which the tests of presets catch
			}
			for i := range c.Regressions {
				c.Regressions[i].preset = true
			}
			return c, true
		}
	}
	return Config{}, false
}

// defaultSelect is all steps after the warm-up, by their median.
var defaultSelect = Select{Warmup: AutoWarmup, Aggregate: "median"}

// setBudget puts a budget in its place, replacing one of the same metric.
func (c *Config) setBudget(b Budget) {
	c.Budgets = inPlace(c.Budgets, b, func(b Budget) *Metric { return b.Metric }, b.Severity)
}

func (c *Config) setRegression(r Regression) {
	c.Regressions = inPlace(c.Regressions, r, func(r Regression) *Metric { return r.Metric }, r.Severity)
}

// inPlace keeps a list in the order of the table; off removes its metric.
func inPlace[T any](list []T, one T, of func(T) *Metric, severity report.Severity) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(t T) bool { return of(t) == of(one) })
	if severity == report.Off {
		return list
	}
	at := slices.IndexFunc(list, func(t T) bool { return of(t).index() > of(one).index() })
	if at < 0 {
		at = len(list)
	}
	return slices.Insert(list, at, one)
}
