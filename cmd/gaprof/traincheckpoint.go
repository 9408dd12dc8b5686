package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/optim"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// checkpointFile holds the last checkpoint of a run, in the format of safetensors. Its name does
// not end in that: it holds no gradients.
const checkpointFile = "checkpoint.bin"

// checkpointFormat names what is in it.
const checkpointFormat = "gaprof.checkpoint/1"

type checkpointFlags struct {
	every  int
	resume bool
}

func (f *checkpointFlags) add(flags *pflag.FlagSet) {
	flags.IntVar(&f.every, "checkpoint-every", 0,
		"write a checkpoint after every so many steps, for --resume; 0: none. It adds copies between steps to traces")
	flags.BoolVar(&f.resume, "resume", false,
		"go on from the last checkpoint in the folder, with its options; those that are given must be the same, but\n"+
			"--max-steps")
}

// checkpoint is a file of one, with what the run was.
type checkpoint struct {
	steps   int
	options map[string]any // of the run, by flag
	weights map[string][]float64
	moments []map[string]optim.Kept
}

// described are the options of a run by flag, as JSON has them.
func (f *trainFlags) described() map[string]any {
	all := make(map[string]any)
	for _, field := range f.options.Fields() {
		switch p := field.Value.(type) {
		case *string:
			all[field.Name] = *p
		case *int:
			all[field.Name] = float64(*p)
		case *float64:
			all[field.Name] = *p
		case *bool:
			all[field.Name] = *p
		}
	}
	all["dataset-size"], all["device"] = float64(f.dataset), f.device.name
	return all
}

// resumed reads the checkpoint to go on from, nil for a new run, and takes over its options.
func (f *trainFlags) resumed() (*checkpoint, error) {
	if f.keep.every < 0 {
		return nil, usage("0 writes none", "--checkpoint-every %d is not a number of steps", f.keep.every)
	}
	if !f.keep.resume {
		return nil, nil
	}
	if f.force {
		return nil, usage("--resume keeps the run in the folder", "--force removes what --resume goes on from")
	}
	c, err := readCheckpoint(filepath.Join(f.output, checkpointFile))
	if err != nil {
		return nil, err
	}
	if err := f.adopt(c); err != nil {
		return nil, err
	}
	if f.options.MaxSteps <= c.steps {
		return nil, usage("raise --max-steps", "done already: %s", units.Count(c.steps, "step"))
	}
	f.options.Weights = c.weights
	f.options.Resume = &reference.Resume{Steps: c.steps, Moments: c.moments}
	return c, nil
}

// adopt takes over the options of a run that were not given, and refuses others that are not the
// same.
func (f *trainFlags) adopt(c *checkpoint) error {
	given := f.described()
	var differ []string
	for name, was := range c.options {
		if f.given(name) && name != "max-steps" && given[name] != was {
			differ = append(differ, fmt.Sprintf("--%s is %v, was %v", name, given[name], was))
		}
	}
	if len(differ) > 0 {
		return usage("leave them out: --resume takes those of the run",
			"--resume: other options than those of the run: %s", strings.Join(sorted(differ), "; "))
	}
	for _, field := range f.options.Fields() {
		was, known := c.options[field.Name]
		if f.given(field.Name) || !known {
			continue
		}
		if !setTo(field.Value, was) {
			return &tracefile.Error{File: filepath.Join(f.output, checkpointFile),
				Reason: fmt.Sprintf("holds %v as --%s", was, field.Name)}
		}
	}
	if n, ok := c.options["dataset-size"].(float64); ok {
		f.dataset = int(n)
	}
	before := f.given
	f.given = func(name string) bool { _, was := c.options[name]; return was || before(name) }
	return nil
}

// setTo sets an option to a value of JSON; false where it is of another type.
func setTo(option, was any) (ok bool) {
	switch p := option.(type) {
	case *string:
		*p, ok = was.(string)
	case *int:
		var n float64
		n, ok = was.(float64)
		*p = int(n)
	case *float64:
		*p, ok = was.(float64)
	case *bool:
		*p, ok = was.(bool)
	}
	return ok
}

// folder opens the folder of a new run, or that of the run to go on with.
func (f *trainFlags) folder(c *checkpoint) (*runFolder, error) {
	if c == nil {
		return openFolder(f.output, f.force)
	}
	root, err := os.OpenRoot(f.output)
	if err != nil {
		return nil, folderError(f.output, err)
	}
	folder := &runFolder{dir: f.output, root: root}
	for _, name := range []string{tokensFile, lossFile} {
		if err := folder.goOn(name, c.steps); err != nil {
			return nil, errors.Join(err, folder.Close())
		}
	}
	return folder, nil
}

// goOn opens a log for more steps, without the lines of those that will be done again.
func (f *runFolder) goOn(name string, steps int) error {
	text, err := f.root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folderError(filepath.Join(f.dir, name), err)
	}
	return f.append(name, func(w io.Writer) error {
		for line := range bytes.Lines(text) {
			var of struct{ Step *int }
			if json.Unmarshal(line, &of) == nil && of.Step != nil && *of.Step < steps {
				if _, err := w.Write(line); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// keepIn has checkpoints written to the folder.
func (f *trainFlags) keepIn(folder *runFolder, job *trainJob) {
	if job.keepEvery = f.keep.every; job.keepEvery == 0 {
		return
	}
	options := f.described()
	var all []reference.Checkpoint // of the ranks that have come so far
	job.keep = func(c reference.Checkpoint) {
		if len(all) > 0 && all[0].Steps != c.Steps {
			all = nil
		}
		if all = append(all, c); len(all) == f.options.WorldSize {
			slices.SortFunc(all, func(a, b reference.Checkpoint) int { return a.Rank - b.Rank })
			job.fail(folder.create(checkpointFile, func(w io.Writer) error {
				return writeCheckpoint(w, all, options, f.options.DType)
			}))
		}
	}
}

// writeCheckpoint writes what all ranks keep.
func writeCheckpoint(w io.Writer, all []reference.Checkpoint, options map[string]any, dtype string) error {
	dt := sidecar.F32
	if dtype == "float64" {
		dt = sidecar.F64
	}
	updates := make(map[string]int)
	var tensors []sidecar.Tensor
	add := func(name string, values []float64) {
		if values != nil {
			shape := []int64{int64(len(values))}
			tensors = append(tensors, sidecar.Tensor{Name: name, Dtype: dt, Shape: shape, Values: values})
		}
	}
	for _, t := range all[0].Weights {
		add("weights/"+t.Name, t.Values)
	}
	for _, c := range all {
		for _, t := range c.Weights {
			kept, ok := c.Moments[t.Name]
			if !ok {
				continue
			}
			at := fmt.Sprintf("%d/%s", c.Rank, t.Name)
			updates[at] = kept.Updates
			add("mean/"+at, kept.Mean)
			add("square/"+at, kept.Square)
			add("master/"+at, kept.Master)
		}
	}
	meta := map[string]string{"format": checkpointFormat, "steps": fmt.Sprint(all[0].Steps),
		"ranks": fmt.Sprint(len(all))}
	for name, value := range map[string]any{"options": options, "updates": updates} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		meta[name] = string(text)
	}
	return sidecar.WriteSafetensors(w, meta, tensors)
}
