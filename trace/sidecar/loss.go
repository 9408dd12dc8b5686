package sidecar

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"sync"

	"github.com/gaprof/gaprof/trace"
)

// MicroLoss is the summed loss of one micro-batch of one rank.
type MicroLoss struct {
	Rank, Step, MicroBatch int64   // from 0
	Sum                    float64 // over valid tokens; NaN where the log does not say
	Tokens                 int64   // valid ones; -1 where the log does not say
}

// StepLoss is what one rank says of the loss of a step. NaN is unknown, or NaN in the log.
type StepLoss struct {
	Rank, Step int64   // from 0
	Logged     float64 // what the run prints
	Optimised  float64 // the number whose gradient it follows
}

// BadLoss is a loss that is no number any more.
type BadLoss struct {
	Rank, Step, MicroBatch int64  // from 0; MicroBatch is -1 for the loss of a step
	What                   string // NaN, Infinity or -Infinity
}

// LossLog is a log of losses.
type LossLog struct {
	Micro []MicroLoss // in the order of the log
	Steps []StepLoss  // in the order of the log
	Bad   []BadLoss   // in the order of the log
}

// lossLine is the part of a log line that is about losses.
type lossLine struct {
	Rank       *int64   `json:"rank"`
	Step       *int64   `json:"step"`
	MicroBatch *int64   `json:"micro_batch"`
	Sum        *float64 `json:"loss_sum"`
	Mean       *float64 `json:"loss_mean"`
	Tokens     *int64   `json:"local_valid_tokens"`
	Logged     *float64 `json:"logged_loss"`
	Loss       *float64 `json:"loss"`
	Optimised  *float64 `json:"optimized_loss"`
	Bad        string   `json:"not_finite"` // what a loss is that JSON has no number for
}

// bareLoss is a loss that is written as Python writes what JSON has no number for.
var bareLoss = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:loss|loss_sum|loss_mean|logged_loss|optimized_loss)"\s*:\s*(NaN|-?Infinity)\b`)
})

// notFinite takes the text of a line that is no JSON.
func (l *lossLine) notFinite(text []byte) {
	if m := bareLoss().FindSubmatch(text); m != nil && l.Bad == "" {
		l.Bad = string(m[1])
	}
}

// bad takes in a loss that is no number.
func (log *LossLog) bad(l *lossLine, rank int64) {
	if l.Tokens != nil && *l.Tokens == 0 || !slices.Contains([]string{"NaN", "Infinity", "-Infinity"}, l.Bad) {
		return // a mean over nothing is NaN in many logs
	}
	log.Bad = append(log.Bad, BadLoss{orElse(l.Rank, rank), *l.Step, orElse(l.MicroBatch, -1), l.Bad})
}

// ReadLosses reads a loss log, one JSON object a line: loss_sum (or loss_mean) with
// local_valid_tokens of a micro_batch, and logged_loss (or loss) and optimized_loss of a
// step. rank is what a line without one gets; lines about other things are passed over.
// Errors are *trace.FormatError with line and byte offset.
func ReadLosses(r io.Reader, file string, rank int64) (*LossLog, error) {
	log := new(LossLog)
	var all tokenSum
	err := readLines(r, file, "loss log", func(l *lossLine) error { return log.take(l, rank, &all) })
	if err == nil && len(log.Micro)+len(log.Steps)+len(log.Bad) == 0 {
		err = &trace.FormatError{File: file, Reason: noLosses}
	}
	if err != nil {
		return nil, err
	}
	return log, nil
}

const noLosses = "loss log without a single loss"

// WithoutLosses reports whether an error of ReadLosses says that the log is whole but is
// about other things.
func WithoutLosses(err error) bool {
	var format *trace.FormatError
	return errors.As(err, &format) && format.Reason == noLosses
}

func (log *LossLog) take(l *lossLine, rank int64, all *tokenSum) error {
	if l.Step == nil {
		return nil
	}
	log.bad(l, rank)
	if l.MicroBatch == nil && l.Logged == nil && l.Loss == nil && l.Optimised == nil {
		return nil
	}
	nan := math.NaN()
	if l.MicroBatch == nil {
		logged := orElse(l.Logged, orElse(l.Loss, nan))
		log.Steps = append(log.Steps, StepLoss{orElse(l.Rank, rank), *l.Step, logged, orElse(l.Optimised, nan)})
		return checkPlace(orElse(l.Rank, rank), *l.Step, -1)
	}
	m := MicroLoss{orElse(l.Rank, rank), *l.Step, *l.MicroBatch, orElse(l.Sum, nan), orElse(l.Tokens, -1)}
	switch {
	case m.Tokens < -1:
		return fmt.Errorf("%d tokens", m.Tokens)
	case m.Tokens == 0:
		m.Sum = 0 // a mean over nothing is NaN in many logs
	case l.Sum == nil && l.Mean != nil && m.Tokens > 0:
		m.Sum = *l.Mean * float64(m.Tokens)
	}
	if err := all.add(m.Tokens); err != nil {
		return err
	}
	log.Micro = append(log.Micro, m)
	return checkPlace(m.Rank, m.Step, m.MicroBatch)
}

// WriteLosses writes a log that ReadLosses reads: micro-batches first, then steps.
// Unknown numbers are left out.
func WriteLosses(w io.Writer, log *LossLog) error {
	b := bufio.NewWriter(w)
	bad := make(map[BadLoss]string)
	for _, l := range log.Bad {
		bad[BadLoss{l.Rank, l.Step, l.MicroBatch, ""}] = l.What
	}
	for _, m := range log.Micro {
		fmt.Fprintf(b, `{"step":%d,"rank":%d,"micro_batch":%d`, m.Step, m.Rank, m.MicroBatch)
		number(b, "loss_sum", m.Sum)
		if m.Tokens >= 0 {
			fmt.Fprintf(b, `,"local_valid_tokens":%d`, m.Tokens)
		}
		if what := bad[BadLoss{m.Rank, m.Step, m.MicroBatch, ""}]; what != "" {
			fmt.Fprintf(b, `,"not_finite":%q`, what)
		}
		b.WriteString("}\n")
	}
	for _, s := range log.Steps {
		fmt.Fprintf(b, `{"step":%d,"rank":%d`, s.Step, s.Rank)
		number(b, "logged_loss", s.Logged)
		number(b, "optimized_loss", s.Optimised)
		b.WriteString("}\n")
	}
	return b.Flush()
}

// number writes a field with the shortest decimal that reads back the same.
func number(b *bufio.Writer, name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		fmt.Fprintf(b, `,%q:%v`, name, v)
	}
}
