package main

import (
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/internal/ingest"
)

// selectFlags choose rules, ranks and steps, and what is worth reporting.
type selectFlags struct {
	enable, disable []string
	minImpact       string
	ranks, steps    string
	rankRegex       string
	tokens          string
	communication   []string
	normalization   string
	peakBandwidth   string
	alignClocks     bool
}

func (f *selectFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.enable, "enable", nil, "run only these rules")
	flags.StringSliceVar(&f.disable, "disable", nil, "do not run these rules")
	flags.StringVar(&f.ranks, "ranks", "", "only these ranks: 0,4-7")
	flags.StringVar(&f.steps, "steps", "", "only these optimizer steps: 3:8 (without 8) or last:5")
	flags.StringVar(&f.tokens, "tokens", "auto",
		"token counts: a log (CSV or JSON lines), uniform (all ranks always have equally many) or auto (annotations, "+
			"else tokens.jsonl beside the traces)")
	addCommunication(flags, &f.communication)
	flags.StringVar(&f.normalization, "normalization", "",
		"how gradients are meant to be normalized: global, per-rank, micro-mean or sum")
	flags.StringVar(&f.rankRegex, "rank-regex", "", "regular expression whose first group is the rank in a file name")
}

// addTimes adds the flags about times, for commands that say what something costs.
func (f *selectFlags) addTimes(flags *pflag.FlagSet) {
	flags.StringVar(&f.minImpact, "min-impact", "", "leave out findings that cost less per step: 0.5ms or 1%")
	flags.StringVar(&f.peakBandwidth, "peak-bw", "",
		"peak memory bandwidth of the device: 3.35TB/s; else from a table by its name")
	flags.BoolVar(&f.alignClocks, "align-clocks", false,
		"subtract each rank's clock residual before waiting is measured; always done between hosts")
}

// needTraces reports whether a flag says something about traces that no report can follow.
func (f *selectFlags) needTraces() bool {
	return f.steps != "" || f.ranks != "" || len(f.communication) > 0
}

func (f *selectFlags) parse(all []analyze.Rule) (analyze.Options, error) {
	o := analyze.Options{RankOf: ingest.RankOfFile, AlignClocks: f.alignClocks, Choices: flagNames}
	var err error
	if o.Rules, err = f.rules(all); err != nil {
		return o, err
	}
	if f.rankRegex != "" {
		re, err := regexp.Compile(f.rankRegex)
		if err != nil || re.NumSubexp() < 1 {
			return o, usage("for example --rank-regex 'host(\\d+)'",
				"--rank-regex %q is not a regular expression with a group", f.rankRegex)
		}
		o.RankOf, o.FileFirst = ingest.RankBy(re), true
	}
	if o.MinCost, o.MinShare, err = parseImpact(f.minImpact); err != nil {
		return o, err
	}
	if o.Communication, err = parseCommunication(f.communication); err != nil {
		return o, err
	}
	if o.Normalization, err = parseNormalization(f.normalization); err != nil {
		return o, err
	}
	if o.Ranks, err = parseRanks(f.ranks); err != nil {
		return o, err
	}
	if o.PeakBandwidth, err = parseBandwidth(f.peakBandwidth); err != nil {
		return o, err
	}
	o.Steps, err = parseSteps(f.steps)
	return o, err
}

// readTokens reads the token log, once the other flags are known to be valid.
func (f *runFlags) readTokens(o *analyze.Options) error {
	switch f.tokens {
	case "", "auto":
		return nil
	case "uniform":
		o.UniformTokens = true
		return nil
	}
	machine, err := f.machineFlags.parse()
	if err != nil {
		return err
	}
	list, err := ingest.ReadTokenLog(f.tokens, o.RankOf, machine)
	var path *fs.PathError
	if errors.As(err, &path) {
		return usage("--tokens takes a file, uniform or auto", "--tokens: %v", err)
	}
	o.Logs.Tokens, o.Logs.TokensFrom = list, f.tokens
	return err
}

// parseNormalization reads a mode, written with hyphens or underscores.
func parseNormalization(s string) (normalization.Mode, error) {
	switch m := normalization.Mode(strings.ReplaceAll(s, "-", "_")); m {
	case "", normalization.Global, normalization.PerRank, normalization.MicroMean, normalization.Sum:
		return m, nil
	}
	return "", usage("write global, per-rank, micro-mean or sum", "--normalization %q is not a normalization", s)
}

// bandwidthUnits are the units of --peak-bw, in bytes/s; GB is 10^9 bytes.
var bandwidthUnits = []struct {
	suffix string
	factor float64
}{{"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}}

func parseBandwidth(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	for _, unit := range bandwidthUnits {
		if number, ok := strings.CutSuffix(s, unit.suffix); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && v > 0 && v < 1e6 {
				return int64(v * unit.factor), nil
			}
		}
	}
	return 0, usage("write 3.35TB/s or 900GB/s", "--peak-bw %q is not a bandwidth", s)
}

// rules applies --enable and --disable.
func (f *selectFlags) rules(all []analyze.Rule) ([]analyze.Rule, error) {
	known := func(id string) bool { return slices.ContainsFunc(all, func(r analyze.Rule) bool { return r.ID == id }) }
	for _, id := range append(slices.Clone(f.enable), f.disable...) {
		if !known(id) {
			return nil, usage(orNear(strings.ToUpper(id), ruleIDs(), "gaprof explain lists the rules"),
				"unknown rule %q", id)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r analyze.Rule) bool {
		return slices.Contains(f.disable, r.ID) || len(f.enable) > 0 && !slices.Contains(f.enable, r.ID)
	}), nil
}

// parseImpact reads a least cost per step in ns or as a share of the step.
func parseImpact(s string) (ns int64, share float64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	if percent, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err == nil && v >= 0 && v <= 100 {
			return 0, v / 100, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return int64(d), 0, nil
	}
	return 0, 0, usage("write 0.5ms or 1%", "--min-impact %q is neither a duration nor a percentage", s)
}

// parseRanks reads 0,4-7 into a predicate; nil is all.
func parseRanks(s string) (func(int64) bool, error) {
	if s == "" {
		return nil, nil
	}
	type span struct{ from, to int64 }
	var spans []span
	for _, part := range strings.Split(s, ",") {
		from, to, isSpan := strings.Cut(strings.TrimSpace(part), "-")
		if !isSpan {
			to = from
		}
		a, errA := strconv.ParseInt(from, 10, 64)
		b, errB := strconv.ParseInt(to, 10, 64)
		if errA != nil || errB != nil || a > b {
			return nil, usage("write 0,4-7", "--ranks: %q is neither a rank nor a range", part)
		}
		spans = append(spans, span{a, b})
	}
	return func(rank int64) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.from <= rank && rank <= s.to })
	}, nil
}

// parseSteps reads 3:8 (half-open, either end may be absent) or last:5 into a
// function of the number of steps; nil is all.
func parseSteps(s string) (func(n int) (from, to int), error) {
	if s == "" {
		return nil, nil
	}
	bad := usage("write 3:8 or last:5", "--steps %q is not a range of steps", s)
	left, right, ok := strings.Cut(s, ":")
	if !ok {
		return nil, bad
	}
	if left == "last" {
		k, err := strconv.Atoi(right)
		if err != nil || k < 1 {
			return nil, bad
		}
		return func(n int) (int, int) { return max(0, n-k), n }, nil
	}
	from, errFrom := atoiOr(left, 0)
	to, errTo := atoiOr(right, int(^uint(0)>>1))
	if errFrom != nil || errTo != nil || from < 0 || to <= from {
		return nil, bad
	}
	return func(n int) (int, int) { return min(from, n), min(to, n) }, nil
}

func atoiOr(s string, empty int) (int, error) {
	if s == "" {
		return empty, nil
	}
	return strconv.Atoi(s)
}
