package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// OV010 finds time in sends and receives that no compute hides: the bubble of pipelines.
var OV010 = exposureRule("OV010", analyze.Doc{
	Title: "exposed send/recv",
	Why: "A receive lasts until the other rank has sent. Between the stages of a pipeline that is the bubble: with " +
		"m micro-batches, the p stages of a 1F1B schedule wait for (p-1)/(m+p-1) of a step, whatever the network " +
		"does. Sends and receives launched inside backward are those of context parallelism and the like.",
	Fix: "overlap sends and receives with the compute of another block (launch batch_isend_irecv ahead of it), and " +
		"look for a late rank",
}, exposure{
	kinds:    []timeline.CollectiveKind{timeline.SendRecv},
	noun:     "send/recv",
	headline: bubble,
	detail:   stages,
	fix:      advice{fix: bubbleFix, wordsOnly: true},
})

const bubbleFix = "more micro-batches per step; a schedule with a smaller bubble (ScheduleInterleaved1F1B, " +
	"ScheduleZBVZeroBubble, Megatron's virtual pipeline stages); stages that take equally long"

// bubble says what the exposed time of sends and receives is.
func bubble(ranks []*analyze.Rank) (headline string, special bool) {
	if pipeline(ranks) {
		return "pipeline bubble: send/recv exposed", true
	}
	return "send/recv exposed", false
}

// pipeline reports whether sends and receives go between the stages of a pipeline: its
// schedule launches them between passes. Those of one layer (context parallelism, halos)
// are launched inside backward as well, by nodes of the graph. Without a backward pass
// neither can be said.
func pipeline(ranks []*analyze.Rank) bool {
	between := 0
	for _, r := range ranks {
		for i := range r.Collectives {
			c := &r.Collectives[i]
			if c.Kind != timeline.SendRecv || !c.Linked || c.Step < 0 {
				continue
			}
			switch c.Phase {
			case facts.PhaseBackward:
				return false
			case facts.PhaseForward, facts.PhaseAfterBackward:
				between++
			}
		}
	}
	return between > 0
}

// stages says how many messages and micro-batches a step has.
func stages(ranks []*analyze.Rank) string {
	messages, steps, micro := 0, 0, 0
	for _, r := range ranks {
		for i := range r.Steps {
			if s := &r.Steps[i]; r.Selected(i) && len(s.Windows) > 0 {
				steps++
				micro = max(micro, s.MicroBatches)
			}
		}
		messages += len(r.Select(func(c *facts.Collective) bool {
			return c.Kind == timeline.SendRecv && c.Step >= 0 && r.Selected(c.Step)
		}))
	}
	if steps == 0 {
		return ""
	}
	text := fmt.Sprintf("%.1f send/recv kernels per step", float64(messages)/float64(steps))
	if micro > 0 {
		text += " of " + plural(micro)
	}
	return text
}

// plural is "1 micro-batch" or "4 micro-batches".
func plural(micro int) string {
	if micro == 1 {
		return "1 micro-batch"
	}
	return fmt.Sprintf("%d micro-batches", micro)
}
