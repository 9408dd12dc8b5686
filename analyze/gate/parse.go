package gate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/spelling"
)

// mostErrors is how many errors of one file are reported.
const mostErrors = 10

// Parse reads a configuration. rules are the IDs that it may name besides metrics. The
// error joins one ConfigError for each fault, in the order of the file.
func Parse(file string, text []byte, rules []string) (Config, error) {
	return parse(file, text, rules, Config{Extends: "off", Select: defaultSelect})
}

// parse reads a configuration on top of another one, which extends replaces.
func parse(file string, text []byte, rules []string, base Config) (Config, error) {
	root, err := readYAML(file, text)
	if err != nil {
		return Config{}, err
	}
	r := &reader{file: file, rules: rules, config: base}
	if root == nil {
		r.errs = append(r.errs, &ConfigError{File: file, Message: "is empty", Hint: "it begins with version: 1"})
	} else {
		r.document(root)
	}
	if len(r.errs) > 0 {
		slices.SortStableFunc(r.errs, func(a, b *ConfigError) int { return (a.Line-b.Line)<<16 + a.Column - b.Column })
		var all []error
		for _, e := range r.errs[:min(len(r.errs), mostErrors)] {
			all = append(all, e)
		}
		return Config{}, errors.Join(all...)
	}
	return r.config, nil
}

// reader turns a tree into a Config and collects its faults.
type reader struct {
	file   string
	rules  []string // the known IDs
	config Config
	errs   []*ConfigError
}

// fail notes what is wrong at n; hint may be empty.
func (r *reader) fail(n *node, hint, format string, args ...any) {
	r.errs = append(r.errs, &ConfigError{r.file, n.line, n.column, fmt.Sprintf(format, args...), hint})
}

// want reports whether n has a form, and notes a fault where it has not.
func (r *reader) want(n *node, f form, what, hint string) bool {
	if n.form != f {
		r.fail(n, hint, "%s is %s, not %s", what, f, n.form)
	}
	return n.form == f
}

// each calls a function for each known key of a mapping.
func (r *reader) each(n *node, what string, keys map[string]func(*node)) {
	if n.form == empty || !r.want(n, mapping, what, "") {
		return
	}
	for _, f := range n.fields { // no key stands twice in a mapping: YAML forbids it
		if read, ok := keys[f.key.text]; ok {
			read(f.value)
		} else {
			r.unknown(f.key, "key in "+what, sortedKeys(keys))
		}
	}
}

func sortedKeys[T any](m map[string]T) []string {
	var names []string
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

// unknown notes that a word is none of the candidates, and suggests the nearest.
func (r *reader) unknown(n *node, what string, candidates []string) {
	hint := "there are " + strings.Join(candidates, ", ")
	if near := spelling.Nearest(n.text, candidates); near != "" {
		hint = "did you mean " + near + "?"
	} else if len(candidates) > 12 {
		hint = "docs/metrics.md lists what there is"
	}
	r.fail(n, hint, "unknown %s %q", what, n.text)
}

// document reads the whole: extends first, because the rest adds to it.
func (r *reader) document(root *node) {
	if !r.want(root, mapping, "a configuration", "it begins with version: 1") {
		return
	}
	version := false
	for _, f := range root.fields {
		if f.key.text == "extends" {
			r.extends(f.value)
		}
	}
	r.each(root, "the configuration", map[string]func(*node){
		"version":     func(n *node) { version = true; r.version(n) },
		"extends":     func(*node) {},
		"job":         r.job,
		"select":      r.selection,
		"budgets":     r.budgets,
		"regressions": r.regressions,
		"ignore":      r.ignores,
	})
	if !version {
		r.fail(root, "write version: 1", "no version")
	}
}

func (r *reader) version(n *node) {
	if r.want(n, scalar, "version", "write version: 1") && n.text != "1" {
		r.fail(n, "this gaprof reads version 1", "unknown version %q", n.text)
	}
}

func (r *reader) extends(n *node) {
	if !r.want(n, scalar, "extends", "write extends: gaprof:recommended") {
		return
	}
	preset, ok := Preset(n.text)
	if !ok || !strings.HasPrefix(n.text, presetPrefix) {
		r.unknown(n, "preset", PresetNames())
		return
	}
	r.config = preset
}

func (r *reader) job(n *node) {
	r.each(n, "job", map[string]func(*node){
		"accum":   func(n *node) { r.config.Job.Accumulation = r.integer(n, "accum", 1) },
		"norm":    func(n *node) { r.config.Job.Normalization = r.oneOf(n, "normalization", normalizations) },
		"peak_bw": r.bandwidth,
		"ranks":   r.ranks,

		"communication": r.communication,
	})
}

// ranks reads how many ranks there have to be.
func (r *reader) ranks(n *node) {
	switch {
	case !r.want(n, scalar, "ranks", "write all, any, or a number of ranks"):
	case n.text == "all":
		r.config.Job.Ranks = AllRanks
	case n.text == "any":
		r.config.Job.Ranks = AnyRanks
	default:
		r.config.Job.Ranks = r.integer(n, "ranks (or all, or any)", 1)
	}
}

// normalizations are the modes of normalization.mode that are known.
var normalizations = []string{"global", "per_rank", "micro_mean", "sum"}

func (r *reader) bandwidth(n *node) {
	hint := "write 3.35TB/s or 900GB/s"
	if !r.want(n, scalar, "peak_bw", hint) {
		return
	}
	for _, u := range []struct {
		suffix string
		factor float64
	}{{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}} {
		head, ok := strings.CutSuffix(n.text, u.suffix)
		if v, isNumber := number(strings.TrimSpace(head)); ok && isNumber && v > 0 && v*u.factor < 1e18 {
			r.config.Job.PeakBandwidth = int64(v * u.factor)
			return
		}
	}
	r.fail(n, hint, "%q is not a bandwidth", n.text)
}

// integer reads a whole number of at least some value.
func (r *reader) integer(n *node, what string, least int) int {
	if !r.want(n, scalar, what, "") {
		return 0
	}
	v, err := strconv.Atoi(n.text)
	if err != nil || v < least || v > 1<<30 {
		r.fail(n, "", "%s is a whole number from %d on, not %q", what, least, n.text)
		return 0
	}
	return v
}

func (r *reader) oneOf(n *node, what string, words []string) string {
	if r.want(n, scalar, what, "") && !slices.Contains(words, n.text) {
		r.unknown(n, what, words)
	}
	return n.text
}

func (r *reader) selection(n *node) {
	r.each(n, "select", map[string]func(*node){
		"steps":       r.steps,
		"skip_warmup": r.warmup,
		"aggregate": func(n *node) {
			r.config.Select.Aggregate = r.oneOf(n, "aggregate", []string{"median", "mean", "max"})
		},
	})
}

func (r *reader) warmup(n *node) {
	switch {
	case !r.want(n, scalar, "skip_warmup", "write auto, a number of steps, or false"):
	case n.text == "auto", n.text == "true":
		r.config.Select.Warmup = AutoWarmup
	case n.text == "false":
		r.config.Select.Warmup = 0
	default:
		r.config.Select.Warmup = r.integer(n, "skip_warmup", 0)
	}
}

func (r *reader) steps(n *node) {
	hint := `write "3:8" or "last:5"`
	if !r.want(n, scalar, "steps", hint) {
		return
	}
	s, ok := ParseRange(n.text)
	if !ok {
		r.fail(n, hint, "%q is not a range of steps", n.text)
	}
	r.config.Select.Steps = s
}

// ParseRange reads 3:8 (without 8; either end may be absent) or last:5.
func ParseRange(text string) (Range, bool) {
	left, right, ok := strings.Cut(text, ":")
	if left == "last" {
		n, err := strconv.Atoi(right)
		return Range{Last: n}, ok && err == nil && n > 0
	}
	from, errFrom := orDefault(left, 0)
	to, errTo := orDefault(right, 1<<30)
	return Range{From: from, To: to}, ok && errFrom == nil && errTo == nil && from >= 0 && to > from
}

func orDefault(s string, absent int) (int, error) {
	if s == "" {
		return absent, nil
	}
	return strconv.Atoi(s)
}

func (r *reader) ignores(n *node) {
	if n.form == empty || !r.want(n, sequence, "ignore", "- {rule: GS002, until: 2027-03-01, reason: ...}") {
		return
	}
	for _, item := range n.items {
		one := Ignore{Place: fmt.Sprintf("%s:%d:%d", r.file, item.line, item.column)}
		before := len(r.errs)
		r.each(item, "an entry of ignore", map[string]func(*node){
			"rule":   func(n *node) { one.Rule = r.oneOf(n, "rule or metric", slices.Concat(r.rules, MetricNames())) },
			"until":  func(n *node) { one.Until = r.date(n) },
			"reason": func(n *node) { r.want(n, scalar, "reason", ""); one.Reason = strings.TrimSpace(n.text) },
		})
		if len(r.errs) > before {
			continue
		}
		if one.Rule == "" {
			r.fail(item, "", "an entry of ignore needs a rule")
		}
		if one.Reason == "" {
			r.fail(item, "say why, for whoever finds it later", "an entry of ignore needs a reason")
		}
		r.config.Ignores = append(r.config.Ignores, one)
	}
}

func (r *reader) date(n *node) time.Time {
	if !r.want(n, scalar, "until", "write 2027-03-01") {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, n.text)
	if err != nil {
		r.fail(n, "write 2027-03-01", "%q is not a date", n.text)
	}
	return day
}

// severity reads off, note, warn or error.
func (r *reader) severity(n *node) report.Severity {
	if !r.want(n, scalar, "a severity", "off, note, warn or error") {
		return ""
	}
	s, err := report.ParseSeverity(n.text)
	if err != nil {
		r.unknown(n, "severity", []string{"off", "note", "warn", "error"})
	}
	return s
}
