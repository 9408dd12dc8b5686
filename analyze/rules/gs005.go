package rules

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// GS005 finds several passes that multiply the same gradients one after the other.
var GS005 = analyze.Rule{
	ID:    "GS005",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "repeated passes over the same gradients",
		Why: "Scaling, unscaling and clipping each multiply every gradient by one number. The " +
			"product of these numbers needs only one pass: the norm of scaled gradients is the scaled norm.",
		Fix: "multiply the factors and apply them once: fold 1/tokens into the " +
			"clip coefficient, or hand it to a fused optimizer as grad_scale",
	},
	Needs: gradientNeeds,
	Run:   runGS005,
}

// multiplies reports whether a pass multiplies gradients after backward, or may do so.
func multiplies(_ *analyze.Rank, gp *gradients.Pass) bool {
	if gp.Place != gradients.AfterBackward || gp.One || gp.ByValue {
		return false
	}
	return gp.Kind == gradients.ScalePass || gp.Kind == gradients.ClipPass || gp.Kind == gradients.UnscalePass
}

func runGS005(p *analyze.Pass) {
	type key struct {
		rank      *analyze.Rank
		step      int
		optimizer string
	}
	first := make(map[key]found)
	var extra []found
	for _, f := range passes(p, multiplies) {
		k := key{f.rank, f.pass.Step, f.pass.Optimizer}
		before, seen := first[k]
		switch {
		case f.pass.Decay && (!seen || before.pass.Doubtful || before.pass.Kind != gradients.ScalePass):
		case !seen:
			first[k] = f
		case f.pass.Kind == gradients.ClipPass && before.pass.Kind != gradients.ClipPass:
			first[k] = f // the clip stays, what stood before it goes
			extra = append(extra, before)
		default:
			extra = append(extra, f)
		}
	}
	if len(extra) == 0 {
		return
	}
	firm := slices.DeleteFunc(slices.Clone(extra), func(f found) bool {
		return f.pass.Doubtful && (f.pass.Decay || clips(f.rank, f.pass.Step))
	})
	switch {
	case len(firm) == 0:
		p.Report(report.Note, perhapsRepeated(extra))
		return
	case onlyUnscale(firm):
		p.Report(report.Note, unscaleBeforeClip(firm))
		return
	}
	extra = firm
	p.ReportCost(claimPasses(p, extra), func(mean, step int64) report.Finding {
		return report.Finding{
			Message: "repeated passes over the same gradients cost " + perStep(mean, step),
			Why: fmt.Sprintf(
				"the gradients of a step are multiplied by %s too many, such as %s before the optimizer",
				units.Count(len(extra), "pass"), extra[0].pass.Kind),
			Saving:   &report.Range{Low: 0, High: mean},
			Evidence: showPasses(extra),
			Caveats:  hostCaveat(extra),
		}
	})
}

// onlyUnscale reports whether every extra pass is one that GradScaler asks for.
func onlyUnscale(extra []found) bool {
	return !slices.ContainsFunc(extra, func(f found) bool { return f.pass.Kind != gradients.UnscalePass })
}

// perhapsRepeated is a note: what multiplies a second time may be weights that decay, or a
// factor of the loss that must be undone before clipping.
func perhapsRepeated(extra []found) report.Finding {
	return report.Finding{
		Message: "tensors of the shapes of all gradients are multiplied twice after backward",
		Why: fmt.Sprintf("%s, where nothing says that the factor comes from a count",
			units.Count(len(extra), "pass")),
		Fix:      "if both multiply the gradients, multiply the factors instead and apply them once",
		Evidence: showPasses(extra),
	}
}

// unscaleBeforeClip is a note: unscale_ before clip_grad_norm_ is how float16 training
// is documented; it disappears with the scaler, not by editing the loop.
func unscaleBeforeClip(extra []found) report.Finding {
	return report.Finding{
		Message: "gradients are unscaled and then clipped: two passes over all of them",
		Why: fmt.Sprintf("GradScaler.unscale_ reads and writes %s in each of %s",
			units.Count(extra[0].pass.Parameters, "gradient"), units.Count(len(extra), "step")),
		Fix: "bfloat16 needs no GradScaler; with float16 this order is right",
		Change: &report.Change{Before: "with torch.autocast(\"cuda\", dtype=torch.float16):  # and a GradScaler",
			After: "with torch.autocast(\"cuda\", dtype=torch.bfloat16):"},
		Evidence: showPasses(extra),
	}
}
