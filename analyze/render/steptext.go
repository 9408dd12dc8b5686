package render

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/internal/units"
)

// stepSentences say how the time of a step changed, with its size whether it is significant
// or not, and how many steps would tell where there are too few.
func stepSentences(d *compare.Diff) []sentence {
	var list []sentence
	low := false
	for i := range d.StepTimes {
		list = append(list, sentence{"STEP", stepText(&d.StepTimes[i])})
		low = low || d.StepTimes[i].LowConfidence
	}
	if len(list) == 0 {
		list = append(list, sentence{"STEP", "unknown: the sides have no kind of complete step in common"})
	}
	if low {
		list = append(list, sentence{"RECORD", recordText(d)})
	}
	return list
}

// stepText is the change of one kind of step.
func stepText(s *compare.StepTime) string {
	text := s.Kind + ": "
	if s.Of == "host" {
		text += "host time "
	}
	text += fmt.Sprintf("%s -> %s ms, %s", millis(s.Base), millis(s.New), stepChange(s))
	if s.LowConfidence {
		text += fmt.Sprintf(", low confidence: %d against %s", s.BaseSteps, units.Count(s.NewSteps, "step"))
	}
	return text
}

func stepChange(s *compare.StepTime) string {
	if s.Change == 0 && s.P == 1 {
		return "no change"
	}
	text := fmt.Sprintf("%+.3f ms", units.MS(s.Change))
	if s.Delta != nil {
		text += fmt.Sprintf(" (%+.2f %%)", *s.Delta*100)
	}
	return text + significanceText(s.Significant, s.P)
}

// significanceText is what the test says of a change.
func significanceText(significant bool, p float64) string {
	if significant {
		return ", " + probability(p)
	}
	return ", not significant (" + probability(p) + ")"
}

// probability prints a p, which is never zero.
func probability(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p %.3f", p)
}

// recordText says how many steps tell a change from noise.
func recordText(d *compare.Diff) string {
	text := fmt.Sprintf("fewer than %d steps of a kind on a side: no change of times is certain", compare.Few)
	if d.RecordSteps != nil {
		text += fmt.Sprintf("; record at least %d steps, schedule(active=%d)", *d.RecordSteps, *d.RecordSteps)
	}
	return text
}
