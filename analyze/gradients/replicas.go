package gradients

import "github.com/gaprof/gaprof/analyze/timeline"

// markReplicas notes the all-reduces between replicas of shards (HSDP): those of exactly
// what a reduce-scatter in the same backward pass left on this rank, in another group, and,
// where each replica is whole, those that fully_shard asks for. DDP's all-reduces are
// neither. received are the elements that each collective leaves on this rank.
func markReplicas(x *timeline.Rank, list []HostCollective, rows []int32, received []int64) {
	shards := make(map[int64]string) // by elements: the group of the last reduce-scatter in this backward pass
	backward := -1
	for i := range list {
		c := &list[i]
		if !c.Gradient {
			continue
		}
		if c.Backward != backward {
			clear(shards)
			backward = c.Backward
		}
		group, scattered := shards[c.Elems]
		switch {
		case c.Kind == timeline.ReduceScatter && received[i] > 0:
			shards[received[i]] = c.Group
		case c.Kind != timeline.AllReduce:
		case scattered && group != "" && c.Group != "":
			c.Replicas = group != c.Group
		default:
			c.Replicas = insideFSDP2(x, rows[i])
		}
	}
}

// insideFSDP2 reports whether a row is in a span of fully_shard that reduces gradients.
func insideFSDP2(x *timeline.Rank, row int32) (inside bool) {
	const reduces = timeline.FSDP2 | timeline.Reducer
	x.Stack(row, func(span int32) bool {
		inside = x.Class(span)&reduces == reduces
		return !inside
	})
	return inside
}
