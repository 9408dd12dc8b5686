package analyze

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// healthOf says how far the input can be believed. A problem at one place of a file that
// several ranks in it share is reported once.
func healthOf(list []*Rank) report.Health {
	h := report.Health{DeviceEvents: []report.DeviceEvents{}, Problems: []report.Problem{}}
	told := make(map[problemPlace]bool)
	for _, r := range list {
		if r.DeviceEvents > 0 {
			h.DeviceEvents = append(h.DeviceEvents, report.DeviceEvents{
				Rank:     r.ID,
				Count:    r.DeviceEvents,
				Unlinked: r.Unlinked,
				Edge:     r.UnlinkedAtStart,
			})
		}
		for _, p := range r.Problems {
			place := problemPlace{r.File, p.Code, p.Offset}
			if p.Offset >= 0 && told[place] {
				continue
			}
			told[place] = true
			h.Problems = append(h.Problems, problemRow(r, p))
		}
		for i := range r.Suspects {
			h.Problems = append(h.Problems, suspectRow(r, &r.Suspects[i]))
		}
	}
	return h
}

func problemRow(r *Rank, p trace.Problem) report.Problem {
	info := p.Code.Info()
	row := report.Problem{Rank: r.ID, File: r.File, Code: string(p.Code), Severity: string(info.Level), Count: p.Count,
		Message: p.Message(), Action: info.Action}
	if p.Offset >= 0 {
		row.Offset = &p.Offset
	}
	return row
}

// suspectRow says which kernel may be communication, and how to declare it or to deny it.
func suspectRow(r *Rank, s *facts.Suspect) report.Problem {
	share := 100 * float64(s.Time) / float64(s.Busy)
	row := problemRow(r, trace.Problem{Code: trace.PossibleCommunication, Count: int64(s.Count), Offset: -1,
		Detail: fmt.Sprintf("%s, %.1f %% of the device's busy time", timeline.ShortKernel(s.Kernel), share)})
	row.Action = fmt.Sprintf("pass {communication} '%[1]s=%[2]s', or '%[1]s=none' if it computes",
		timeline.PatternFor(s.Kernel), s.Kind)
	return row
}

// problemPlace identifies a problem that has a place in its file.
type problemPlace struct {
	file   string
	code   trace.Code
	offset int64
}
