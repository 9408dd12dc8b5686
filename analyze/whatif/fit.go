package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gaprof/gaprof/internal/units"
)

// point is how long something of a size took.
type point struct {
	bytes int64
	ns    int64
}

// costLine is what operations cost by their bytes: alpha + beta * bytes. It is fitted to what was
// recorded, each size with the same weight and by relative error, so that the shortest count as much as the longest.
type costLine struct {
	alpha float64 // ns
	beta  float64 // ns per byte
	off   float64 // root mean square of the relative errors; 0 with two sizes, which a line meets
	count int     // operations
	sizes int     // distinct ones of them
	least int64   // bytes
	most  int64
	seen  []point // the median of each size, by size
}

// fitCost fits a line to points, or says why there is none. Of each size the median counts.
func fitCost(points []point) (costLine, string) {
	list := slices.Clone(points)
	slices.SortFunc(list, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.ns, b.ns))
	})
	line := costLine{count: len(list)}
	var of []point
	for from, to := 0, 0; from < len(list); from = to {
		for to < len(list) && list[to].bytes == list[from].bytes {
			to++
		}
		if middle := list[(from+to-1)/2]; middle.bytes > 0 && middle.ns > 0 {
			of = append(of, middle)
		}
	}
	if line.sizes = len(of); len(of) < 2 {
		if len(of) == 1 {
			return line, fmt.Sprintf("all of them have %s", units.Bytes(of[0].bytes))
		}
		return line, "none has a known size"
	}
	line.least, line.most, line.seen = of[0].bytes, of[len(of)-1].bytes, of
	line.solve(of)
	switch {
	case !(line.beta > 0):
		return line, fmt.Sprintf("from %s to %s larger ones take no longer",
			units.Bytes(line.least), units.Bytes(line.most))
	case !(line.alpha > 0):
		return line, fmt.Sprintf("from %s to %s time grows with the bytes alone",
			units.Bytes(line.least), units.Bytes(line.most))
	}
	return line, ""
}

// solve finds the line with the least squares of relative errors.
func (l *costLine) solve(of []point) {
	var w, x, y, xx, xy float64
	for _, p := range of {
		weight := 1 / (float64(p.ns) * float64(p.ns))
		w += weight
		x += weight * float64(p.bytes)
		y += weight * float64(p.ns)
		xx += weight * float64(p.bytes) * float64(p.bytes)
		xy += weight * float64(p.bytes) * float64(p.ns)
	}
	l.beta = (w*xy - x*y) / (w*xx - x*x)
	l.alpha = (y - l.beta*x) / w
	for _, p := range of {
		off := l.at(p.bytes)/float64(p.ns) - 1
		l.off += off * off / float64(len(of))
	}
	l.off = math.Sqrt(l.off)
	if len(of) == 2 {
		l.off = 0
	}
}

// at is the cost of so many bytes by the line alone, in ns.
func (l *costLine) at(bytes int64) float64 { return l.alpha + l.beta*float64(bytes) }

// between is the cost of so many bytes, in ns: what lies between the times of the next smaller and the next larger
// size that were seen, because NCCL changes algorithm and protocol with the size, which no line follows. Below the
// smallest it is the line's, and from the largest on each byte costs beta.
func (l *costLine) between(bytes int64) float64 {
	i, same := slices.BinarySearchFunc(l.seen, bytes, func(p point, n int64) int { return cmp.Compare(p.bytes, n) })
	switch {
	case same:
		return float64(l.seen[i].ns)
	case i == 0:
		return l.at(bytes)
	case i == len(l.seen):
		last := l.seen[i-1]
		return float64(last.ns) + l.beta*float64(bytes-last.bytes)
	}
	a, b := l.seen[i-1], l.seen[i]
	return float64(a.ns) + float64(b.ns-a.ns)*float64(bytes-a.bytes)/float64(b.bytes-a.bytes)
}

// Doubts in a fit: what it says, or as much more or less as the residual of the fit.
const (
	asFitted = 0.0
	dearer   = 1.0
	cheaper  = -1.0
)

// merged is the cost of several operations as one of so many bytes: no less than the longest of them, and no
// more than all one after the other.
func (l *costLine) merged(bytes, longest, sum int64, doubt float64) int64 {
	ns := l.between(bytes) * (1 + doubt*l.off)
	return min(max(int64(math.Round(ns)), longest), sum)
}

// String is the line in words.
func (l *costLine) String() string {
	return fmt.Sprintf("alpha %.1f us, beta %.2f us per MB (%.1f GB/s), from %d of %d sizes, %s to %s",
		l.alpha/1e3, l.beta*1e3, 1/l.beta, l.count, l.sizes, units.Bytes(l.least), units.Bytes(l.most))
}
