package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// kernelRows has the largest kernels of every rank.
func kernelRows(list []*Rank) (rows []report.Kernel) {
	for _, r := range list {
		for _, k := range r.reduced.Kernels {
			k.Rank = r.ID
			rows = append(rows, k)
		}
	}
	return rows
}

// topKernels lists the names with the most device time, summed over events. It needs
// the whole trace, and the rank has no number yet.
func topKernels(x *timeline.Rank, n int) []report.Kernel {
	rows := []report.Kernel{}
	for _, t := range largest(x, nameTotals(x), n) {
		rows = append(rows, report.Kernel{
			Name:  strings.Clone(x.Name(t.row)),
			Cat:   x.Trace.CatName(x.Col.Cat[t.row]),
			Count: t.count,
			Busy:  t.ns,
		})
	}
	return rows
}

// largest are the n names with the most time, most first, by name where that is equal.
// It sorts only what may be among them: there can be as many names as events.
func largest(x *timeline.Rank, totals []nameTotal, n int) []nameTotal {
	order := func(a, b nameTotal) int {
		if a.ns != b.ns {
			return cmp.Compare(b.ns, a.ns)
		}
		return cmp.Compare(x.Name(a.row), x.Name(b.row))
	}
	var top []nameTotal
	least := int64(-1) // what the n-th of those that were sorted has
	for _, t := range totals {
		if t.ns < least {
			continue
		}
		if top = append(top, t); len(top) >= 2*n {
			slices.SortFunc(top, order)
			top = top[:n]
			least = top[n-1].ns
		}
	}
	slices.SortFunc(top, order)
	return top[:min(n, len(top))]
}

// nameTotal is the device time of one name; row is its first event.
type nameTotal struct {
	row   int32
	count int
	ns    int64
}

func nameTotals(x *timeline.Rank) []nameTotal {
	col := &x.Col
	at := make(map[trace.StringID]int32) // index into totals + 1
	var totals []nameTotal
	for _, d := range x.Devices {
		for _, row := range d.Rows {
			i := at[col.Name[row]]
			if i == 0 {
				totals = append(totals, nameTotal{row: row})
				i = int32(len(totals))
				at[col.Name[row]] = i
			}
			totals[i-1].count++
			totals[i-1].ns = bounded.Add(totals[i-1].ns, col.Dur[row])
		}
	}
	return totals
}
