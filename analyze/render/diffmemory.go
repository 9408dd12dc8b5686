package render

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/internal/units"
)

// memorySentences say how the peak memory of a step changed; nothing where it did not.
func memorySentences(d *compare.Diff) []sentence {
	var list []sentence
	for i := range d.Memory {
		if m := &d.Memory[i]; m.Changed() {
			list = append(list, sentence{"MEMORY", memoryChangeText(m)})
		}
	}
	return list
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
	if b.Held != nil && n.Held != nil && *b.Held != *n.Held {
		text += fmt.Sprintf("; of it held until backward %s of %s -> %s of %s", units.Bytes(*b.Held),
			passesText(*b.HeldPasses), units.Bytes(*n.Held), passesText(*n.HeldPasses))
	}
	if b.Reserved != nil && n.Reserved != nil && *b.Reserved != *n.Reserved {
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
