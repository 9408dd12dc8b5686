package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
)

// describe copies the facts of one rank into the report.
func (a *assembly) describe(fr fileRank) {
	r := fr.rank
	a.health(fr)
	for i := range r.Steps {
		if r.Steps[i].Excluded {
			continue
		}
		a.report.Steps = append(a.report.Steps, stepRows(r, &r.Steps[i])...)
	}
	if all := r.Measure(r.Select(func(*facts.Message) bool { return true })); all.Count > 0 {
		a.report.Communication = append(a.report.Communication, report.Communication{Rank: r.ID, Count: all.Count, Overlap: overlap(all)})
	}
	for _, kind := range facts.Collectives() {
		if c, ok := collectivesOf(r, kind); ok {
			a.report.Collectives = append(a.report.Collectives, c)
		}
	}
	for i := range r.Groups {
		a.report.Groups = append(a.report.Groups, groupRow(r, &r.Groups[i]))
	}
	a.gradients(r)
	for _, k := range fr.kernels {
		k.Rank = r.ID
		a.report.Kernels = append(a.report.Kernels, k)
	}
}

func (a *assembly) health(fr fileRank) {
	r := fr.rank
	if r.DeviceEvents > 0 {
		a.report.Health.DeviceEvents = append(a.report.Health.DeviceEvents,
			report.DeviceEvents{Rank: r.ID, Count: r.DeviceEvents, Unlinked: r.Unlinked, Edge: r.UnlinkedAtStart})
	}
	problems := append(slices.Clone(r.Trace.Problems()), r.Problems...)
	for _, p := range problems {
		row := report.Problem{Rank: r.ID, File: fr.file, Code: string(p.Code), Severity: string(p.Code.Info().Severity), Count: p.Count,
			Message: p.Message(), Action: p.Code.Info().Action}
		if p.Offset >= 0 {
			row.Offset = &p.Offset
			place := problemPlace{fr.file, p.Code, p.Offset}
			if a.told[place] {
				continue
			}
			a.told[place] = true
		}
		a.report.Health.Problems = append(a.report.Health.Problems, row)
	}
}

// problemPlace is what a problem of a file that several ranks in it share is known by.
type problemPlace struct {
	file   string
	code   trace.Code
	offset int64
}

// stepRows is one row per device, or one without device figures.
func stepRows(r *facts.Rank, s *facts.Step) []report.Step {
	row := report.Step{Rank: r.ID, Index: s.Index, Kind: s.Kind, Complete: s.Complete, Optimizers: []report.Optimizer{},
		LinkedEvents: s.LinkedEvents, HostStart: s.HostStart, HostDuration: s.HostDuration()}
	inBackward := r.InBackward(s.Index)
	for _, o := range s.PerOptimizer {
		row.Optimizers = append(row.Optimizers, report.Optimizer{Name: o.Name, Accumulation: known(o.Accumulation), InBackward: inBackward[o.Name]})
	}
	row.MicroBatches = known(s.MicroBatches)
	if len(s.Windows) == 0 {
		return []report.Step{row}
	}
	var rows []report.Step
	for _, w := range s.Windows {
		one := row
		duration := w.End - w.Start
		one.Device, one.Start, one.Duration = r.Devices[w.Device].PID, &w.Start, &duration
		one.Ledger = ledgerRow(w.Ledger)
		rows = append(rows, one)
	}
	return rows
}

func ledgerRow(l facts.Ledger) *report.Ledger {
	return &report.Ledger{
		Compute: l[facts.ComputeBucket], Memory: l[facts.MemoryBucket], ReduceScatter: l[facts.ReduceScatterBucket],
		AllGather: l[facts.AllGatherBucket], AllReduce: l[facts.AllReduceBucket], OtherComm: l[facts.OtherCommBucket],
		Idle: l[facts.IdleBucket],
	}
}

func overlap(o facts.Overlap) report.Overlap {
	row := report.Overlap{Busy: o.Busy, Overlapped: o.Overlapped, WithMemory: o.WithMemory, Exposed: o.Exposed()}
	if ratio, ok := o.Ratio(); ok {
		row.Ratio = &ratio
	}
	return row
}

func collectivesOf(r *facts.Rank, kind facts.Collective) (report.Collectives, bool) {
	messages := r.Select(func(m *facts.Message) bool { return m.Kind == kind })
	if len(messages) == 0 {
		return report.Collectives{}, false
	}
	o := r.Measure(messages)
	return report.Collectives{Rank: r.ID, Kind: kind.String(), Count: o.Count, Overlap: overlap(o),
		InSteps: exposedInSteps(r, r.Exposed(messages, facts.BucketOf(kind))), Sites: siteRows(r, kind)}, true
}

// exposedInSteps is the exposed time inside the device windows of all steps, or
// nil where there is none.
func exposedInSteps(r *facts.Rank, exposed []*facts.Set) *int64 {
	var sum *int64
	for i := range r.Steps {
		if r.Steps[i].Excluded {
			continue
		}
		for _, w := range r.Steps[i].Windows {
			if sum == nil {
				sum = new(int64)
			}
			*sum += exposed[w.Device].Within(w.Start, w.End)
		}
	}
	return sum
}

// siteRows counts launch sites: most first, unknown last.
func siteRows(r *facts.Rank, kind facts.Collective) []report.LaunchSite {
	count := make(map[facts.LaunchSite]int)
	for i := range r.Messages {
		if r.Messages[i].Kind == kind {
			count[r.Messages[i].Site]++
		}
	}
	rows := []report.LaunchSite{}
	for site, n := range count {
		rows = append(rows, report.LaunchSite{Site: string(site.Site), Name: site.Name, Count: n})
	}
	slices.SortFunc(rows, func(a, b report.LaunchSite) int {
		unknown := string(facts.SiteUnknown)
		if (a.Site == unknown) != (b.Site == unknown) {
			if a.Site == unknown {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

func groupRow(r *facts.Rank, g *facts.Group) report.CollectiveGroup {
	row := report.CollectiveGroup{Rank: r.ID, Kind: g.Kind.String(), Site: string(g.Site.Site), Name: g.Site.Name, Inferred: g.Inferred,
		Count: len(g.Messages), Busy: g.Overlap.Busy, Over: g.Overlap.Overlapped, FirstBusy: g.First.Busy, FirstOver: g.First.Overlapped}
	if g.Step >= 0 {
		row.Step = &g.Step
	}
	if g.Bytes >= 0 {
		row.Bytes = &g.Bytes
	}
	if ratio, ok := g.Overlap.Ratio(); ok {
		row.Ratio = &ratio
	}
	for _, i := range g.Messages {
		row.Kernels = append(row.Kernels, facts.ShortKernel(r.Trace.Event(int(r.Messages[i].Row)).Name()))
	}
	return row
}

// topKernels lists the names with the most device time, summed over events. It needs
// the whole trace, and the rank has no number yet.
func topKernels(r *facts.Rank, n int) []report.Kernel {
	rows := []report.Kernel{}
	for _, t := range largest(r, nameTotals(r), n) {
		e := r.Trace.Event(int(t.row))
		rows = append(rows, report.Kernel{Name: strings.Clone(e.Name()), Cat: r.Trace.CatName(e.Cat()), Count: t.count, Busy: t.ns})
	}
	return rows
}

// largest are the n names with the most time, most first, by name where that is equal.
// It sorts only what may be among them: there can be as many names as events.
func largest(r *facts.Rank, totals []nameTotal, n int) []nameTotal {
	order := func(a, b nameTotal) int {
		if a.ns != b.ns {
			return cmp.Compare(b.ns, a.ns)
		}
		return cmp.Compare(r.Trace.Event(int(a.row)).Name(), r.Trace.Event(int(b.row)).Name())
	}
	var top []nameTotal
	least := int64(-1) // what the n-th of those that were sorted has
	for _, t := range totals {
		if t.ns < least {
			continue
		}
		if top = append(top, t); len(top) >= 2*n {
			slices.SortFunc(top, order)
			top = top[:n]
			least = top[n-1].ns
		}
	}
	slices.SortFunc(top, order)
	return top[:min(n, len(top))]
}

// nameTotal is the device time of one name; row is its first event.
type nameTotal struct {
	row   int32
	count int
	ns    int64
}

func nameTotals(r *facts.Rank) []nameTotal {
	col := r.Trace.Columns()
	at := make(map[trace.StringID]int32) // index into totals + 1
	var totals []nameTotal
	for _, d := range r.Devices {
		for _, row := range d.Rows {
			i := at[col.Name[row]]
			if i == 0 {
				totals = append(totals, nameTotal{row: row})
				i = int32(len(totals))
				at[col.Name[row]] = i
			}
			totals[i-1].count++
			totals[i-1].ns += col.Dur[row]
		}
	}
	return totals
}
