package normalization

import (
	"errors"
	"slices"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// GradientSet is the files of gradients that a run has written, and what they are to be
// compared with.
type GradientSet struct {
	Run       []sidecar.GradientFile // in the order of reports; those of micro-batches are evidence, not compared
	Reference []sidecar.GradientFile // of a right run; nil: the gradients of the micro-batches give the right ones

	// Open opens a file of either list; whoever calls closes it. sidecar.OpenSafetensors does.
	Open func(file string) (*sidecar.Safetensors, error)
	// Counts is the tokens of a step; nil where they are not known.
	Counts func(step int64) *Counts
}

// GradientAudit is what comparing the gradients of a run says.
type GradientAudit struct {
	Reports []GradientReport // by file of the run, but for those with nothing to be compared with
	Causes  []StepCause      // what the reports say of how steps are normalized

	// Alone reports whether the run has gradients and none of them has anything to be
	// compared with.
	Alone bool
	// Later reports whether there are reports without a cause, because they are of steps
	// that the two runs started from other weights.
	Later bool
}

// StepCause is what the gradients of a step say of its normalization.
type StepCause struct {
	Step  int64  // as the file names it
	Cause *Cause // the mode and factor that explain them
}

// ByMicroBatches is GradientReport.Against where the right gradients are those that
// the micro-batches give.
const ByMicroBatches = "the gradients of the micro-batches"

// Audit compares every file of the run: with the reference of the same step and rank, else
// of the same step, else with what the micro-batches give. Of two runs only the first step
// that they share is judged: later ones start from other weights. The errors are those of
// opening and reading, and *trace.FormatError where two files are not of one model.
func (s *GradientSet) Audit() (*GradientAudit, error) {
	a := &GradientAudit{}
	judged := int64(-1) // the step that is judged; steps of files are not negative
	for _, file := range s.Run {
		if file.Of.MicroBatch >= 0 {
			continue
		}
		report, err := s.audit(file)
		if errors.Is(err, ErrNoGradients) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if judged < 0 {
			judged = file.Of.Step
		}
		if report.Against != ByMicroBatches && file.Of.Step > judged {
			report.Cause = nil
		} else {
			a.Causes = append(a.Causes, StepCause{file.Of.Step, report.Cause})
		}
		a.Reports = append(a.Reports, *report)
	}
	a.Alone = len(a.Reports) == 0 && len(s.Run) > 0
	a.Later = slices.ContainsFunc(a.Reports, func(r GradientReport) bool { return r.Cause == nil })
	return a, nil
}

// audit compares one file.
func (s *GradientSet) audit(file sidecar.GradientFile) (_ *GradientReport, err error) {
	open := opener{open: s.Open}
	defer func() { err = errors.Join(err, open.close()) }()
	report := &GradientReport{Step: file.Of.Step, Rank: file.Of.Rank, File: file.File, Against: ByMicroBatches}
	c := s.countsOf(file.Of)
	var g Gradients
	if g.Observed, err = open.file(file.File); err != nil {
		return nil, err
	}
	if other, ok := s.counterpart(file.Of); ok {
		if g.Reference, err = open.file(other); err != nil {
			return nil, err
		}
		report.Against = other
	}
	if g.Micro, err = s.microBatches(&open, file.Of.Step, c); err != nil {
		return nil, err
	}
	report.Verdict, err = Audit(c, g)
	return report, err
}

// countsOf is the tokens of a step; where they are not known, ranks that have none.
func (s *GradientSet) countsOf(of sidecar.GradientOf) *Counts {
	if c := s.Counts(of.Step); c != nil {
		return c
	}
	return &Counts{Tokens: make([][]int64, of.WorldSize)}
}

// microBatches opens the gradients of the micro-batches of a step, in the shape of its
// tokens, with nil for those that are not there. It is nil where there are none at all.
func (s *GradientSet) microBatches(open *opener, step int64, c *Counts) ([][]*sidecar.Safetensors, error) {
	var table [][]*sidecar.Safetensors
	for _, file := range s.Run {
		rank, micro := file.Of.Rank, file.Of.MicroBatch
		if file.Of.Step != step || micro < 0 || rank >= int64(len(c.Tokens)) {
			continue
		}
		if table == nil {
			table = make([][]*sidecar.Safetensors, len(c.Tokens))
			for r, row := range c.Tokens {
				table[r] = make([]*sidecar.Safetensors, len(row))
			}
		}
		if micro >= int64(len(table[rank])) {
			continue // the logs know of fewer
		}
		var err error
		if table[rank][micro], err = open.file(file.File); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// counterpart finds the file of the reference that a file of the run is compared with.
// Ranks hold the same gradients once these are reduced, so any of the step will do.
func (s *GradientSet) counterpart(of sidecar.GradientOf) (string, bool) {
	for _, same := range []func(sidecar.GradientOf) bool{
		func(r sidecar.GradientOf) bool { return r.Step == of.Step && r.Rank == of.Rank },
		func(r sidecar.GradientOf) bool { return r.Step == of.Step },
	} {
		for _, r := range s.Reference {
			if r.Of.MicroBatch < 0 && same(r.Of) {
				return r.File, true
			}
		}
	}
	return "", false
}

// opener opens files and closes all of them together.
type opener struct {
	open  func(file string) (*sidecar.Safetensors, error)
	files []*sidecar.Safetensors
}

func (o *opener) file(name string) (*sidecar.Safetensors, error) {
	s, err := o.open(name)
	if err == nil {
		o.files = append(o.files, s)
	}
	return s, err
}

func (o *opener) close() error {
	var err error
	for _, s := range o.files {
		err = errors.Join(err, s.Close())
	}
	return err
}
