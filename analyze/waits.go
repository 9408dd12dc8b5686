package analyze

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/trace/hardware"
)

// RankWaits is how long a rank waits for others inside collectives, and they for it.
// Times are null where no collective of the rank was matched or where the clocks
// cannot be compared.
type RankWaits struct {
	Rank         int64  `json:"rank"`
	Collectives  int    `json:"collectives"` // of all ranks of a group; not point-to-point
	PointToPoint int    `json:"point_to_point"`
	Matched      int    `json:"matched_collectives"`
	Wait         *int64 `json:"wait_ns"`        // from its own start to the latest start
	WaitCaused   *int64 `json:"wait_caused_ns"` // of all others, by coming later than the next to last
	Last         *int   `json:"last_arrivals"`
	Residual     *int64 `json:"clock_residual_ns"` // median distance of its ends from the middle of all ends
	Drift        *int64 `json:"clock_drift_ns"`    // of that, from the first half to the second
}

// Matching says how far the collectives of the ranks could be matched. Figures are over
// the collectives whose times do not contradict each other, null without any.
type Matching struct {
	Matched        int            `json:"matched"` // on every given rank of their group
	Mismatches     int            `json:"mismatches"`
	BySequence     int            `json:"by_sequence"`
	ByMessage      int            `json:"by_message"`
	ByName         int            `json:"by_name"`
	Impossible     int            `json:"impossible"` // of Matched: no transfer, or one beyond the link
	EndSkewMedian  *int64         `json:"end_skew_median_ns"`
	EndSkewMax     *int64         `json:"end_skew_max_ns"`
	TransferMedian *int64         `json:"transfer_median_ns"`
	TransferMin    *int64         `json:"transfer_min_ns"`
	Window         *int64         `json:"window_ns"`      // from the first start to the last end of what was matched; waits are sums over it
	ClocksAligned  bool           `json:"clocks_aligned"` // residuals were subtracted in some group
	SameSteps      *bool          `json:"same_steps"`     // null with one rank
	CommonSteps    int            `json:"common_steps"`   // last steps that all ranks have alike
	Groups         []MatchedGroup `json:"groups"`
	Notes          []string       `json:"notes"` // what limits the figures
}

// MatchedGroup is one process group. Status is matched, unmatched or one_rank.
type MatchedGroup struct {
	Name    string  `json:"name"`
	Size    *int64  `json:"size"`
	Ranks   []int64 `json:"ranks"`
	Absent  []int64 `json:"absent"` // members of which no trace was given
	Status  string  `json:"status"`
	Matched int     `json:"matched"`
	Reason  string  `json:"reason"` // why there is no match, or why no figure
}

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

func rankRows(m *ranks.Result) []RankWaits {
	rows := []RankWaits{}
	for i := range m.Figures {
		f := &m.Figures[i]
		row := RankWaits{Rank: m.Sources[i].Rank.ID, Collectives: f.Collectives, PointToPoint: f.PointToPoint, Matched: f.Matched,
			Residual: f.Residual, Drift: f.Drift}
		if f.Known {
			row.Wait, row.WaitCaused, row.Last = &f.Wait, &f.Caused, &f.Last
		}
		rows = append(rows, row)
	}
	return rows
}

func matchingOf(m *ranks.Result) Matching {
	row := Matching{Groups: []MatchedGroup{}, Notes: []string{}}
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

func groupStatus(m *ranks.Result, g *ranks.Group) MatchedGroup {
	row := MatchedGroup{Name: g.Name, Ranks: []int64{}, Absent: notNil(g.Absent), Status: string(g.Status), Matched: len(g.Collectives), Reason: g.Reason + g.NoFigures}
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
func (p *Pass) ReportWait(cost *Cost, hidden float64, f Finding, describe func(mean, step int64) string) {
	mean, step, median, _ := cost.PerStep(p.Ranks)
	if median > 0 && float64(mean)/float64(median) >= silentShare {
		p.ReportCost(cost, func(mean, step int64) Finding {
			f.Message, f.Saving = describe(mean, step), &Range{Low: 0, High: mean}
			return f
		})
		return
	}
	if hidden >= warnShare {
		f.Message = describe(0, step)
		p.Report(Note, f)
	}
}

// NeedRanks and NeedWaits are needs of a run, not of a rank.
var (
	NeedRanks = Need{"several ranks", "one rank was given: pass the traces of all ranks together",
		nil, func(list []*facts.Rank, _ *ranks.Result) bool { return len(list) > 1 }}
	NeedWaits = Need{"matched collectives", "no collectives were matched between ranks, or their clocks cannot be compared: the notes under ranks say why",
		nil, func(_ []*facts.Rank, m *ranks.Result) bool { return waitsKnown(m) }}
)
