package normalization

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// shelf is files of gradients in memory, by name.
type shelf map[string][]float64

func (s shelf) open(name string) (*sidecar.Safetensors, error) {
	values, ok := s[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	var b bytes.Buffer
	tensor := sidecar.Tensor{Name: "w", Dtype: sidecar.F64, Shape: []int64{int64(len(values))}, Values: values}
	if err := sidecar.WriteSafetensors(&b, nil, []sidecar.Tensor{tensor}); err != nil {
		return nil, err
	}
	return sidecar.ReadSafetensors(bytes.NewReader(b.Bytes()), int64(b.Len()), name)
}

// file is the file of a rank, a step and a micro-batch, -1 for the gradients of the rank.
func file(name string, rank, step, micro int64) sidecar.GradientFile {
	return sidecar.GradientFile{
		File: name,
		Of:   sidecar.GradientOf{Rank: rank, Step: step, MicroBatch: micro, WorldSize: 2},
	}
}

// audited says what comparing files says, in short.
func audited(a *GradientAudit) string {
	var b strings.Builder
	for _, r := range a.Reports {
		cause := "no cause"
		if r.Cause != nil {
			cause = string(r.Cause.Mode) + " x " + r.Cause.Factor
		}
		fmt.Fprintf(&b, "%s against %s: %s\n", r.File, r.Against, cause)
	}
	for _, c := range a.Causes {
		fmt.Fprintf(&b, "step %d: %s x %s\n", c.Step, c.Cause.Mode, c.Cause.Factor)
	}
	if a.Alone {
		b.WriteString("alone\n")
	}
	if a.Later {
		b.WriteString("later\n")
	}
	return b.String()
}

func TestGradientSet(t *testing.T) {
	files := shelf{
		"half0": {1, 2}, "half1": {1, 2}, "half-later": {3, 3},
		"right0": {2, 4}, "right1": {2, 4}, "right-later": {9, 1},
		"micro00": {6, 0}, "micro01": {0, 2}, "micro10": {2, 10}, "sum": {8, 10}, "mean": {1, 1.25},
	}
	counts := &Counts{Tokens: [][]int64{{4, 0}, {4}}}
	for _, test := range []struct {
		name           string
		run, reference []sidecar.GradientFile
		c              *Counts
		want           string
	}{
		{"nothing", nil, nil, nil, ""},
		{"the same rank goes before others",
			[]sidecar.GradientFile{file("half1", 1, 0, -1)},
			[]sidecar.GradientFile{file("sum", 0, 0, -1), file("right1", 1, 0, -1)}, nil,
			"half1 against right1: global x 1/R\nstep 0: global x 1/R\n"},
		{"another rank of the step",
			[]sidecar.GradientFile{file("half1", 1, 0, -1)}, []sidecar.GradientFile{file("right0", 0, 0, -1)}, nil,
			"half1 against right0: global x 1/R\nstep 0: global x 1/R\n"},
		{"a reference of another step, or of a micro-batch, is none",
			[]sidecar.GradientFile{file("half1", 1, 0, -1)},
			[]sidecar.GradientFile{file("right0", 0, 1, -1), file("micro00", 1, 0, 0)}, nil, "alone\n"},
		{
			"only the first step of two runs is judged",
			[]sidecar.GradientFile{file("half0", 0, 3, -1), file("half1", 1, 3, -1), file("half-later", 0, 4, -1)},
			[]sidecar.GradientFile{file("right0", 0, 3, -1), file("right-later", 0, 4, -1)},
			nil,
			"half0 against right0: global x 1/R\nhalf1 against right0: global x 1/R\n" +
				"half-later against right-later: no cause\nstep 3: global x 1/R\nstep 3: global x 1/R\nlater\n",
		},
		{
			"micro-batches give the right ones, in every step",
			[]sidecar.GradientFile{file("mean", 0, 0, -1), file("sum", 0, 1, -1),
				file("micro00", 0, 0, 0), file("micro10", 1, 0, 0), file("micro00", 0, 1, 0), file("micro10", 1, 1, 0),
			},
			nil,
			counts,
			"mean against the gradients of the micro-batches: global x 1\n" +
				"sum against the gradients of the micro-batches: global x N\nstep 0: global x 1\nstep 1: global x N\n",
		},
		{"a micro-batch with tokens is missing",
			[]sidecar.GradientFile{file("mean", 0, 0, -1), file("micro00", 0, 0, 0)}, nil, counts, "alone\n"},
		{
			"micro-batches and ranks that no log knows of are passed over",
			[]sidecar.GradientFile{
				file("mean", 0, 0, -1), file("micro00", 0, 0, 0), file("micro10", 1, 0, 0), file("sum", 1, 0, 1),
				file("sum", 2, 0, 0),
			},
			nil,
			counts,
			"mean against the gradients of the micro-batches: global x 1\nstep 0: global x 1\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := GradientSet{
				Run:       test.run,
				Reference: test.reference,
				Open:      files.open,
				Counts:    func(int64) *Counts { return test.c },
			}
			a, err := set.Audit()
			if err != nil || audited(a) != test.want {
				t.Errorf("%v\n%s\nwant\n%s", err, audited(a), test.want)
			}
		})
	}
}

func TestGradientSetErrors(t *testing.T) {
	set := GradientSet{Open: shelf{"half0": {1, 2}, "short": {1}}.open, Counts: func(int64) *Counts { return nil }}
	set.Run = []sidecar.GradientFile{file("absent", 0, 0, -1)}
	if _, err := set.Audit(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	set.Run = []sidecar.GradientFile{file("half0", 0, 0, -1)}
	set.Reference = []sidecar.GradientFile{file("short", 0, 0, -1)}
	if _, err := set.Audit(); err == nil || !strings.Contains(err.Error(), "shape") {
		t.Errorf("another model: %v", err)
	}
}
