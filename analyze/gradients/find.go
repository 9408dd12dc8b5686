package gradients

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// findPasses finds the gradient passes of every step. own is what each step shows, list the
// gradient operations of the rank in order of start.
func findPasses(x *timeline.Rank, s []steps.Step, own []Step, m *matcher, list []operation) []Pass {
	if !m.params.Known() {
		return nil
	}
	var found []Pass
	for i := range s {
		backwards := own[i].Backwards
		from := sort.Search(len(list), func(k int) bool { return list[k].start >= s[i].HostStart })
		to := sort.Search(len(list), func(k int) bool { return list[k].start >= s[i].HostEnd })
		if len(backwards) == 0 {
			continue
		}
		w := &window{x: x, step: &s[i], backwards: backwards}
		for _, r := range w.runs(list[from:max(from, to)]) {
			if p, ok := m.pass(r); ok {
				p.Step = i
				measure(x, &p, r.operations)
				found = append(found, p)
			}
		}
	}
	return found
}
