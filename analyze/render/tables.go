package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/units"
)

// ledgerColumns are the buckets in the order of the ledger, with their short heads.
var ledgerColumns = []struct {
	name, head string
	of         func(*report.Ledger) int64
}{
	{"compute", "compute", func(l *report.Ledger) int64 { return l.Compute }},
	{"memory", "memory", func(l *report.Ledger) int64 { return l.Memory }},
	{"reduce_scatter", "reduce-scatter", func(l *report.Ledger) int64 { return l.ReduceScatter }},
	{"all_gather", "all-gather", func(l *report.Ledger) int64 { return l.AllGather }},
	{"all_reduce", "all-reduce", func(l *report.Ledger) int64 { return l.AllReduce }},
	{"other_communication", "other comm", func(l *report.Ledger) int64 { return l.OtherComm }},
	{"idle", "idle", func(l *report.Ledger) int64 { return l.Idle }},
}

// maxSteps is how many steps are listed one by one; more are shown as means.
const maxSteps = 12

// stepTable lists the ledger of each step, or of each kind of step where there are
// many.
func stepTable(r *report.Report) table {
	if len(r.Steps) == 0 {
		return table{}
	}
	if r.Steps[0].Ledger == nil {
		return hostStepTable(r)
	}
	if len(r.Steps) <= maxSteps {
		return ledgerTable(r, r.Steps)
	}
	t := ledgerTable(r, meansByKind(r.Steps))
	t.header[1] = "steps"
	t.note = "means over complete steps; " + t.note
	return t
}

// ledgerTable lists the ledgers of some steps of r.
func ledgerTable(r *report.Report, rows []report.Step) table {
	t := table{
		title:  "Steps, device time in ms",
		header: []string{"rank", "step", "kind", "optimizers", "total"},
		left:   4,
		note:   "communication columns are the part that nothing hides; a row sums to its total",
	}
	used := usedColumns(r.Steps)
	for _, i := range used {
		t.header = append(t.header, ledgerColumns[i].head)
	}
	for i := range rows {
		s := &rows[i]
		if s.Ledger == nil {
			continue
		}
		row := []string{
			strconv.FormatInt(s.Rank, 10), strconv.Itoa(s.Index), s.Kind, short(optimizers(s)), millis(*s.Duration),
		}
		if !s.Complete {
			row[2] += " (partial)"
		}
		for _, b := range used {
			row = append(row, millis(ledgerColumns[b].of(s.Ledger)))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// hostStepTable lists the steps of a trace without device activity.
func hostStepTable(r *report.Report) table {
	t := table{title: "Steps, host time in ms", header: []string{"rank", "step", "kind", "optimizers", "host"}, left: 4,
		note: "no device activity: from the end of one optimizer step to the end of the next"}
	for i := range r.Steps {
		s := &r.Steps[i]
		t.rows = append(t.rows, []string{
			strconv.FormatInt(s.Rank, 10), strconv.Itoa(s.Index), s.Kind, short(optimizers(s)), millis(s.HostDuration),
		})
	}
	if len(t.rows) > maxSteps {
		t.note = fmt.Sprintf("first %d of %d steps; %s", maxSteps, len(t.rows), t.note)
		t.rows = t.rows[:maxSteps]
	}
	return t
}

// usedColumns are the buckets that are not zero everywhere.
func usedColumns(steps []report.Step) []int {
	var used []int
	for i, b := range ledgerColumns {
		if slices.ContainsFunc(steps, func(s report.Step) bool { return s.Ledger != nil && b.of(s.Ledger) > 0 }) {
			used = append(used, i)
		}
	}
	return used
}

// meansByKind makes one row of the complete steps of a kind on a rank and device;
// Index is their number.
func meansByKind(steps []report.Step) []report.Step {
	type key struct {
		rank         int64
		device, kind string
	}
	index := make(map[key]int)
	var rows []report.Step
	for i := range steps {
		s := &steps[i]
		if s.Ledger == nil || !s.Complete {
			continue
		}
		k := key{s.Rank, s.Device, s.Kind}
		at, ok := index[k]
		if !ok {
			at = len(rows)
			index[k] = at
			rows = append(rows, report.Step{Rank: s.Rank, Kind: s.Kind, Optimizers: s.Optimizers, Complete: true,
				Duration: new(int64), Ledger: &report.Ledger{}})
		}
		rows[at].Index++
		*rows[at].Duration += *s.Duration
		addLedger(rows[at].Ledger, s.Ledger)
	}
	for i := range rows {
		n := int64(rows[i].Index)
		*rows[i].Duration /= n
		divideLedger(rows[i].Ledger, n)
	}
	return rows
}

func addLedger(sum, l *report.Ledger) {
	sum.Compute += l.Compute
	sum.Memory += l.Memory
	sum.ReduceScatter += l.ReduceScatter
	sum.AllGather += l.AllGather
	sum.AllReduce += l.AllReduce
	sum.OtherComm += l.OtherComm
	sum.Idle += l.Idle
}

func divideLedger(sum *report.Ledger, n int64) {
	*sum = report.Ledger{Compute: sum.Compute / n, Memory: sum.Memory / n, ReduceScatter: sum.ReduceScatter / n,
		AllGather: sum.AllGather / n, AllReduce: sum.AllReduce / n, OtherComm: sum.OtherComm / n, Idle: sum.Idle / n}
}

func optimizers(s *report.Step) string {
	names := make([]string, len(s.Optimizers))
	for i, o := range s.Optimizers {
		names[i] = o.Name
	}
	return strings.Join(names, " + ")
}

// collectiveTable lists overlap by kind.
func collectiveTable(r *report.Report) table {
	t := table{title: "Collectives, whole recording, ms", left: 2,
		header: []string{"rank", "kind", "count", "busy", "overlapped", "exposed", "overlap", "launched from"},
		note:   "overlapped: together with compute kernels of the same device; all: the union of the kinds"}
	for _, c := range r.Collectives {
		t.rows = append(t.rows, append(overlapRow(c.Rank, spaced(c.Kind), c.Count, c.Overlap), short(sites(c.Sites))))
	}
	for _, c := range r.Communication {
		t.rows = append(t.rows, append(overlapRow(c.Rank, "all", c.Count, c.Overlap), ""))
	}
	slices.SortStableFunc(t.rows, func(a, b []string) int {
		return len(a[0]) - len(b[0]) + strings.Compare(a[0], b[0])
	})
	return t
}

func overlapRow(rank int64, kind string, count int, o report.Overlap) []string {
	return []string{
		strconv.FormatInt(rank, 10), kind, strconv.Itoa(count), millis(o.Busy), millis(o.Overlapped), millis(o.Exposed),
		percent(o.Ratio),
	}
}

func sites(list []report.LaunchSite) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = strings.TrimSpace(spaced(s.Site)+" "+s.Name) + " " + strconv.Itoa(s.Count)
	}
	return strings.Join(parts, ", ")
}

// groupTable lists the collectives of each step by launch site.
func groupTable(r *report.Report) table {
	t := table{title: "Groups of collectives, ms", left: 4,
		header: []string{"rank", "step", "kind", "launched from", "count", "MB", "busy", "overlap", "first"},
		note: "first: overlap of the first collective of the group; ? marks groups whose site is inferred from the " +
			"order of kernel names"}
	for _, g := range r.Groups {
		step := "?"
		if g.Step != nil {
			step = strconv.Itoa(*g.Step)
		}
		size := ""
		if g.Bytes != nil {
			size = fmt.Sprintf("%.1f", units.MB(*g.Bytes))
		}
		t.rows = append(t.rows, []string{
			strconv.FormatInt(g.Rank, 10), step, spaced(g.Kind),
			short(strings.TrimSpace(spaced(g.Site) + " " + g.Name)), strconv.Itoa(g.Count), size, millis(g.Busy),
			percent(g.Ratio), share(g.FirstOver, g.FirstBusy),
		})
	}
	return t
}

// topTable lists the names with the most device time.
func topTable(r *report.Report) table {
	t := table{
		title:  "Device time by name, ms",
		header: []string{"rank", "category", "name", "count", "total"},
		left:   3,
		note:   "durations are summed, so names on concurrent streams add up to more than the time that passed",
	}
	for _, k := range r.Kernels {
		t.rows = append(t.rows, []string{
			strconv.FormatInt(k.Rank, 10), k.Cat, short(k.Name), strconv.Itoa(k.Count), millis(k.Busy),
		})
	}
	return t
}

// healthTable lists the damage of the inputs.
func healthTable(r *report.Report) table {
	t := table{title: "Trace health", header: []string{"rank", "severity", "what", "count", "byte", "action"}, left: 3}
	for _, p := range r.Health.Problems {
		offset := ""
		if p.Offset != nil {
			offset = strconv.FormatInt(*p.Offset, 10)
		}
		t.rows = append(t.rows, []string{
			strconv.FormatInt(p.Rank, 10), p.Severity, escape.Control(p.Message), strconv.FormatInt(p.Count, 10),
			offset, p.Action,
		})
	}
	return t
}

// sourceTable lists what was read.
func sourceTable(r *report.Report) table {
	t := table{title: "What was read", left: 2, header: []string{"what", ""}}
	add := func(what, value string) { t.rows = append(t.rows, []string{what, value}) }
	files := make([]string, 0, maxSteps)
	for _, f := range r.Source.Files[:min(maxSteps, len(r.Source.Files))] {
		files = append(files, short(f))
	}
	if n := len(r.Source.Files) - len(files); n > 0 {
		files = append(files, fmt.Sprintf("and %d more", n))
	}
	add("files", strings.Join(files, ", "))
	add("format", short(r.Source.Format))
	add("stored", fmt.Sprintf("%.3f MB", units.MB(r.Source.Bytes)))
	add("events", fmt.Sprint(r.Source.Events))
	add("device", short(r.Source.Device))
	add("steps are those of", spaced(short(r.Source.StepSource)))
	add("model, by its optimizers and parameters", short(r.Source.Fingerprint.Model))
	return t
}

func deviceTable(r *report.Report) table {
	t := table{
		title:  "Device events",
		left:   1,
		header: []string{"rank", "kernels, copies, memsets", "launched outside the recording", "of those at its start"},
	}
	for _, d := range r.Health.DeviceEvents {
		t.rows = append(t.rows, []string{
			fmt.Sprint(d.Rank), fmt.Sprint(d.Count), fmt.Sprint(d.Unlinked), fmt.Sprint(d.Edge),
		})
	}
	return t
}
