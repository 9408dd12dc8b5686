package facts

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// Suspect is a kernel that counts as compute although its name speaks of communication.
type Suspect struct {
	Kernel string                  // its whole name
	Kind   timeline.CollectiveKind // what the name speaks of
	Count  int                     // how often it ran
	Time   int64                   // ns, of all that ran
	Busy   int64                   // ns in which the devices of the rank are busy
}

// suspectShare is how much of the busy time of a rank's devices a suspect takes, in
// percent: less changes no figure that is worth it.
const suspectShare = 1

// suspectsOf lists the suspects of a rank that take enough time, most first.
func suspectsOf(x *timeline.Rank) []Suspect {
	if !x.AnySuspect() {
		return nil
	}
	at := make(map[trace.StringID]int)
	var list []Suspect
	busy := int64(0)
	for _, d := range x.Devices {
		for _, set := range d.Busy.Alone {
			busy += set.Len()
		}
		for _, row := range d.Rows {
			id := x.Col.Name[row]
			kind := x.Suspect(id)
			if kind == timeline.NotCommunication || x.Col.Cat[row] != trace.CatKernel {
				continue
			}
			i, known := at[id]
			if !known {
				i = len(list)
				at[id], list = i, append(list, Suspect{Kernel: x.Name(row), Kind: kind})
			}
			list[i].Count++
			list[i].Time = bounded.Add(list[i].Time, x.Col.Dur[row])
		}
	}
	list = slices.DeleteFunc(list, func(s Suspect) bool {
		return bounded.Mul(s.Time, 100) <= bounded.Mul(busy, suspectShare)
	})
	for i := range list {
		list[i].Busy = busy
	}
	slices.SortFunc(list, func(a, b Suspect) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Kernel, b.Kernel))
	})
	return slices.Clip(list[:min(len(list), mostShown)])
}
