package render

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// CSV writes one figure a row: section, rank, step, item, metric, value, unit.
// A figure that is unknown has no row.
func CSV(w io.Writer, r *report.Report, _ Options) error {
	t := csvTable{w: csv.NewWriter(w)}
	t.w.Write([]string{"section", "rank", "step", "item", "metric", "value", "unit"})
	for i := range r.Steps {
		t.step(&r.Steps[i])
	}
	for i := range r.Memory {
		t.memory(&r.Memory[i])
	}
	for _, c := range r.Communication {
		t.overlap("communication", c.Rank, "all", c.Count, c.Overlap)
	}
	for _, c := range r.Collectives {
		t.overlap("collectives", c.Rank, c.Kind, c.Count, c.Overlap)
		for _, s := range c.Sites {
			t.row("launch_sites", c.Rank, "", c.Kind, s.Site+" "+s.Name, int64(s.Count), "count")
		}
	}
	t.ranks(r)
	for _, d := range r.Health.DeviceEvents {
		t.row("health", d.Rank, "", "device_events", "count", int64(d.Count), "count")
		t.row("health", d.Rank, "", "device_events", "unlinked", int64(d.Unlinked), "count")
	}
	for _, p := range r.Health.Problems {
		t.row("problems", p.Rank, "", p.Code, p.Severity, p.Count, "count")
	}
	for _, f := range r.Findings {
		if f.Cost != nil {
			t.row("findings", -1, "", f.Rule, string(f.Severity), *f.Cost, "ns")
		} else {
			t.row("findings", -1, "", f.Rule, string(f.Severity), 1, "count")
		}
	}
	t.w.Flush()
	return t.w.Error()
}

type csvTable struct{ w *csv.Writer }

// row writes one figure; rank -1 is all ranks together.
func (t csvTable) row(section string, rank int64, step, item, metric string, value int64, unit string) {
	who := ""
	if rank >= 0 {
		who = strconv.FormatInt(rank, 10)
	}
	t.w.Write([]string{section, who, step, escape.Cell(item), escape.Cell(metric), strconv.FormatInt(value, 10), unit})
}

func (t csvTable) step(s *report.Step) {
	index := strconv.Itoa(s.Index)
	t.row("steps", s.Rank, index, s.Kind, "host_duration", s.HostDuration, "ns")
	if s.Duration == nil {
		return
	}
	t.row("steps", s.Rank, index, s.Kind, "duration", *s.Duration, "ns")
	for _, b := range ledgerColumns {
		t.row("steps", s.Rank, index, s.Kind, b.name, b.of(s.Ledger), "ns")
	}
	t.idle(s, index)
}

// idle writes why a device is idle in a step, causes without time as well.
func (t csvTable) idle(s *report.Step, index string) {
	if s.Idle == nil {
		return
	}
	for _, c := range report.AllIdleCauses() {
		t.row("idle_causes", s.Rank, index, s.Kind, c.Name, c.Of(s.Idle), "ns")
	}
	t.row("idle_causes", s.Rank, index, s.Kind, "launch_bound", *s.LaunchBound, "ns")
	t.row("idle_causes", s.Rank, index, s.Kind, "launch_gaps", int64(*s.LaunchGaps), "count")
	t.row("idle_causes", s.Rank, index, s.Kind, "host_stall", *s.HostStall, "ns")
}

func (t csvTable) overlap(section string, rank int64, item string, count int, o report.Overlap) {
	t.row(section, rank, "", item, "count", int64(count), "count")
	t.row(section, rank, "", item, "busy", o.Busy, "ns")
	t.row(section, rank, "", item, "overlapped", o.Overlapped, "ns")
	t.row(section, rank, "", item, "overlapped_with_memory", o.WithMemory, "ns")
	t.row(section, rank, "", item, "exposed", o.Exposed, "ns")
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

// known writes a time unless it is unknown.
func (t csvTable) known(section string, rank int64, metric string, ns *int64) {
	if ns != nil {
		t.row(section, rank, "", "all", metric, *ns, "ns")
	}
}
