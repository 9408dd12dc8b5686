// Package runs sorts lists that consist of few sorted runs, such as events that were
// written thread by thread and stream by stream.
package runs

import "slices"

// Sort sorts list stably by merging neighbouring runs that are in order already: n
// comparisons for a list in order, n log2 k for k runs. slices.SortStableFunc takes
// n log n or more whatever the list, and has no way of reusing memory. compare is as
// for slices.SortFunc. room is memory that may be used, nil is fine; what was used is
// returned for the next call.
func Sort[T any](list []T, compare func(a, b T) int, room []T) []T {
	ends := find(list, compare)
	if len(ends) < 2 {
		return room
	}
	room = slices.Grow(room[:0], len(list))
	for len(ends) > 1 {
		start, merged := 0, ends[:0]
		for k := 0; k < len(ends); k += 2 {
			if k+1 == len(ends) {
				merged = append(merged, ends[k])
				break
			}
			mid, end := ends[k], ends[k+1]
			merge(list[start:end], mid-start, compare, room[:0])
			merged, start = append(merged, end), end
		}
		ends = merged
	}
	return room
}

// find returns the ends of the runs of a list: each run goes from the end before to its own.
func find[T any](list []T, compare func(a, b T) int) []int {
	ends := make([]int, 0, 16)
	for i := 1; i <= len(list); i++ {
		if i == len(list) || compare(list[i-1], list[i]) > 0 {
			ends = append(ends, i)
		}
	}
	return ends
}

// merge sorts a list whose parts before and from mid on are sorted. Elements of the first
// part that stand right already stay; room is for the others.
func merge[T any](list []T, mid int, compare func(a, b T) int, room []T) {
	ahead := 0
	for ahead < mid && compare(list[ahead], list[mid]) <= 0 {
		ahead++
	}
	list, mid = list[ahead:], mid-ahead
	left, right := append(room, list[:mid]...), list[mid:]
	for i := range list {
		switch {
		case len(left) == 0:
			return // the rest of right is in place
		case len(right) == 0 || compare(left[0], right[0]) <= 0:
			list[i], left = left[0], left[1:]
		default:
			list[i], right = right[0], right[1:]
		}
	}
}
