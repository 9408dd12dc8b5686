package render

import (
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/analyze/report"
)

// idleColumns are the causes of idle time in the order of reports.
var idleColumns = []struct {
	head string
	of   func(*report.IdleCauses) int64
}{
	{"data loading", func(c *report.IdleCauses) int64 { return c.DataLoading }},
	{"synchronization", func(c *report.IdleCauses) int64 { return c.Synchronization }},
	{"memory", func(c *report.IdleCauses) int64 { return c.MemoryManagement }},
	{"compilation", func(c *report.IdleCauses) int64 { return c.Compilation }},
	{"optimizer", func(c *report.IdleCauses) int64 { return c.Optimizer }},
	{"operators", func(c *report.IdleCauses) int64 { return c.HostOperators }},
	{"no operator", func(c *report.IdleCauses) int64 { return c.NoOperator }},
	{"launch latency", func(c *report.IdleCauses) int64 { return c.LaunchLatency }},
	{"kernel gap", func(c *report.IdleCauses) int64 { return c.KernelGap }},
	{"profiler", func(c *report.IdleCauses) int64 { return c.Profiler }},
	{"queued", func(c *report.IdleCauses) int64 { return c.QueuedWait }},
	{"unlinked", func(c *report.IdleCauses) int64 { return c.Unlinked }},
}

// idleRow is the idle time of the steps of one kind on a rank and device, in ns.
type idleRow struct {
	rank         int64
	device, kind string
	steps        int64
	total, idle  int64
	causes       [12]int64 // as idleColumns
}

// idleTable says why devices are idle, by kind of step: means over complete steps. It is
// empty where the host is never late by 1 % of a step.
func idleTable(r *report.Report) table {
	rows := idleRows(r.Steps)
	if !slices.ContainsFunc(rows, idleRow.tells) {
		return table{}
	}
	t := table{
		title:  "Idle time by cause, ms per step",
		header: []string{"rank", "steps", "kind", "idle"},
		left:   3,
		note:   "means over complete steps; a row sums to its idle time",
	}
	var used []int
	for i := range idleColumns {
		if slices.ContainsFunc(rows, func(row idleRow) bool { return row.causes[i] > 0 }) {
			used = append(used, i)
			t.header = append(t.header, idleColumns[i].head)
		}
	}
	for _, row := range rows {
		cells := []string{
			strconv.FormatInt(row.rank, 10), strconv.FormatInt(row.steps, 10), row.kind, millis(row.idle / row.steps),
		}
		for _, i := range used {
			cells = append(cells, millis(row.causes[i]/row.steps))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// tells reports whether a cause other than the distance of kernels takes 1 % of the steps.
func (row idleRow) tells() bool {
	for i, ns := range row.causes {
		if idleColumns[i].head != "kernel gap" && 100*ns >= row.total && ns > 0 {
			return true
		}
	}
	return false
}

// idleRows sums the complete steps of a kind on a rank and device.
func idleRows(steps []report.Step) []idleRow {
	type key struct {
		rank         int64
		device, kind string
	}
	at := make(map[key]int)
	var rows []idleRow
	for i := range steps {
		s := &steps[i]
		if s.Idle == nil || s.Ledger == nil || !s.Complete {
			continue
		}
		k := key{s.Rank, s.Device, s.Kind}
		j, ok := at[k]
		if !ok {
			j = len(rows)
			at[k] = j
			rows = append(rows, idleRow{rank: s.Rank, device: s.Device, kind: s.Kind})
		}
		row := &rows[j]
		row.steps++
		row.total += *s.Duration
		row.idle += s.Ledger.Idle
		for c := range idleColumns {
			row.causes[c] += idleColumns[c].of(s.Idle)
		}
	}
	return rows
}
