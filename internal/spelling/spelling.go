// Package spelling finds the name that was probably meant.
package spelling

// Nearest is the candidate that differs from word in the fewest letters, or "" where
// all differ in more than half of it.
func Nearest(word string, candidates []string) string {
	best, least := "", len(word)/2+1
	for _, c := range candidates {
		if d := Distance(word, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// Distance is how many letters must be inserted, deleted or replaced (Levenshtein).
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
