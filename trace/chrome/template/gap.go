package template

import "github.com/gaprof/gaprof/trace/chrome/scan"

// Gap is what stood between two events the last time, from behind one to the brace of
// the next, as a word: the same is to be expected again. The zero value stands nowhere.
type Gap struct {
	word, mask uint64
	n          int // bytes before the brace
}

// Len is how many bytes stand before the brace.
func (g *Gap) Len() int { return g.n }

// Learn notes what stands between end and the brace at i.
func (g *Gap) Learn(b []byte, end, i int) {
	if n := i - end; n < 8 {
		g.n, g.mask = n, 1<<(8*(n+1))-1
		g.word = scan.Load(b, end) & g.mask
	}
}

// Stands reports whether it stands at end again.
func (g *Gap) Stands(b []byte, end int) bool {
	return (scan.Load(b, end)^g.word)&g.mask == 0 && g.n > 0
}
