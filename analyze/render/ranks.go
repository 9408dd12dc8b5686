package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// rankTable lists how long each rank waits inside collectives, and for whom.
func rankTable(r *report.Report) table {
	t := table{title: "Waiting inside matched collectives, ms; clocks in us", left: 1,
		header: []string{"rank", "collectives", "matched", "waits", "causes", "last", "clock"}, more: rankNote(r)}
	for i := range r.Ranks {
		row := &r.Ranks[i]
		t.rows = append(t.rows, []string{
			strconv.FormatInt(row.Rank, 10), strconv.Itoa(row.Collectives), strconv.Itoa(row.Matched),
			orDash(row.Wait, millis), orDash(row.WaitCaused, millis), lastArrivals(row), orDash(row.Residual, micros),
		})
	}
	return t
}

func lastArrivals(row *report.RankWaits) string {
	if row.Last == nil {
		return "-"
	}
	return strconv.Itoa(*row.Last)
}

// rankNote says how far the matching can be trusted, and what the columns mean.
func rankNote(r *report.Report) []string {
	m := &r.Matching
	notes := append([]string{}, m.Notes...)
	if m.TransferMedian != nil {
		notes = append(notes, fmt.Sprintf("Transfer, from the latest start to the earliest end: "+
			"median %s us, least %s. Ends lie apart: median %s us, most %s.",
			micros(*m.TransferMedian), orDash(m.TransferMin, micros),
			micros(*m.EndSkewMedian), micros(*m.EndSkewMax)))
	}
	return append(notes, window(r)+"waits: from its own start to the latest start. "+
		"causes: wait of all others, by coming later than the next to last. "+
		"last: how often it comes last. clock: median distance of its ends from the middle of all ends.")
}

// window says over what time the waits are summed.
func window(r *report.Report) string {
	if r.Matching.Window == nil {
		return ""
	}
	return fmt.Sprintf("Sums over the %s ms from the first to the last matched collective. ",
		millis(*r.Matching.Window))
}

// matchTable lists the process groups.
func matchTable(r *report.Report) table {
	t := table{title: "Process groups", left: 4, header: []string{"group", "ranks", "absent", "status", "matched"},
		note: fmt.Sprintf("matched by sequence number %d, by message %d, by kernel name %d",
			r.Matching.BySequence, r.Matching.ByMessage, r.Matching.ByName)}
	for _, g := range r.Matching.Groups {
		t.rows = append(t.rows, []string{
			short(g.Name), ranges(g.Ranks), ranges(g.Absent), groupState(g), strconv.Itoa(g.Matched),
		})
	}
	return t
}

func groupState(g report.MatchedGroup) string {
	state := strings.ReplaceAll(g.Status, "_", " ")
	if g.Reason != "" && g.Matched > 0 {
		state += ", no figures"
	}
	return state
}

func waitText(r *report.Report) string {
	var least, most, caused, worst int64
	known := 0
	for i := range r.Ranks {
		row := &r.Ranks[i]
		if row.Wait == nil {
			continue
		}
		if known == 0 || *row.Wait < least {
			least = *row.Wait
		}
		most, caused, worst = max(most, *row.Wait), caused+*row.WaitCaused, max(worst, *row.WaitCaused)
		known++
	}
	switch {
	case known == 0 && r.Matching.Matched > 0:
		return fmt.Sprintf("%s matched, but who waits is unknown: %s", units.Count(r.Matching.Matched, "collective"),
			firstNote(r))
	case known == 0:
		return "who waits for whom is unknown: " + firstNote(r)
	case r.Straggler == nil:
		return fmt.Sprintf("%s matched on %s; none waits for one other alone",
			units.Count(r.Matching.Matched, "collective"), units.Count(known, "rank"))
	}
	return fmt.Sprintf("%s matched on %d ranks, which wait %s to %s ms in them; rank %d causes most: "+
		"%.0f %% of what they wait for the last one",
		units.Count(r.Matching.Matched, "collective"), known, millis(least), millis(most), *r.Straggler,
		100*float64(worst)/float64(caused))
}

func firstNote(r *report.Report) string {
	if len(r.Matching.Notes) > 0 {
		return r.Matching.Notes[0]
	}
	return "the ranks have no collectives in common"
}

// unjudged returns the rules that could not be judged. Questions about several ranks are not
// asked of one rank.
func unjudged(r *report.Report) []report.Skip {
	if len(r.Source.Ranks) != 1 {
		return r.Skipped
	}
	var list []report.Skip
	for _, s := range r.Skipped {
		if s.Reason != report.OneRank {
			list = append(list, s)
		}
	}
	return list
}
