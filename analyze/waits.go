package analyze

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/hardware"
)

// matchRanks puts the ranks beside each other and fills the report with what they say
// together.
func (a *assembly) matchRanks() *ranks.Result {
	var sources []ranks.Source
	for _, fr := range a.ranks {
		assigned := fr.rank.IDSource == "" || fr.rank.IDSource == clashed
		sources = append(sources, ranks.Source{Rank: fr.rank, Host: hostOf(fr.file), Assigned: assigned})
	}
	m := ranks.Match(sources, ranks.Options{AlignClocks: a.o.AlignClocks, Link: func(s ranks.Source) int64 { return hardware.Link(s.Rank.DeviceName) }})
	a.report.Ranks, a.report.Matching = rankRows(m), matchingOf(m)
	if m.Straggler >= 0 {
		a.report.Straggler = &m.Sources[m.Straggler].Rank.ID
	}
	return m
}

// workerFile is the name that tensorboard_trace_handler gives: host_pid.ns.pt.trace.json.
var workerFile = regexp.MustCompile(`(?:^|[/\\])([^/\\]+)_\d+\.\d+\.pt\.trace\.json`)

// hostOf is the machine that wrote a file, by its name, "" unknown.
func hostOf(file string) string {
	if m := workerFile.FindStringSubmatch(file); m != nil {
		return m[1]
	}
	return ""
}

func rankRows(m *ranks.Result) []report.RankWaits {
	rows := []report.RankWaits{}
	for i := range m.Figures {
		f := &m.Figures[i]
		row := report.RankWaits{Rank: m.Sources[i].Rank.ID, Collectives: f.Collectives, PointToPoint: f.PointToPoint, Matched: f.Matched,
			Residual: f.Residual, Drift: f.Drift}
		if f.Known {
			row.Wait, row.WaitCaused, row.Last = &f.Wait, &f.Caused, &f.Last
		}
		rows = append(rows, row)
	}
	return rows
}

func matchingOf(m *ranks.Result) report.Matching {
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
func windowOf(m *ranks.Result) *int64 {
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
	length := to - from
	return &length
}

// middle is the median of an ascending list.
func middle(list []int64) *int64 {
	low, high := list[(len(list)-1)/2], list[len(list)/2]
	m := low + (high-low)/2
	return &m
}

func groupStatus(m *ranks.Result, g *ranks.Group) report.MatchedGroup {
	row := report.MatchedGroup{Name: g.Name, Ranks: []int64{}, Absent: notNil(g.Absent), Status: string(g.Status), Matched: len(g.Collectives), Reason: g.Reason + g.NoFigures}
	if g.Size > 0 {
		row.Size = &g.Size
	}
	for _, r := range g.Ranks {
		row.Ranks = append(row.Ranks, m.Sources[r].Rank.ID)
	}
	return row
}

// matchNotes says what limits the figures, most important first.
func matchNotes(m *ranks.Result) []string {
	notes := []string{}
	pointToPoint := 0
	for _, f := range m.Figures {
		pointToPoint += f.PointToPoint
	}
	for _, g := range m.Groups {
		notes = append(notes, groupNotes(m, g)...)
	}
	if m.Steps.Differ != "" {
		notes = append(notes, "the ranks did not record the same steps: "+m.Steps.Differ)
	}
	notes = append(notes, differentModels(m)...)
	if pointToPoint > 0 {
		notes = append(notes, fmt.Sprintf("%d point-to-point messages (send, receive) concern two ranks and are not matched", pointToPoint))
	}
	return notes
}

func groupNotes(m *ranks.Result, g *ranks.Group) (notes []string) {
	name := groupName(g)
	if g.Status == ranks.Alone {
		if len(m.Sources) > 1 && len(g.Members) != 1 && g.Size != 1 {
			notes = append(notes, fmt.Sprintf("%s has collectives on rank %d alone of those given", name, m.Sources[g.Ranks[0]].Rank.ID))
		}
		return notes
	}
	for _, why := range []string{g.Reason, g.NoFigures} {
		if why != "" {
			notes = append(notes, name+": "+why)
		}
	}
	if len(g.Absent) > 0 {
		notes = append(notes, fmt.Sprintf("%s: no trace of %s was given: a wait for them counts as transfer", name, rankList(g.Absent)))
	}
	if len(g.Silent) > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s recorded none of its collectives", name, rankList(g.Silent)))
	}
	if g.Aligned {
		notes = append(notes, name+": each rank's clock residual was subtracted; a rank that always leaves late by as much cannot be told from its clock")
	}
	if g.Impossible > 0 && g.NoFigures == "" {
		notes = append(notes, fmt.Sprintf("%s: %d collectives have impossible times and no figures", name, g.Impossible))
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

// differentModels speaks of ranks that do not train the same, where they do not match:
// traces of several runs, or stages of a pipeline that someone named one group.
func differentModels(m *ranks.Result) []string {
	if !slices.ContainsFunc(m.Groups, func(g *ranks.Group) bool { return g.Status == ranks.Unmatched }) {
		return nil
	}
	seen := make(map[string]int64)
	for _, s := range m.Sources {
		model := fingerprintOf(s.Rank).Model
		if _, ok := seen[model]; !ok && model != "unknown" {
			seen[model] = s.Rank.ID
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
	return []string{rankList(list) + " show different optimizers or parameters: traces of different runs, or parts of one model"}
}

// Matched is what the ranks say together; never nil.
func (p *Pass) Matched() *ranks.Result { return p.matched }

// Notes are the limits of what the ranks say together, for caveats.
func (p *Pass) Notes() []string { return matchNotes(p.matched) }

// waitsKnown tells whether waiting is known of any rank.
func waitsKnown(m *ranks.Result) bool {
	return slices.ContainsFunc(m.Figures, func(f ranks.Figures) bool { return f.Known })
}

// WaitsKnown tells whether waiting is known of any rank.
func (p *Pass) WaitsKnown() bool { return waitsKnown(p.matched) }

// AllRanks tells whether waiting is known and a trace of every member of the groups
// was given, so that what is left of a collective is transfer.
func (p *Pass) AllRanks() bool {
	return p.WaitsKnown() && !slices.ContainsFunc(p.matched.Groups, func(g *ranks.Group) bool {
		return len(g.Absent) > 0 || g.Status != ranks.Matched || g.NoFigures != "" || g.Size > int64(len(g.Ranks))
	})
}

// ReportWait adds a finding about wait: by its cost where it is exposed, else as a note
// where hidden, its share of the time that passed, would be worth a warning.
func (p *Pass) ReportWait(cost *Cost, hidden float64, f report.Finding, describe func(mean, step int64) string) {
	mean, step, median, _ := cost.PerStep(p.Ranks)
	if median > 0 && float64(mean)/float64(median) >= silentShare {
		p.ReportCost(cost, func(mean, step int64) report.Finding {
			f.Message, f.Saving = describe(mean, step), &report.Range{Low: 0, High: mean}
			return f
		})
		return
	}
	if hidden >= warnShare {
		f.Message = describe(0, step)
		p.Report(report.Note, f)
	}
}

// NeedRanks and NeedWaits are needs of a run, not of a rank.
var (
	NeedRanks = Need{"several ranks", "one rank was given: pass the traces of all ranks together",
		nil, func(list []*facts.Rank, _ *ranks.Result) bool { return len(list) > 1 }}
	NeedWaits = Need{"matched collectives", "no collectives were matched between ranks, or their clocks cannot be compared: the notes under ranks say why",
		nil, func(_ []*facts.Rank, m *ranks.Result) bool { return waitsKnown(m) }}
)
