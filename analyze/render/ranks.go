package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
)

// rankTable lists how long each rank waits inside collectives, and for whom.
func rankTable(r *report.Report) table {
	t := table{title: "Waiting inside matched collectives, ms; clocks in us", left: 1,
		header: []string{"rank", "collectives", "matched", "waits", "causes", "last", "clock"}, more: rankNote(r)}
	for i := range r.Ranks {
		row := &r.Ranks[i]
		t.rows = append(t.rows, []string{strconv.FormatInt(row.Rank, 10), strconv.Itoa(row.Collectives), strconv.Itoa(row.Matched),
			orDash(row.Wait, millis), orDash(row.WaitCaused, millis), lastArrivals(row), orDash(row.Residual, micros)})
	}
	return t
}

// orDash prints a figure, or a dash where it is unknown.
func orDash(v *int64, unit func(int64) string) string {
	if v == nil {
		return "-"
	}
	return unit(*v)
}

func lastArrivals(row *report.RankWaits) string {
	if row.Last == nil {
		return "-"
	}
	return strconv.Itoa(*row.Last)
}

// rankNote says how far the matching can be believed, and what the columns are.
func rankNote(r *report.Report) []string {
	m := &r.Matching
	notes := append([]string{}, m.Notes...)
	if m.TransferMedian != nil {
		notes = append(notes, fmt.Sprintf("Transfer, from the latest start to the earliest end: median %s us, least %s. Ends lie apart: median %s us, most %s.",
			micros(*m.TransferMedian), orDash(m.TransferMin, micros), micros(*m.EndSkewMedian), micros(*m.EndSkewMax)))
	}
	return append(notes, window(r)+"waits: from its own start to the latest start. causes: wait of all others, by coming later than the next to last. "+
		"last: how often it comes last. clock: median distance of its ends from the middle of all ends.")
}

// window says what the waits are sums over.
func window(r *report.Report) string {
	if r.Matching.Window == nil {
		return ""
	}
	return fmt.Sprintf("Sums over the %s ms from the first to the last matched collective. ", millis(*r.Matching.Window))
}

// matchTable lists the process groups.
func matchTable(r *report.Report) table {
	t := table{title: "Process groups", left: 4, header: []string{"group", "ranks", "absent", "status", "matched"},
		note: fmt.Sprintf("matched by sequence number %d, by message %d, by kernel name %d", r.Matching.BySequence, r.Matching.ByMessage, r.Matching.ByName)}
	for _, g := range r.Matching.Groups {
		t.rows = append(t.rows, []string{short(g.Name), ranges(g.Ranks), ranges(g.Absent), groupState(g), strconv.Itoa(g.Matched)})
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

// ranges prints ascending numbers as 0-3,6.
func ranges(list []int64) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.FormatInt(list[i], 10)
		if j > i {
			part += "-" + strconv.FormatInt(list[j], 10)
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ",")
}

// together is one line on several ranks: who waits how long, and for whom.
func together(b *strings.Builder, r *report.Report, o Options) {
	if len(r.Ranks) < 2 {
		return
	}
	line(b, "RANKS", waitText(r), o.name("{show} ranks"))
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
		return fmt.Sprintf("%d collectives matched, but who waits is unknown: %s", r.Matching.Matched, firstNote(r))
	case known == 0:
		return "who waits for whom is unknown: " + firstNote(r)
	case r.Straggler == nil:
		return fmt.Sprintf("%d collectives matched on %d ranks; none waits for one other alone", r.Matching.Matched, known)
	}
	return fmt.Sprintf("%d collectives matched on %d ranks, which wait %s to %s ms in them; rank %d causes most: %.0f %% of what they wait for a last one",
		r.Matching.Matched, known, millis(least), millis(most), *r.Straggler, 100*float64(worst)/float64(caused))
}

func firstNote(r *report.Report) string {
	if len(r.Matching.Notes) > 0 {
		return r.Matching.Notes[0]
	}
	return "the ranks have no collectives in common"
}

// unjudged is the rules that could not be judged. Questions about several ranks are not
// asked of one.
func unjudged(r *report.Report) []report.Skip {
	if len(r.Source.Ranks) != 1 {
		return r.Skipped
	}
	var list []report.Skip
	for _, s := range r.Skipped {
		if s.Reason != analyze.NeedRanks.Missing {
			list = append(list, s)
		}
	}
	return list
}

// ranks writes the figures of the section ranks, which CSV always has.
func (t csvTable) ranks(r *report.Report) {
	if len(r.Ranks) < 2 {
		return
	}
	for _, row := range r.Ranks {
		t.row("ranks", row.Rank, "", "all", "collectives", int64(row.Collectives), "count")
		t.row("ranks", row.Rank, "", "all", "matched_collectives", int64(row.Matched), "count")
		t.known("ranks", row.Rank, "wait", row.Wait)
		t.known("ranks", row.Rank, "wait_caused", row.WaitCaused)
		if row.Last != nil {
			t.row("ranks", row.Rank, "", "all", "last_arrivals", int64(*row.Last), "count")
		}
		t.known("ranks", row.Rank, "clock_residual", row.Residual)
	}
	m := &r.Matching
	t.row("matching", -1, "", "all", "matched", int64(m.Matched), "count")
	t.row("matching", -1, "", "all", "mismatches", int64(m.Mismatches), "count")
	t.known("matching", -1, "end_skew_median", m.EndSkewMedian)
	t.known("matching", -1, "end_skew_max", m.EndSkewMax)
	t.known("matching", -1, "transfer_median", m.TransferMedian)
	t.known("matching", -1, "transfer_min", m.TransferMin)
}

// known writes a time that is known.
func (t csvTable) known(section string, rank int64, metric string, ns *int64) {
	if ns != nil {
		t.row(section, rank, "", "all", metric, *ns, "ns")
	}
}
