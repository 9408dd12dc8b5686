package rules

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
)

// GS001 finds a pass that multiplies every gradient by one.
var GS001 = analyze.Rule{
	ID:    "GS001",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "needless scaling of the gradients",
		Why: "With one micro-batch and one rank, backward on the summed loss followed by a " +
			"multiplication by 1/tokens reads and writes every gradient once more than " +
			"backward on the mean loss, and gives the same numbers up to rounding. With several " +
			"ranks it is needless only if all of them always have equally many tokens.",
		Fix: "call backward() on the mean loss (reduction=\"mean\") and leave the scaling " +
			"out when gradient_accumulation_steps is 1; keep the token count for logging",
	},
	Needs: gradientNeeds,
	Edit:  "drop-scale-pass",
	Run:   runGS001,
}

func runGS001(p *analyze.Pass) {
	list := withVerdict(p, report.Needless)
	p.ReportStructure(claimPasses(p, list), func(mean, step int64) report.Finding {
		return report.Finding{
			Message:  "needless scaling of the gradients costs " + perStep(mean, step),
			Why:      whyScaled(p, list),
			Fix:      "call backward() on the mean loss (reduction=\"mean\") and drop the scaling",
			Saving:   &report.Range{Low: mean, High: mean},
			Evidence: showPasses(list),
			Caveats: append(hostCaveat(list),
				"equal up to rounding (relative 1e-15 in float64, 6e-7 in float32), not bit for bit"),
		}
	})
}
