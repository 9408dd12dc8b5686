package rules

import (
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace"
)

// TH003 says that the numbers of ranks were made up.
var TH003 = analyze.Rule{
	ID:    "TH003",
	Scope: analyze.AllRanks,
	Doc: analyze.Doc{
		Title: "ranks without a number of their own",
		Why: "Some of the traces do not say which rank wrote them, or two name the same rank. " +
			"They were numbered in the order of the files, so figures by " +
			"rank may name the wrong process, and whether a rank is missing is unknown.",
		Fix: "pass {rank-of-name} the rank in the file names, or record with torch.distributed initialized, " +
			"which writes distributedInfo; check that the files are of one run",
	},
	Needs: []analyze.Need{analyze.NeedRanks},
	Run:   runTH003,
}

func runTH003(p *analyze.Pass) {
	severity := report.Note
	var files, why []string
	for _, problem := range p.Problems {
		switch trace.Code(problem.Code) {
		case trace.RankConflict:
			severity = report.Warn
		case trace.RankAssigned:
		default:
			continue
		}
		files = append(files, problem.File)
		if text := problem.Message; !strings.Contains(strings.Join(why, "; "), text) {
			why = append(why, text)
		}
	}
	if len(files) == 0 {
		return
	}
	p.Report(severity, report.Finding{
		Message: units.Count(len(files), "rank") + " had to be numbered, first that of " + files[0],
		Why:     strings.Join(why, "; "),
	})
}
