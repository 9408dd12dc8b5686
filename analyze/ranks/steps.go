package ranks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/units"
)

// Steps says whether all ranks recorded the same optimizer steps.
type Steps struct {
	Same     bool
	Common   int    // steps at the end of the recordings that are alike on all ranks
	Differ   string // how they differ, "" if they do not
	Recorded []int  // number of steps, by source
}

// compareSteps compares the steps of the ranks by the optimizers that they run. It goes
// backwards from the end, because recordings begin at different moments and the first steps
// of some may be missing.
func compareSteps(sources []Source) Steps {
	s := Steps{Same: true}
	if len(sources) == 0 {
		return s
	}
	kinds := make([][]string, len(sources))
	for i := range sources {
		kinds[i] = stepKinds(sources[i])
		s.Recorded = append(s.Recorded, len(kinds[i]))
	}
	least, most := slices.Min(s.Recorded), slices.Max(s.Recorded)
	for s.Common < least && alike(kinds, s.Common) {
		s.Common++
	}
	switch {
	case s.Common < least:
		who := slices.IndexFunc(kinds, func(k []string) bool {
			return fromEnd(k, s.Common) != fromEnd(kinds[0], s.Common)
		})
		s.Differ = fmt.Sprintf("counted from the end, step %d runs %s on rank %d and %s on rank %d", s.Common+1,
			fromEnd(kinds[0], s.Common), sources[0].ID, fromEnd(kinds[who], s.Common), sources[who].ID)
	case least < most:
		few, many := slices.Index(s.Recorded, least), slices.Index(s.Recorded, most)
		s.Differ = fmt.Sprintf("rank %d has %s, rank %d has %d", sources[few].ID,
			units.Count(least, "step"), sources[many].ID, most)
		if s.Common > 0 {
			s.Differ += fmt.Sprintf("; the last %d are of the same optimizers on all ranks", s.Common)
		}
	}
	s.Same = s.Differ == ""
	return s
}

// stepKinds returns the optimizers of each step of a rank, as a text to compare and print.
func stepKinds(s Source) []string {
	kinds := make([]string, len(s.Rank.Steps))
	for i := range s.Rank.Steps {
		kinds[i] = strings.Join(s.Rank.Steps[i].Optimizers, "+")
		if kinds[i] == "" {
			kinds[i] = "no optimizer"
		}
	}
	return kinds
}

// fromEnd returns the n-th text from the end, the last being the 0th.
func fromEnd(list []string, n int) string { return list[len(list)-1-n] }

// alike reports whether the n-th step from the end runs the same optimizers on all ranks.
func alike(kinds [][]string, n int) bool {
	for _, k := range kinds {
		if fromEnd(k, n) != fromEnd(kinds[0], n) {
			return false
		}
	}
	return true
}
