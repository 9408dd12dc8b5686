package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// runFolder is the folder a run is written to: rank0.json.gz and so on, tokens.jsonl,
// loss.jsonl, gradients/rank0-step0.safetensors.
type runFolder struct {
	dir   string
	made  bool // by this run: it did not exist before
	wrote []string
}

// The files of a run other than traces.
const (
	tokensFile   = sidecar.TokensFile
	lossFile     = sidecar.LossFile
	gradientsDir = sidecar.GradientsDir
)

// openFolder creates a folder for a run and checks that it is writable. Without force it
// rejects a folder that is not empty; with force it removes the files of an earlier run
// from it, and no others.
func openFolder(dir string, force bool) (*runFolder, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0 && !force:
		return nil, &tracefile.Error{File: dir, Reason: "exists already and is not empty",
			Hint: "--force replaces the run in it", Err: fs.ErrExist}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, folderError(dir, err)
	}
	f := &runFolder{dir: dir, made: err != nil}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, folderError(dir, err)
	}
	probe, err := os.CreateTemp(dir, ".gaprof-*")
	if err != nil {
		return nil, folderError(dir, err)
	}
	return f, errors.Join(probe.Close(), os.Remove(probe.Name()), f.clear())
}

func folderError(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &tracefile.Error{File: dir, Reason: err.Error(), Hint: "-o names a folder that can be made and written to",
		Err: err}
}

// clear removes the files of an earlier run.
func (f *runFolder) clear() error {
	for _, pattern := range []string{"rank*.json.gz", tokensFile, lossFile, gradientsDir + "/rank*-step*.safetensors"} {
		files, err := filepath.Glob(filepath.Join(escapeGlob(f.dir), pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// escapeGlob returns a pattern that matches only the given path.
func escapeGlob(path string) string {
	var out []byte
	for _, c := range []byte(path) {
		if c == '*' || c == '?' || c == '[' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(out)
}

// discard removes the folder of a failed run if it was created for it and is empty.
func (f *runFolder) discard() error {
	if f.made {
		os.Remove(f.dir)
	}
	return nil
}

// gradients writes the gradients of one rank and step.
func (f *runFolder) gradients(rank, step, world int, tensors []sidecar.Tensor) error {
	dir := filepath.Join(f.dir, gradientsDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return sidecar.WriteGradients(dir, sidecar.GradientOf{Rank: int64(rank), Step: int64(step), MicroBatch: -1,
		WorldSize: int64(world)}, tensors)
}

// write writes traces and logs. A rank without recorded events gets no trace.
func (f *runFolder) write(t *trained) error {
	for rank := range t.options.WorldSize {
		name := fmt.Sprintf("rank%d.json.gz", rank)
		made := t.trace(rank)
		if made.Len() == 0 {
			continue
		}
		if err := tracefile.Write(filepath.Join(f.dir, name), made, tracefile.WriteOptions{Force: true}); err != nil {
			return err
		}
		f.wrote = append(f.wrote, filepath.Join(f.dir, name))
	}
	for _, log := range []struct {
		name  string
		write func(w io.Writer) error
	}{
		{tokensFile, func(w io.Writer) error { return sidecar.WriteTokens(w, t.tokens()) }},
		{lossFile, func(w io.Writer) error { return sidecar.WriteLosses(w, t.losses()) }},
	} {
		path := filepath.Join(f.dir, log.name)
		if err := tracefile.Create(path, true, log.write); err != nil {
			return err
		}
		f.wrote = append(f.wrote, path)
	}
	return nil
}
