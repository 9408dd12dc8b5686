package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// memoryRows are the rows of memory that are shown: those of accelerators, or of the host
// where no accelerator's memory was recorded; of complete steps, or of all where none is.
func memoryRows(r *report.Report) []*report.Memory {
	accelerators, complete := false, false
	for i := range r.Memory {
		accelerators = accelerators || r.Memory[i].Kind != "cpu"
	}
	shown := func(m *report.Memory) bool { return !accelerators || m.Kind != "cpu" }
	for i := range r.Memory {
		complete = complete || shown(&r.Memory[i]) && r.Memory[i].Complete
	}
	var rows []*report.Memory
	for i := range r.Memory {
		if m := &r.Memory[i]; shown(m) && m.Complete == complete {
			rows = append(rows, m)
		}
	}
	return rows
}

// highest is the row of memory with the highest peak, nil without any.
func highest(rows []*report.Memory) *report.Memory {
	var top *report.Memory
	for _, m := range rows {
		if top == nil || m.PeakAllocated > top.PeakAllocated {
			top = m
		}
	}
	return top
}

// memoryText is the highest peak in words that begin with "peak", empty where memory was not
// recorded.
func memoryText(r *report.Report) string {
	m := highest(memoryRows(r))
	if m == nil {
		return ""
	}
	text := "peak " + atLeast(m) + units.Bytes(m.PeakAllocated)
	if m.PeakReserved != nil {
		text += " allocated, " + units.Bytes(*m.PeakReserved) + " reserved"
	}
	if m.Kind == "cpu" {
		text += " of host memory"
	}
	text += ", in " + whenText(m)
	if len(r.Source.Ranks) > 1 {
		text += fmt.Sprintf(" of rank %d", m.Rank)
	}
	if held, passes := m.HeldAtPeak, m.HeldAtPeakPasses; held != nil && *held > 0 {
		text += fmt.Sprintf("; %s of it held by %s until backward", units.Bytes(*held), passesText(*passes))
	}
	return text
}

// whenText is the step and the phase of a peak, as far as they are known.
func whenText(m *report.Memory) string {
	switch {
	case m.Step == nil:
		return "the whole recording"
	case m.Phase == "unknown":
		return fmt.Sprintf("step %d", *m.Step)
	}
	return fmt.Sprintf("%s of step %d", spacedPhase(m.Phase), *m.Step)
}

func passesText(n int) string {
	if n == 1 {
		return "1 forward pass"
	}
	return fmt.Sprintf("%d forward passes", n)
}

// atLeast marks an amount that is the least that can be.
func atLeast(m *report.Memory) string {
	if m.Relative {
		return "at least "
	}
	return ""
}

// spacedPhase is a phase after "in": "forward", "backward", "the optimizer".
func spacedPhase(phase string) string {
	switch phase {
	case "optimizer":
		return "the optimizer"
	case "after_backward":
		return "what follows backward"
	}
	return phase
}

// memoryTable lists the highest peak of each kind of step, by rank and device.
func memoryTable(r *report.Report) table {
	t := table{
		title:  "Memory, MB: the step of each kind with the highest peak",
		header: []string{"rank", "device", "kind", "step", "at the start", "peak", "reserved", "phase", "held", "by"},
		left:   3,
		note: "held: allocated in forward, released in backward, and alive at the peak; by: forward passes; " +
			"MB is 10^6 bytes",
	}
	relative := false
	for _, m := range memoryByKind(memoryRows(r)) {
		step, held, by := "-", "-", "-"
		if m.Step != nil {
			step = strconv.Itoa(*m.Step)
		}
		if m.HeldAtPeak != nil {
			held, by = tenths(*m.HeldAtPeak), strconv.Itoa(*m.HeldAtPeakPasses)
		}
		relative = relative || m.Relative
		t.rows = append(t.rows, []string{strconv.FormatInt(m.Rank, 10), strings.TrimSpace(m.Kind + " " + ordinal(m)),
			cmp.Or(m.StepKind, "-"), step, tenths(m.Start), tenths(m.PeakAllocated),
			orDash(m.PeakReserved, tenths), strings.ReplaceAll(m.Phase, "_", " "), held, by})
	}
	if relative {
		t.note += "; the trace does not record everything that is allocated: amounts are lower bounds"
	}
	return t
}

func ordinal(m *report.Memory) string {
	if m.Device == m.Kind {
		return ""
	}
	return m.Device
}

// tenths is bytes in MB.
func tenths(n int64) string { return fmt.Sprintf("%.1f", units.MB(n)) }

// memoryByKind is the row with the highest peak of each rank, device and kind of step, in
// the order of the first of them.
func memoryByKind(rows []*report.Memory) []*report.Memory {
	type key struct {
		rank           int64
		kind, of, step string
	}
	at := make(map[key]int)
	var list []*report.Memory
	for _, m := range rows {
		k := key{m.Rank, m.Kind, m.Device, m.StepKind}
		i, ok := at[k]
		switch {
		case !ok:
			at[k] = len(list)
			list = append(list, m)
		case m.PeakAllocated > list[i].PeakAllocated:
			list[i] = m
		}
	}
	return list
}

// memorySection is the memory of devices; none where it was not recorded.
func memorySection(r *report.Report) section {
	text := memoryText(r)
	if text == "" {
		return section{}
	}
	s := section{id: "memory", title: "Memory over one step", words: []string{"P" + text[1:] + "."},
		figures: plots.Of(r, plots.Memory), tables: []table{memoryTable(r)}}
	if r.Drawing != nil && r.Drawing.MemoryLeftOut > 0 {
		s.words = append(s.words, fmt.Sprintf("Shown are the %d highest of %d devices.", len(r.Drawing.Memory),
			len(r.Drawing.Memory)+r.Drawing.MemoryLeftOut))
	}
	return s
}

// memory writes the amounts of a step.
func (t csvTable) memory(m *report.Memory) {
	step := ""
	if m.Step != nil {
		step = strconv.Itoa(*m.Step)
	}
	item := strings.TrimSpace(m.Kind + " " + ordinal(m))
	row := func(metric string, value int64) { t.row("memory", m.Rank, step, item, metric, value, "bytes") }
	row("peak_allocated", m.PeakAllocated)
	row("start_allocated", m.Start)
	for _, optional := range []struct {
		metric string
		value  *int64
	}{{"peak_reserved", m.PeakReserved}, {"held", m.Held}, {"held_at_peak", m.HeldAtPeak}} {
		if optional.value != nil {
			row(optional.metric, *optional.value)
		}
	}
}
