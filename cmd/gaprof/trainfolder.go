package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// runFolder is the folder a run is written to: rank0.json.gz and so on, tokens.jsonl,
// loss.jsonl, gradients/rank0-step0.safetensors. Everything in it is reached through its
// handle, so that no link that leads out of it is ever followed.
type runFolder struct {
	dir  string
	root *os.Root
	made bool // by this run: it did not exist before

	mu    sync.Mutex
	wrote []string
	logs  runLogs
}

// The files of a run other than traces.
const (
	tokensFile   = sidecar.TokensFile
	lossFile     = sidecar.LossFile
	gradientsDir = sidecar.GradientsDir
)

// runFiles match the names of all files of a run, in its folder and in that of its gradients.
var (
	runFiles = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(rank\d+\.json\.gz|node_\d+\.pt\.trace\.json\.gz|` +
			`tokens\.jsonl|loss\.jsonl|checkpoint\.bin)$`)
	})
	gradientFiles = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^rank\d+-step\d+(-micro\d+)?\.safetensors$`)
	})
)

// openFolder creates a folder for a run and checks that it is writable. Without force it
// rejects a folder that is not empty; with force it removes the files of an earlier run
// from it, and no others. What has the name of such a file and is none, such as a link, is
// an error, and nothing is removed then.
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
	if f.root, err = os.OpenRoot(dir); err != nil {
		return nil, folderError(dir, err)
	}
	if err := f.probe(); err != nil {
		return nil, errors.Join(folderError(dir, err), f.root.Close())
	}
	if err := f.clear(); err != nil {
		return nil, errors.Join(err, f.root.Close())
	}
	return f, nil
}

// Close lets go of the folder.
func (f *runFolder) Close() error {
	var errs []error
	for _, file := range f.logs.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(append(errs, f.root.Close())...)
}

// probe checks that files can be made.
func (f *runFolder) probe() error {
	name := fmt.Sprintf(".gaprof-%d", os.Getpid())
	probe, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), f.root.Remove(name))
}

func folderError(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &tracefile.Error{File: dir, Reason: err.Error(), Hint: "-o names a folder that can be made and written to",
		Err: err}
}

// clear removes the files of an earlier run, once it is known that all of them are files.
func (f *runFolder) clear() error {
	old, err := f.filesOf(f.root, ".", runFiles())
	if err != nil {
		return err
	}
	inner, err := f.openGradients()
	switch {
	case err != nil:
		return err
	case inner == nil:
		return removeAll(f.root, old)
	}
	defer inner.Close()
	gradients, err := f.filesOf(inner, gradientsDir, gradientFiles())
	if err != nil {
		return err
	}
	return errors.Join(removeAll(f.root, old), removeAll(inner, gradients))
}

// filesOf lists what in a folder has a name of ours. All of it must be plain files.
func (f *runFolder) filesOf(root *os.Root, folder string, names *regexp.Regexp) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, entry := range entries {
		if !names.MatchString(entry.Name()) {
			continue
		}
		if !entry.Type().IsRegular() {
			return nil, f.notOurs(filepath.Join(folder, entry.Name()), entry.Type())
		}
		list = append(list, entry.Name())
	}
	return list, nil
}

func removeAll(root *os.Root, names []string) error {
	for _, name := range names {
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// openGradients opens the folder of gradients, nil where there is none. A link in its place
// is an error: what it leads to belongs to somebody else.
func (f *runFolder) openGradients() (*os.Root, error) {
	info, err := f.root.Lstat(gradientsDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, f.notOurs(gradientsDir, info.Mode())
	}
	inner, err := f.root.OpenRoot(gradientsDir)
	if err != nil {
		return nil, err
	}
	opened, err := inner.Stat(".")
	if err == nil && !os.SameFile(info, opened) { // somebody has put a link there meanwhile
		err = f.notOurs(gradientsDir, fs.ModeSymlink)
	}
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return inner, nil
}

// notOurs is the error of what stands where a run has a file or folder of its own.
func (f *runFolder) notOurs(name string, mode fs.FileMode) error {
	reason := bounded.What(mode) + ", which no run leaves there"
	return &tracefile.Error{File: filepath.Join(f.dir, name), Reason: reason,
		Hint: "take it away, or name another folder; nothing was removed"}
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
	err := f.root.Mkdir(gradientsDir, 0o777)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	inner, err := f.openGradients()
	if err != nil {
		return err
	}
	of := sidecar.GradientOf{Rank: int64(rank), Step: int64(step), MicroBatch: -1, WorldSize: int64(world)}
	return errors.Join(sidecar.WriteGradientsIn(inner, of, tensors), inner.Close())
}

// write writes traces and what is missing of the logs. A rank without recorded events gets no trace.
func (f *runFolder) write(t *trained) error {
	if err := f.writeTraces(t); err != nil {
		return err
	}
	slices.SortFunc(f.wrote, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return f.finishLogs(t)
}

// create makes a file that is not there: what was, was removed. It appears when it is whole.
func (f *runFolder) create(name string, encode func(io.Writer) error) error {
	temp := fmt.Sprintf(".%s.%d", name, os.Getpid())
	file, err := f.root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return folderError(filepath.Join(f.dir, name), err)
	}
	if err = errors.Join(encode(file), file.Close()); err == nil {
		err = f.root.Rename(temp, name) // over a link too, not through it
	}
	if err != nil {
		return errors.Join(folderError(filepath.Join(f.dir, name), err), f.root.Remove(temp))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if file := filepath.Join(f.dir, name); !slices.Contains(f.wrote, file) {
		f.wrote = append(f.wrote, file)
	}
	return nil
}
