package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
)

// exposedTime is exposed time by place, over all windows that were asked for, in ns.
type exposedTime struct {
	at       [numPlaces]int64
	gathers  int64                   // ns: of at[inBackward], at the same time as all-gathers
	steps    int64                   // windows
	busy     int64                   // ns: union of the kernels
	compute  int64                   // ns: compute kernels of the last backward pass
	selected map[*analyze.Rank][]int // the collectives, ascending
}

// total is the exposed time of all places, in ns.
func (x *exposedTime) total() (ns int64) {
	for _, at := range x.at {
		ns += at
	}
	return ns
}

// tooMuch reports whether backward is so short that at least half of what is exposed would
// be so however early the collectives were launched.
func (x *exposedTime) tooMuch() bool {
	return x.compute > 0 && 2*(x.busy-x.compute) >= x.total()
}

// besideGathers says how much of the time all-gathers run too, where that is at least half of
// it: backward waits for parameters then, not for the reduction of gradients.
func (x *exposedTime) besideGathers() string {
	total := x.total()
	if total == 0 || 2*x.gathers < total {
		return ""
	}
	return fmt.Sprintf("all-gathers run beside %.0f %% of it: backward waits for parameters, not for gradients",
		100*float64(x.gathers)/float64(total))
}

// largest is the place with the most exposed time, of equals the first.
func (x *exposedTime) largest() place {
	most := place(0)
	for at := range numPlaces {
		if x.at[at] > x.at[most] {
			most = at
		}
	}
	return most
}

// words are the places with at least a twentieth of the time, the largest first.
func (x *exposedTime) words() string {
	total := x.total()
	var places []place
	for at := range numPlaces {
		places = append(places, at)
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(x.at[b], x.at[a]) })
	var parts []string
	for _, at := range places {
		if x.at[at] > 0 && 20*x.at[at] >= total {
			share := fmt.Sprintf("%.0f %%", 100*float64(x.at[at])/float64(total))
			if share == "100 %" {
				return "all of it " + placeWords[at]
			}
			parts = append(parts, share+" of it "+placeWords[at])
		}
	}
	return strings.Join(parts, ", ")
}
