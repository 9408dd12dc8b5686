package sim

import "strings"

// nearest names what was probably meant, or all there is.
func nearest(name string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if d := distance(name, n); d < least || d == least && best == "" && strings.HasPrefix(n, name) {
			best, least = n, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "take one of " + strings.Join(names, ", ")
}

// distance is how many letters have to be inserted, left out or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := corner
			if a[i] != b[j] {
				next = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
