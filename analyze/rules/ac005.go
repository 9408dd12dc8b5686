package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// AC005 finds one backward pass over the losses of several forward passes.
var AC005 = analyze.Rule{
	ID:    "AC005",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "one backward pass for several micro-batches keeps all their activations",
		Why: "If the losses of all micro-batches are summed and backward() runs once per " +
			"step, every micro-batch's activations stay in memory until then: the peak " +
			"grows with the number of micro-batches, which accumulation is meant to avoid.",
		Fix: toCallBackward,
	},
	Needs: []analyze.Need{needOptimizerSteps, needBackward},
	Run:   runAC005,
}

const toCallBackward = "call backward() on each micro-batch's loss, scaled to its share of the step's tokens"

func runAC005(p *analyze.Pass) {
	var worst *heldStep
	for _, r := range p.Ranks {
		for i := range r.Steps {
			s := &r.Steps[i]
			if !r.Selected(i) || len(s.Backwards) == 0 || s.MicroBatches < 2 || s.MicroBatches <= len(s.Backwards) {
				continue
			}
			one := &heldStep{rank: r, index: s.Index, forwards: s.MicroBatches / len(s.Backwards)}
			one.device, one.peak = mostHeld(r, i)
			if worst == nil || one.compare(worst) > 0 {
				worst = one
			}
		}
	}
	if worst != nil {
		p.Report(report.Note, worst.finding())
	}
}

// heldStep is a step whose backward passes each run back through several forward passes.
type heldStep struct {
	rank     *analyze.Rank
	index    int
	forwards int            // of one backward pass
	device   *memory.Device // nil where what forward passes hold was not recorded
	peak     *memory.Peak   // of the step on that device
}

// mostHeld is the device on which forward passes hold most at the peak of a step. Host
// memory counts where no accelerator's was recorded.
func mostHeld(r *analyze.Rank, step int) (*memory.Device, *memory.Peak) {
	var device *memory.Device
	for i := range r.Memory {
		d := &r.Memory[i]
		if d.Peaks[step].Most.Bytes == 0 {
			continue
		}
		less := func(of *memory.Device) bool {
			return of.Host() && !d.Host() || of.Host() == d.Host() &&
				of.Peaks[step].AtPeak.Bytes < d.Peaks[step].AtPeak.Bytes
		}
		if device == nil || less(device) {
			device = d
		}
	}
	if device == nil {
		return nil, nil
	}
	return device, &device.Peaks[step]
}

// compare orders steps by what forward passes hold at their peaks, then by these; a step
// of which that is unknown is the least.
func (h *heldStep) compare(other *heldStep) int {
	if h.peak == nil || other.peak == nil {
		return cmp.Compare(oneIf(h.peak != nil), oneIf(other.peak != nil))
	}
	return cmp.Or(cmp.Compare(h.peak.AtPeak.Bytes, other.peak.AtPeak.Bytes),
		cmp.Compare(h.peak.Allocated, other.peak.Allocated))
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (h *heldStep) finding() report.Finding {
	f := report.Finding{
		Message: fmt.Sprintf("%d forward passes are held for one backward pass: ", h.forwards),
		Why: fmt.Sprintf("the rarest backward node occurs %d times in one backward pass of step %d",
			h.forwards, h.index),
	}
	if h.device == nil {
		f.Message += "their activations are in memory together"
		f.Why += "; how many bytes they take was not recorded (profile_memory=True)"
		return f
	}
	held, peak := h.peak.AtPeak.Bytes, h.peak.Allocated
	saving := held - held/int64(h.forwards)
	if held == 0 {
		f.Message += fmt.Sprintf("their activations take %s together, though not at the peak of the step",
			units.Bytes(h.peak.Most.Bytes))
	} else {
		f.Message += fmt.Sprintf("they take %s of the peak of %s, %s each", units.Bytes(held), units.Bytes(peak),
			units.Bytes(held/int64(h.forwards)))
		f.Why += fmt.Sprintf("; of what is allocated at the peak, in %s, %s come from forward passes and are released "+
			"by backward passes", spaced(h.peak.Phase), units.Bytes(held))
		f.Fix = toCallBackward + ": at most " + units.Bytes(saving) + " less at the peak"
	}
	if h.device.Relative {
		f.Caveats = []string{"the trace does not record everything that is allocated: the peak is a lower bound"}
	}
	if h.peak.Event.Name != "" {
		f.Evidence = []report.Evidence{analyze.EvidenceOf(h.rank, h.peak.Event)}
	}
	f.CostBytes = &held
	f.SavingBytes = &report.Range{High: saving}
	return f
}

// spaced is a phase in words.
func spaced(p memory.Phase) string { return strings.ReplaceAll(string(p), "_", " ") }
