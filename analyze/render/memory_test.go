package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/report"
)

// memoryRow is the memory of a step of rank 0; negative amounts are unknown.
func memoryRow(kind string, step int, peak, reserved, held int64, phase string) report.Memory {
	m := report.Memory{Device: "0", Kind: kind, Complete: true, PeakAllocated: peak, Phase: phase, Start: peak / 2}
	if step >= 0 {
		m.Step, m.StepKind = &step, "A"
	}
	if reserved >= 0 {
		m.PeakReserved = &reserved
	}
	if held >= 0 {
		passes := 4
		m.HeldAtPeak, m.HeldAtPeakPasses = &held, &passes
	}
	return m
}

func TestMemoryInWords(t *testing.T) {
	relative := memoryRow("cpu", 1, 5e6, -1, -1, "forward")
	relative.Relative, relative.Device = true, "cpu"
	first := memoryRow("cuda", 0, 9e9, 9e9, 0, "optimizer")
	first.Complete = false
	for _, test := range []struct {
		name  string
		rows  []report.Memory
		ranks []int64
		want  string
	}{
		{"not recorded", nil, nil, ""},
		{"the highest of complete steps", []report.Memory{
			first, memoryRow("cuda", 1, 3e9, 5e9, 2e9, "backward"), memoryRow("cuda", 2, 2e9, 6e9, 1e9, "forward"),
		}, []int64{0, 1}, "peak 3.00 GB allocated, 5.00 GB reserved, in backward of step 1 of rank 0; " +
			"2.00 GB of it held by 4 forward passes until backward"},
		{"incomplete ones where there are no others", []report.Memory{first}, nil,
			"peak 9.00 GB allocated, 9.00 GB reserved, in the optimizer of step 0"},
		{"no steps", []report.Memory{memoryRow("hip", -1, 70, 100, -1, "unknown")}, nil,
			"peak 70 B allocated, 100 B reserved, in the whole recording"},
		{"no phase", []report.Memory{memoryRow("hip", 3, 70, -1, -1, "unknown")}, nil, "peak 70 B, in step 3"},
		{"accelerators, whatever the host holds", []report.Memory{
			memoryRow("cuda", 1, 1000, -1, -1, "after_backward"), relative,
		}, nil, "peak 1.0 kB, in what follows backward of step 1"},
		{"the host alone", []report.Memory{relative}, nil, "peak at least 5.0 MB of host memory, in forward of step 1"},
	} {
		r := &report.Report{Memory: test.rows, Source: report.Source{Ranks: test.ranks}}
		if got := memoryText(r); got != test.want {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
		rows := memoryTable(r).rows
		if (len(rows) > 0) != (test.want != "") || (memorySection(r).id != "") != (test.want != "") {
			t.Errorf("%s: %v", test.name, rows)
		}
	}
}

// A row for each rank, device and kind of step: the one with the highest peak.
func TestMemoryTable(t *testing.T) {
	other := memoryRow("cuda", 3, 4e6, 5e6, 0, "optimizer")
	other.StepKind = "B"
	second := memoryRow("cuda", 3, 6e6, 7e6, 3e6, "backward")
	second.Device, second.Relative = "1", true
	table := memoryTable(&report.Report{Memory: []report.Memory{
		memoryRow("cuda", 1, 1e6, 5e6, -1, "forward"), memoryRow("cuda", 2, 2e6, 5e6, 1e6, "after_backward"),
		other, second,
	}})
	want := "0 cuda 0 A 2 1.0 2.0 5.0 after backward 1.0 4\n0 cuda 0 B 3 2.0 4.0 5.0 optimizer 0.0 4\n" +
		"0 cuda 1 A 3 3.0 6.0 7.0 backward 3.0 4\n"
	got := ""
	for _, row := range table.rows {
		got += strings.Join(row, " ") + "\n"
	}
	if got != want || !strings.Contains(table.note, "lower bounds") {
		t.Errorf("got\n%swant\n%s%s", got, want, table.note)
	}
}

func TestMemoryChange(t *testing.T) {
	side := func(peak, held int64, passes int, phase string) compare.MemorySide {
		reserved := 2 * peak
		return compare.MemorySide{Kind: "cuda", Peak: peak, Reserved: &reserved, Phase: phase, Held: &held,
			HeldPasses: &passes}
	}
	same, half, little := 0.0, -0.5, -0.00002
	relative := side(5e6, 1, 1, "forward")
	relative.Kind, relative.Reserved, relative.Held, relative.Relative = "cpu", nil, nil, true
	for _, test := range []struct {
		change compare.MemoryChange
		want   string
	}{
		{compare.MemoryChange{Kind: "Adam", Base: side(5e6, 4e6, 4, "backward"), New: side(5e6, 4e6, 4, "backward"),
			Delta: &same}, "[]"},
		{compare.MemoryChange{Kind: "Adam", Base: side(5e9, 4e9, 4, "backward"),
			New: side(5e9-1e5, 4e9+1e5, 4, "backward"), Delta: &little}, "[]"},
		{compare.MemoryChange{Kind: "Adam", Base: side(6e6, 4e6, 4, "backward"), New: side(3e6, 1e6, 1, "optimizer"),
			Delta: &half}, "[{MEMORY peak of steps of Adam: 6.0 MB -> 3.0 MB, -50.00 %, " +
			"in backward -> in the optimizer; of it held until backward " +
			"4.0 MB of 4 forward passes -> 1.0 MB of 1 forward pass; " +
			"reserved 12.0 MB -> 6.0 MB}]"},
		{compare.MemoryChange{Kind: "Adam", Base: relative, New: side(6e6, 1, 1, "forward")},
			"[{MEMORY peak of host memory in steps of Adam: at least 5.0 MB -> 6.0 MB}]"},
	} {
		got := fmt.Sprint(memorySentences(&compare.Diff{Memory: []compare.MemoryChange{test.change}}))
		if got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
