package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// runLogs are the logs of a run, which are written step by step: what a program has done until it
// is killed is there.
type runLogs struct {
	files map[string]*os.File
	steps int // that were written
}

// log appends a step to the logs.
func (f *runFolder) log(o reference.Options, s reference.StepResult) error {
	one := &trained{options: o, steps: []reference.StepResult{s}}
	f.logs.steps++
	return errors.Join(
		f.append(tokensFile, func(w io.Writer) error { return sidecar.WriteTokens(w, one.tokens()) }),
		f.append(lossFile, func(w io.Writer) error { return sidecar.WriteLosses(w, one.losses()) }))
}

// append adds to a log by one call of the system, so that no line is torn.
func (f *runFolder) append(name string, encode func(io.Writer) error) error {
	file := f.logs.files[name]
	if file == nil {
		temp := fmt.Sprintf(".%s.%d", name, os.Getpid())
		var err error
		if file, err = f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666); err == nil {
			err = f.root.Rename(temp, name) // over a link too, not through it
		}
		if err != nil {
			return folderError(filepath.Join(f.dir, name), err)
		}
		if f.logs.files == nil {
			f.logs.files = make(map[string]*os.File)
		}
		f.logs.files[name] = file
	}
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		return err
	}
	if _, err := file.Write(b.Bytes()); err != nil {
		return folderError(filepath.Join(f.dir, name), err)
	}
	return nil
}

// finishLogs writes the steps that were not yet.
func (f *runFolder) finishLogs(t *trained) error {
	for _, s := range t.steps[min(f.logs.steps, len(t.steps)):] {
		if err := f.log(t.options, s); err != nil {
			return err
		}
	}
	nothing := func(io.Writer) error { return nil }
	for _, name := range []string{tokensFile, lossFile} { // a run without steps has logs too
		if err := f.append(name, nothing); err != nil {
			return err
		}
		f.wrote = append(f.wrote, filepath.Join(f.dir, name))
	}
	return nil
}

// badLoss is the first loss of a step that is no number, "" where there is none.
func badLoss(o reference.Options, s reference.StepResult) string {
	if o.Target.Shapes {
		return ""
	}
	for j := range s.MicroBatches {
		for _, r := range s.Ranks {
			if what := notFinite(r.LossSums[j]); what != "" && r.Tokens[j] > 0 {
				return fmt.Sprintf("the loss is %s in step %d of rank %d, first in micro-batch %d", what, s.Step,
					r.Rank, j)
			}
		}
	}
	return ""
}

// notFinite is the name of what is no number, "" for one that is.
func notFinite(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return ""
}
