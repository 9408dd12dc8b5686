package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// material is what a run has written, sorted.
type material struct {
	files     []string // as named to the user
	traces    []string
	gradients []sidecar.GradientFile
}

// gather sorts paths into traces, logs and gradients; logs go into the options.
func gather(s streams, paths []string, o *analyze.Options) (*material, error) {
	m := &material{}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch ext := strings.ToLower(filepath.Ext(path)); {
		case err == nil && info.IsDir():
			err = m.folder(path, o)
		case ext == ".safetensors":
			err = m.gradientFile(path)
		case ext == ".jsonl" || ext == ".csv" || ext == ".ndjson":
			err = m.log(path, ext, o)
		default:
			m.traces = append(m.traces, path)
		}
		if err != nil {
			return nil, err
		}
		m.files = append(m.files, path)
	}
	return m, nil
}

// folder takes what a folder holds: traces, logs, gradients there or in gradients/.
func (m *material) folder(dir string, o *analyze.Options) error {
	traces, err := tracefile.Expand([]string{dir})
	if err == nil {
		m.traces = append(m.traces, traces...)
	}
	found := err == nil
	for _, name := range []string{tokensFile, lossFile} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			if err := m.log(path, ".jsonl", o); err != nil {
				return err
			}
			found = true
		}
	}
	list, gradientsErr := gradientsIn(dir)
	if gradientsErr != nil {
		return gradientsErr
	}
	m.gradients = append(m.gradients, list...)
	if !found && len(list) == 0 {
		return err
	}
	return nil
}

// gradientsIn lists the gradients in a folder, or in its folder gradients.
func gradientsIn(dir string) ([]sidecar.GradientFile, error) {
	list, err := sidecar.FindGradients(dir)
	if err != nil || len(list) > 0 {
		return list, err
	}
	return sidecar.FindGradients(filepath.Join(dir, gradientsDir))
}

func (m *material) gradientFile(path string) error {
	file, err := sidecar.OpenSafetensors(path)
	if err != nil {
		return err
	}
	of, err := file.Of()
	if err != nil { // a file by itself may be of anything: there is nothing to mistake it for
		of, err = sidecar.GradientOf{MicroBatch: -1}, nil
	}
	m.gradients = append(m.gradients, sidecar.GradientFile{File: path, Of: of})
	return errors.Join(err, file.Close())
}

// log reads a log of tokens, of losses, or of both.
func (m *material) log(path, ext string, o *analyze.Options) error {
	tokens, tokenErr := readTokenLog(path, o)
	if tokenErr == nil && (o.Tokens == nil || o.TokensFound) && filepath.Base(path) != lossFile {
		o.Tokens, o.TokensFrom, o.TokensFound = tokens, path, filepath.Base(path) == tokensFile
	}
	if ext == ".csv" {
		return tokenErr
	}
	losses, lossErr := readLossLog(path)
	if lossErr == nil {
		o.Losses = losses
	}
	if tokenErr != nil && lossErr != nil {
		if filepath.Base(path) == lossFile {
			return lossErr
		}
		return tokenErr
	}
	return nil
}

// compareGradients compares the gradients of a run with those of another, or with what
// its own micro-batches give, and puts what they say into the options. Of two runs only
// the first common step is judged: later ones start from other weights.
func compareGradients(m *material, against string, o *analyze.Options, report *normalization.Report) ([]normalization.GradientReport, error) {
	var reference []sidecar.GradientFile
	if against != "" {
		var err error
		if reference, err = gradientsAt(against); err != nil {
			return nil, err
		}
		if len(m.gradients) == 0 {
			return nil, usage("write gradients with gaprof train --gradients, or pass .safetensors files", "--against: there are no gradients to compare")
		}
	}
	var list []normalization.GradientReport
	judged := int64(-1)
	for _, file := range m.gradients {
		if file.Of.MicroBatch >= 0 {
			continue
		}
		g, err := compareOne(m, file, reference, caseOfStep(o, file.Of))
		if errors.Is(err, normalization.ErrNoGradients) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if judged < 0 {
			judged = file.Of.Step
		}
		if g.Against != byMicroBatches && file.Of.Step > judged {
			g.Cause = nil
		} else {
			o.Gradients = append(o.Gradients, analyze.GradientCause{Step: file.Of.Step, Cause: g.Cause})
		}
		list = append(list, *g)
	}
	switch {
	case len(list) == 0 && len(m.gradients) > 0:
		report.Notes = append(report.Notes, "gradients have nothing to be compared with: pass --against, or write those of single micro-batches")
	case slices.ContainsFunc(list, func(g normalization.GradientReport) bool { return g.Cause == nil }):
		report.Notes = append(report.Notes, "of later steps no cause is named: the two runs start them from other weights")
	}
	return list, nil
}

func gradientsAt(path string) ([]sidecar.GradientFile, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, &tracefile.Error{File: path, Reason: "cannot be read: " + err.Error(), Err: err}
	} else if !info.IsDir() {
		m := &material{}
		err := m.gradientFile(path)
		return m.gradients, err
	}
	list, err := gradientsIn(path)
	if err == nil && len(list) == 0 {
		err = &tracefile.Error{File: path, Reason: "holds no gradients (*.safetensors)", Err: fs.ErrNotExist}
	}
	return list, err
}

// caseOfStep is the tokens of a step by the logs; without any, ranks that have none.
func caseOfStep(o *analyze.Options, of sidecar.GradientOf) *normalization.Case {
	if c := analyze.CaseOf(*o, of.Step); c != nil {
		return c
	}
	return &normalization.Case{Tokens: make([][]int64, of.WorldSize)}
}

// byMicroBatches stands where the right gradients are those that micro-batches give.
const byMicroBatches = "the gradients of the micro-batches"

// compareOne compares one file with that of the same step and rank, else of the same
// step, else with what micro-batches give.
func compareOne(m *material, file sidecar.GradientFile, reference []sidecar.GradientFile, c *normalization.Case) (_ *normalization.GradientReport, err error) {
	var open []*sidecar.Safetensors
	defer func() {
		for _, s := range open {
			err = errors.Join(err, s.Close())
		}
	}()
	load := func(path string) (*sidecar.Safetensors, error) {
		s, err := sidecar.OpenSafetensors(path)
		if err == nil {
			open = append(open, s)
		}
		return s, err
	}
	g, report := normalization.Gradients{}, &normalization.GradientReport{Step: file.Of.Step, Rank: file.Of.Rank, File: file.File, Against: byMicroBatches}
	if g.Observed, err = load(file.File); err != nil {
		return nil, err
	}
	if other, ok := counterpart(reference, file.Of); ok {
		if g.Reference, err = load(other); err != nil {
			return nil, err
		}
		report.Against = other
	}
	for _, micro := range m.gradients {
		if micro.Of.Step != file.Of.Step || micro.Of.MicroBatch < 0 || micro.Of.Rank >= int64(len(c.Tokens)) {
			continue
		}
		if g.Micro == nil {
			g.Micro = make([][]*sidecar.Safetensors, len(c.Tokens))
		}
		row := &g.Micro[micro.Of.Rank]
		for int64(len(*row)) <= micro.Of.MicroBatch && len(*row) < len(c.Tokens[micro.Of.Rank]) {
			*row = append(*row, nil)
		}
		if micro.Of.MicroBatch >= int64(len(*row)) {
			continue
		}
		if (*row)[micro.Of.MicroBatch], err = load(micro.File); err != nil {
			return nil, err
		}
	}
	report.Verdict, err = normalization.Audit(c, g)
	return report, err
}

// counterpart finds the reference of a file.
func counterpart(reference []sidecar.GradientFile, of sidecar.GradientOf) (string, bool) {
	for _, same := range []func(sidecar.GradientOf) bool{
		func(r sidecar.GradientOf) bool { return r.Step == of.Step && r.Rank == of.Rank },
		func(r sidecar.GradientOf) bool { return r.Step == of.Step },
	} {
		for _, r := range reference {
			if r.Of.MicroBatch < 0 && same(r.Of) {
				return r.File, true
			}
		}
	}
	return "", false
}
