package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// material is what a run has written, sorted.
type material struct {
	files     []string // as named to the user
	traces    []string
	passed    []string // that have the name of a trace, in folders
	gradients []sidecar.GradientFile
	limits    ingest.Limits
}

// gather sorts paths into traces, logs and gradients; logs go into the options.
func gather(paths []string, o *analyze.Options, l ingest.Limits) (*material, error) {
	m := &material{limits: l}
	named, err := namedFiles(paths)
	if err != nil {
		return nil, err
	}
	for _, path := range named {
		info, err := os.Stat(path)
		switch ext := strings.ToLower(filepath.Ext(path)); {
		case path == tracefile.Stdin:
			m.traces, err = append(m.traces, path), nil
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

// namedFiles are the files and folders that paths name, globs and lists replaced by what they do.
func namedFiles(paths []string) ([]string, error) {
	var list []string
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			list = append(list, path)
			continue
		}
		files, err := tracefile.Expand([]string{path})
		if err != nil {
			return nil, err
		}
		list = append(list, files...)
	}
	return list, nil
}

// folder takes what a folder holds: traces, logs, gradients there or in gradients/.
func (m *material) folder(dir string, o *analyze.Options) error {
	all, err := tracefile.ExpandAll([]string{dir})
	m.traces, m.passed = append(m.traces, all.Files...), append(m.passed, all.Passed...)
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
	if err != nil { // the name says no rank and step: fine for a file that is named by itself
		of, err = sidecar.GradientOf{MicroBatch: -1}, nil
	}
	m.gradients = append(m.gradients, sidecar.GradientFile{File: path, Of: of})
	return errors.Join(err, file.Close())
}

// log reads a log of tokens, of losses, or of both.
func (m *material) log(path, ext string, o *analyze.Options) error {
	tokens, tokenErr := ingest.ReadTokenLog(path, o.RankOf, m.limits)
	if tokenErr == nil && (o.Logs.Tokens == nil || o.Logs.TokensFound) && filepath.Base(path) != lossFile {
		o.Logs.Tokens, o.Logs.TokensFrom, o.Logs.TokensFound = tokens, path, filepath.Base(path) == tokensFile
	}
	if ext == ".csv" {
		return tokenErr
	}
	losses, lossErr := ingest.ReadLossLog(path, m.limits)
	if lossErr == nil {
		o.Logs.Losses = losses
	}
	switch {
	case tokenErr != nil && lossErr != nil && filepath.Base(path) != lossFile:
		return tokenErr
	case lossErr != nil && (tokenErr != nil || !sidecar.WithoutLosses(lossErr)):
		return lossErr // it is damaged, not another kind of log
	}
	return nil
}

// compareGradients compares the gradients of a run with those of another, or with what
// its own micro-batches give, and puts the outcome into the options.
func compareGradients(m *material, against string, o *analyze.Options) (*normalization.GradientAudit, error) {
	set := normalization.GradientSet{Run: m.gradients, Open: sidecar.OpenSafetensors,
		Counts: func(step int64) *normalization.Counts { return analyze.CountsOf(*o, step) }}
	if against != "" {
		var err error
		if set.Reference, err = gradientsAt(against); err != nil {
			return nil, err
		}
		if len(m.gradients) == 0 {
			return nil, usage("write gradients with gaprof train --gradients, or pass .safetensors files",
				"--against: there are no gradients to compare")
		}
	}
	audit, err := set.Audit()
	if err != nil {
		return nil, err
	}
	for _, c := range audit.Causes {
		o.Logs.Gradients = append(o.Logs.Gradients, analyze.GradientCause(c))
	}
	return audit, nil
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
