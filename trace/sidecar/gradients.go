package sidecar

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/gaprof/gaprof/trace"
)

// GradientOf says what a file of gradients holds: those that one rank has before the
// optimizer's step, or, where MicroBatch is not -1, the gradient of the summed loss of
// one micro-batch of that rank alone, before any scaling and reduction.
type GradientOf struct {
	Rank, Step int64 // from 0
	MicroBatch int64 // from 0; -1 for what the rank holds before the optimizer's step
	WorldSize  int64 // ranks in all; 0 unknown
}

// GradientFile is a file of gradients and what it holds.
type GradientFile struct {
	File string     // its path
	Of   GradientOf // by its header and its name
}

// Name is the name of the file: rank0-step3.safetensors, rank0-step3-micro1.safetensors.
func (of GradientOf) Name() string {
	name := fmt.Sprintf("rank%d-step%d", of.Rank, of.Step)
	if of.MicroBatch >= 0 {
		name += fmt.Sprintf("-micro%d", of.MicroBatch)
	}
	return name + ".safetensors"
}

// meta is what the header of the file says.
func (of GradientOf) meta() map[string]string {
	m := map[string]string{
		"format": "pt",
		"rank":   strconv.FormatInt(of.Rank, 10),
		"step":   strconv.FormatInt(of.Step, 10),
	}
	if of.WorldSize > 0 {
		m["world_size"] = strconv.FormatInt(of.WorldSize, 10)
	}
	if of.MicroBatch >= 0 {
		m["micro_batch"] = strconv.FormatInt(of.MicroBatch, 10)
	}
	return m
}

// WriteGradients writes a file of gradients into a folder. A file that exists is not
// overwritten: the error is fs.ErrExist.
func WriteGradients(dir string, of GradientOf, tensors []Tensor) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(WriteGradientsIn(root, of, tensors), root.Close())
}

// WriteGradientsIn is WriteGradients into an open folder.
func WriteGradientsIn(root *os.Root, of GradientOf, tensors []Tensor) (err error) {
	f, err := root.OpenFile(of.Name(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	if err := WriteSafetensors(w, of.meta(), tensors); err != nil {
		return err
	}
	return w.Flush()
}

// FindGradients lists the files of gradients in a folder, by step, rank and
// micro-batch. Their headers are read and damaged ones refused.
func FindGradients(dir string) ([]GradientFile, error) {
	files, err := filesIn(dir, ".safetensors")
	if err != nil {
		return nil, err
	}
	list := make([]GradientFile, 0, len(files))
	for _, file := range files {
		s, err := OpenSafetensors(file)
		if err != nil {
			return nil, err
		}
		of, err := s.Of()
		if err = errors.Join(err, s.Close()); err != nil {
			return nil, err
		}
		list = append(list, GradientFile{file, of})
	}
	slices.SortFunc(list, func(a, b GradientFile) int {
		return cmp.Or(
			cmp.Compare(a.Of.Step, b.Of.Step), cmp.Compare(a.Of.Rank, b.Of.Rank),
			cmp.Compare(a.Of.MicroBatch, b.Of.MicroBatch),
		)
	})
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if a.Of.Step == b.Of.Step && a.Of.Rank == b.Of.Rank && a.Of.MicroBatch == b.Of.MicroBatch {
			reason := "gradients of the same rank, step and micro-batch as " + a.File
			return nil, &trace.FormatError{File: b.File, Reason: reason}
		}
	}
	return list, nil
}

var gradientName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^rank(\d+)-step(\d+)(?:-micro(\d+))?\.safetensors$`)
})

// MostRanks is how many ranks a run may have by its files, ten times the largest there are.
const MostRanks = 1 << 20

// Of says what the file holds, by its metadata and its name, which must not
// contradict each other.
func (s *Safetensors) Of() (GradientOf, error) {
	of := GradientOf{MicroBatch: -1}
	named := gradientName().FindStringSubmatch(filepath.Base(s.File))
	for i, field := range []struct {
		key      string
		to       *int64
		required bool
		most     uint64 // 0: what the type holds
	}{
		{"rank", &of.Rank, true, MostRanks - 1}, {"step", &of.Step, true, 0},
		{"micro_batch", &of.MicroBatch, false, 0}, {"world_size", &of.WorldSize, false, MostRanks},
	} {
		fail := func(format string, args ...any) error {
			return &trace.FormatError{File: s.File, Offset: 8, Reason: "gradients: " + fmt.Sprintf(format, args...)}
		}
		name := ""
		if named != nil && i+1 < len(named) {
			name = named[i+1]
		}
		text, ok := s.Meta[field.key]
		switch {
		case ok && name != "" && text != name:
			if _, err := strconv.ParseUint(text, 10, 31); err == nil {
				return of, fail("%s %s, the name of the file says %s", field.key, text, name)
			}
		case !ok && name == "":
			if field.required {
				return of, fail("neither __metadata__ nor the name of the file says which %s", field.key)
			}
			continue
		case !ok:
			text = name
		}
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return of, fail("%s is %q, not a whole number", field.key, text)
		}
		if field.most > 0 && n > field.most {
			return of, fail("%s %s is more than any run has, %d", field.key, text, field.most)
		}
		*field.to = int64(n)
	}
	return of, nil
}
