package analyze

import "slices"

// missingRanks names the ranks of the traces of which a log has no token count, and those of which
// it has some; "" where it has some of all.
func missingRanks(list []*Rank, counts *tokenCounts) string {
	var counted, missing []int64
	for key := range counts.of {
		counted = append(counted, key.rank)
	}
	slices.Sort(counted)
	counted = slices.Compact(counted)
	for _, r := range list {
		if _, found := slices.BinarySearch(counted, r.ID); !found {
			missing = append(missing, r.ID)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return ": it counts the tokens of " + rankList(counted) + "; those of " + rankList(missing) + " are missing"
}
