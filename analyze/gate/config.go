package gate

import (
	"fmt"
	"time"

	"github.com/gaprof/gaprof/analyze/report"
)

// ConfigFile is the file name that is searched for from the working directory upward.
const ConfigFile = "gaprof.yaml"

// Config is what a gate asks for. The zero value asks for nothing.
type Config struct {
	Extends     string       // off, recommended or strict
	Job         Job          // its zero value declares nothing
	Select      Select       // of which steps the values are
	Budgets     []Budget     // in the order of the table of metrics
	Regressions []Regression // likewise
	Ignores     []Ignore     // in the order of the file
}

// Job is what the configuration declares of the run.
type Job struct {
	Accumulation  int    // micro-batches that one optimizer step accumulates; 0 not declared
	Normalization string // global, per_rank, micro_mean or sum; empty not declared
	PeakBandwidth int64  // of the device's memory in bytes/s; 0 not declared

	// Ranks is how many ranks of a run have to be there, each with a complete step, or AllRanks,
	// or AnyRanks. 0 is not declared: then what depends on missing ones cannot be decided.
	Ranks int

	// Communication is what kernels communicate that gaprof does not know, as REGEX=KIND in
	// the order of the file: the last that fits decides. All are valid.
	Communication []string
}

// What Job.Ranks may be beside a number: without all ranks of the world nothing passes, or the
// ranks that there are stand for all.
const (
	AllRanks = -1
	AnyRanks = -2
)

// Select chooses steps and how the values of several become one.
type Select struct {
	Steps     Range  // the zero value is all
	Warmup    int    // steps to leave out at the beginning; AutoWarmup: those that compile or load code
	Aggregate string // median, mean or max
}

// AutoWarmup leaves out the steps that rule TH006 found, where it found any.
const AutoWarmup = -1

// Range is steps by index: From to below To, or the Last ones. The zero value is all.
type Range struct {
	From, To int // steps From to below To; both 0 where Last is set
	Last     int // that many at the end; 0 where From and To say which
}

// Budget bounds a metric. A bound that is nil does not exist.
type Budget struct {
	Metric   *Metric         // a row of Metrics; never nil
	Severity report.Severity // of a value out of bounds
	Max, Min *float64        // in the unit of the metric
	Tolerant bool            // what cannot be decided may pass, unless the values at hand are out of bounds
}

// Regression bounds how far a metric may move away from the baseline. It fails where
// every condition holds.
type Regression struct {
	Metric      *Metric         // a row of Metrics; never nil
	Severity    report.Severity // of a value that moved too far
	MaxIncrease *Change         // nil: it may grow without bound
	MaxDecrease *Change         // nil: it may shrink without bound
	MinDelta    float64         // in the unit of the metric; smaller changes pass
	Alpha       float64         // of the Mann-Whitney test; times only
	Tolerant    bool            // as that of a Budget

	preset bool // it came from the preset, not from the file
}

// Change is a share of the baseline, or an amount in the unit of the metric.
type Change struct {
	Value float64 // from 0 on; 0.03 for 3 % where Share
	Share bool    // of the baseline's value
}

// Ignore takes a rule or a metric out of the gate until the end of a day (UTC); the zero
// time is for ever.
type Ignore struct {
	Rule   string    // the ID of a rule or the name of a metric
	Until  time.Time // midnight (UTC) at the beginning of its last day; zero: for ever
	Reason string    // why, in the words of whoever wrote it; never empty
	Place  string    // file, line and column
}

// ConfigError is one thing wrong with a configuration. Line and Column count from 1;
// 0 is a file as a whole.
type ConfigError struct {
	File         string // as the caller named it
	Line, Column int    // from 1; 0 of a file as a whole
	Message      string // what is wrong
	Hint         string // what would be right; may be empty
}

func (e *ConfigError) Error() string {
	text := e.Message
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, text)
}

// defaultAlpha is the significance of a change of times unless alpha says otherwise.
const defaultAlpha = 0.05
