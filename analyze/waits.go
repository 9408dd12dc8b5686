package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/units"
)

// straggler is the number of the rank that causes the most wait, nil where none is known
// to cause any.
func straggler(m *Matched) *int64 {
	if m.Straggler < 0 {
		return nil
	}
	return &m.Ranks[m.Straggler].ID
}

// waitRows has every rank.
func waitRows(m *Matched) (rows []report.RankWaits) {
	for i := range m.Figures {
		f := &m.Figures[i]
		row := report.RankWaits{
			Rank:         m.Ranks[i].ID,
			Host:         hostOf(m.Ranks[i]),
			Collectives:  f.Collectives,
			PointToPoint: f.PointToPoint,
			Matched:      f.Matched,
			Residual:     f.Residual,
			Drift:        f.Drift,
		}
		if f.Known {
			row.Wait, row.WaitCaused, row.Last = &f.Wait, &f.Caused, &f.Last
		}
		rows = append(rows, row)
	}
	return rows
}

func matchingOf(m *Matched) report.Matching {
	row := report.Matching{Groups: []report.MatchedGroup{}, Notes: []string{}}
	for _, g := range m.Groups {
		if g.Status == ranks.Matched {
			row.Matched += len(g.Collectives)
			row.BySequence += g.Methods[ranks.BySeq]
			row.ByMessage += g.Methods[ranks.ByMessage]
			row.ByName += g.Methods[ranks.ByName]
			row.ClocksAligned = row.ClocksAligned || g.Aligned
		}
		row.Mismatches += g.Mismatches
		row.Impossible += g.Impossible
		row.Groups = append(row.Groups, groupStatus(m, g))
	}
	row.Window = windowOf(m)
	if skews, transfers := m.Distribution(); len(skews) > 0 {
		row.EndSkewMedian, row.EndSkewMax = middle(skews), &skews[len(skews)-1]
		row.TransferMedian, row.TransferMin = middle(transfers), &transfers[0]
	}
	if len(m.Sources) > 1 {
		row.SameSteps, row.CommonSteps = &m.Steps.Same, m.Steps.Common
		row.Notes = matchNotes(m)
	}
	return row
}

// windowOf is how long what was matched lasts, over all groups, in ns; nil without any.
func windowOf(m *Matched) *int64 {
	var from, to int64
	known := false
	for _, g := range m.Groups {
		start, end, ok := g.Window()
		switch {
		case !ok:
		case !known:
			from, to, known = start, end, true
		default:
			from, to = min(from, start), max(to, end)
		}
	}
	if !known {
		return nil
	}
	length := bounded.Sub(to, from)
	return &length
}

// middle is the median of an ascending list.
func middle(list []int64) *int64 {
	low, high := list[(len(list)-1)/2], list[len(list)/2]
	m := low + bounded.Sub(high, low)/2
	return &m
}

func groupStatus(m *Matched, g *ranks.Group) report.MatchedGroup {
	row := report.MatchedGroup{
		Name:    g.Name,
		Ranks:   []int64{},
		Absent:  notNil(g.Absent),
		Status:  string(g.Status),
		Matched: len(g.Collectives),
		By:      string(g.Basis),
		Reason:  g.Reason + g.NoFigures,
	}
	if g.Size > 0 {
		row.Size = &g.Size
	}
	for _, r := range g.Ranks {
		row.Ranks = append(row.Ranks, m.Ranks[r].ID)
	}
	return row
}

// matchNotes says what limits the figures, most important first.
func matchNotes(m *Matched) []string {
	notes := []string{}
	pointToPoint, ungrouped := 0, 0
	for _, f := range m.Figures {
		pointToPoint += f.PointToPoint
		ungrouped += f.Ungrouped
	}
	for _, g := range m.Groups {
		notes = append(notes, groupNotes(m, g)...)
	}
	if m.Steps.Differ != "" {
		notes = append(notes, "the ranks did not record the same steps: "+m.Steps.Differ)
	}
	notes = append(notes, differentModels(m)...)
	if pointToPoint > 0 {
		notes = append(notes, fmt.Sprintf(
			"%d point-to-point messages (send, receive) concern two ranks and are not matched", pointToPoint))
	}
	if ungrouped > 0 && len(m.Sources) > 1 {
		notes = append(notes, fmt.Sprintf(
			"%d communication kernels are not matched: nothing says which ranks take part in them", ungrouped))
	}
	return notes
}

func groupNotes(m *Matched, g *ranks.Group) (notes []string) {
	name := groupName(g)
	if g.Status == ranks.Alone {
		if len(m.Sources) > 1 && len(g.Members) != 1 && g.Size != 1 {
			notes = append(notes,
				fmt.Sprintf("%s has collectives on rank %d alone of those given", name, m.Ranks[g.Ranks[0]].ID))
		}
		return notes
	}
	for _, why := range []string{g.Reason, g.NoFigures} {
		if why != "" {
			notes = append(notes, name+": "+why)
		}
	}
	if len(g.Absent) > 0 {
		notes = append(notes,
			fmt.Sprintf("%s: no trace of %s was given: a wait for them counts as transfer", name, rankList(g.Absent)))
	}
	if len(g.Silent) > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s recorded none of its collectives", name, rankList(g.Silent)))
	}
	if g.Aligned {
		notes = append(notes, name+": each rank's clock residual was subtracted; a "+
			"rank that always leaves late by as much cannot be told from its clock")
	}
	if g.Impossible > 0 && g.NoFigures == "" {
		notes = append(notes,
			fmt.Sprintf("%s: impossible times of %s, which have no figures", name,
				units.Count(g.Impossible, "collective")))
	}
	return notes
}

func groupName(g *ranks.Group) string {
	if g.Name == "" {
		return "the process group"
	}
	return "process group " + g.Name
}

// rankList is "rank 3" or "ranks 3, 4, 5 and 9 more".
func rankList(list []int64) string {
	const most = 8
	parts := make([]string, 0, most)
	for _, r := range list[:min(most, len(list))] {
		parts = append(parts, fmt.Sprint(r))
	}
	text := "rank " + strings.Join(parts, ", ")
	if len(list) > 1 {
		text = "ranks " + strings.Join(parts, ", ")
	}
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// differentModels notes ranks that do not train the same model, where they do not match:
// traces of several runs, or stages of a pipeline that someone named one group.
func differentModels(m *Matched) []string {
	if !slices.ContainsFunc(m.Groups, func(g *ranks.Group) bool { return g.Status == ranks.Unmatched }) {
		return nil
	}
	seen := make(map[string]int64)
	for _, r := range m.Ranks {
		model := fingerprintOf(r.Rank).Model
		if _, ok := seen[model]; !ok && model != "unknown" {
			seen[model] = r.ID
		}
	}
	if len(seen) < 2 {
		return nil
	}
	var list []int64
	for _, id := range seen {
		list = append(list, id)
	}
	slices.Sort(list)
	return []string{
		rankList(list) + " show different optimizers or parameters: traces of different runs, or parts of one model",
	}
}
