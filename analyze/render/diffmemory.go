package render

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/internal/units"
)

// memorySentences say how the peak memory of a step changed; nothing where it did not.
func memorySentences(d *compare.Diff) []sentence {
	var list []sentence
	for i := range d.Memory {
		if m := &d.Memory[i]; m.Changed() && memoryMoved(m) {
			list = append(list, sentence{"MEMORY", memoryChangeText(m)})
		}
	}
	return list
}

// leastMemory is the least change of an amount that is told: less prints as nothing.
const leastMemory = 0.00005

// memoryMoved reports whether any amount changed by enough to be told.
func memoryMoved(m *compare.MemoryChange) bool {
	b, n := &m.Base, &m.New
	return b.Relative != n.Relative || moved(&b.Peak, &n.Peak) || moved(b.Reserved, n.Reserved) || moved(b.Held, n.Held)
}

func moved(before, after *int64) bool {
	return before != nil && after != nil && math.Abs(float64(*after-*before)) >= leastMemory*float64(max(*before, 1))
}

func memoryChangeText(m *compare.MemoryChange) string {
	b, n := &m.Base, &m.New
	text := "peak of steps of " + m.Kind
	if b.Kind == "cpu" {
		text = "peak of host memory in steps of " + m.Kind
	}
	text += ": " + peakText(b) + " -> " + peakText(n)
	if m.Delta != nil {
		text += fmt.Sprintf(", %+.2f %%", 100**m.Delta)
	}
	if b.Phase != n.Phase && b.Phase != "unknown" && n.Phase != "unknown" {
		text += ", in " + spacedPhase(b.Phase) + " -> in " + spacedPhase(n.Phase)
	}
	if moved(b.Held, n.Held) {
		text += fmt.Sprintf("; of it held until backward %s of %s -> %s of %s", units.Bytes(*b.Held),
			passesText(*b.HeldPasses), units.Bytes(*n.Held), passesText(*n.HeldPasses))
	}
	if moved(b.Reserved, n.Reserved) {
		text += fmt.Sprintf("; reserved %s -> %s", units.Bytes(*b.Reserved), units.Bytes(*n.Reserved))
	}
	return text
}

func peakText(s *compare.MemorySide) string {
	if s.Relative {
		return "at least " + units.Bytes(s.Peak)
	}
	return units.Bytes(s.Peak)
}
