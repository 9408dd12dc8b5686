package gradients

import (
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// SyncPattern says in which micro-batches of a step gradients are reduced. Reports print its
// text.
type SyncPattern string

// The patterns of gradient synchronization. With a single micro-batch it is SyncEvery.
const (
	SyncEvery   SyncPattern = "every_micro_batch" // in each of them
	SyncLast    SyncPattern = "last_micro_batch"  // only in the last, as with no_sync
	SyncNone    SyncPattern = "none"              // in none
	SyncUnknown SyncPattern = "unknown"           // in some, or without backward passes
)

// Sync is the gradient synchronization of a rank.
type Sync struct {
	Pattern SyncPattern
	PerPass []int                   // by backward pass of a typical step: its gradient collectives
	Kind    timeline.CollectiveKind // the most frequent one; ReduceScatter if any is
	Site    timeline.LaunchSite     // the most frequent one
	Ranks   int64                   // ranks that reduce gradients together, 0 unknown; with HSDP shards times replicas
	Shards  int64                   // ranks over which gradients are reduce-scattered, 0 for none or unknown
}

// synchronization derives the synchronization from the gradient collectives. own is what
// each step shows, world the number of ranks, 0 unknown.
func synchronization(
	list []steps.Step, own []Step, passes []Backward, collectives []HostCollective, world int64,
) Sync {
	perStep := make([][]int, len(list))
	for i := range list {
		perStep[i] = make([]int, len(own[i].Backwards))
	}
	s := Sync{Pattern: SyncUnknown}
	sites := make(map[timeline.LaunchSite]int)
	kinds := make(map[timeline.CollectiveKind]int)
	sizes := make(map[timeline.CollectiveKind]int64)
	for i := range collectives {
		c := &collectives[i]
		if !c.Gradient || c.Step < 0 {
			continue
		}
		if at := c.Backward - firstFrom(passes, list[c.Step].HostStart); at >= 0 && at < len(perStep[c.Step]) {
			perStep[c.Step][at]++
		}
		sites[c.Site]++
		kinds[c.Kind]++
		sizes[c.Kind] = max(sizes[c.Kind], c.GroupSize)
	}
	s.Site = mostFrequent(sites, timeline.UnknownSite)
	s.Kind = mostFrequent(kinds, timeline.NotCommunication)
	s.Shards = sizes[timeline.ReduceScatter]
	s.Ranks = max(s.Shards, sizes[timeline.AllReduce], sizes[timeline.Reduce])
	if kinds[timeline.ReduceScatter] > 0 {
		s.Kind = timeline.ReduceScatter // all-reduces are then between replicas of a shard (HSDP)
		if product := s.Shards * max(1, sizes[timeline.AllReduce]); world == 0 || product <= world {
			s.Ranks = product
		}
	}
	s.PerPass = typical(perStep, list)
	s.Pattern = patternOf(s.PerPass)
	return s
}

// typical returns the list that most complete steps have, the first of equally frequent
// ones. A single step counts even if it is not complete.
func typical(lists [][]int, list []steps.Step) []int {
	count, keys := make(map[string]int), make([]string, len(lists))
	for i, l := range lists {
		keys[i] = fmt.Sprint(l)
		if list[i].Complete || len(list) == 1 {
			count[keys[i]]++
		}
	}
	best, most := []int(nil), 0
	for i, l := range lists {
		if n := count[keys[i]]; n > most {
			best, most = l, n
		}
	}
	return best
}

// patternOf returns the pattern of a step with so many gradient collectives in each of its
// backward passes.
func patternOf(perPass []int) SyncPattern {
	if len(perPass) == 0 {
		return SyncUnknown
	}
	total := 0
	for _, n := range perPass {
		total += n
	}
	last := perPass[len(perPass)-1]
	switch {
	case total == 0:
		return SyncNone
	case len(perPass) == 1 || !slices.Contains(perPass, 0):
		return SyncEvery
	case total == last:
		return SyncLast
	}
	return SyncUnknown
}

// mostFrequent returns the key with the greatest count, none if there is no key. Of equally
// frequent ones it takes the one that prints first, as the order of a map is random.
func mostFrequent[K comparable](count map[K]int, none K) K {
	best, most := none, 0
	for k, n := range count {
		if n > most || n == most && fmt.Sprint(k) < fmt.Sprint(best) {
			best, most = k, n
		}
	}
	return best
}
