package analyze

import (
	"github.com/gaprof/gaprof/analyze/calibration"
	"github.com/gaprof/gaprof/analyze/whatif"
)

// Place is where a rank of [Result.World] was read: the trace of that index in a file.
type Place struct {
	File  string
	Trace int
	Rank  int64 // its number in the run
}

// What is kept of traces for replays, in events: so many of one trace, and of several together,
// which take up to 250 bytes each. Of more nothing is kept, whatever the order in which they come.
const (
	mostAlone    = 1 << 22
	mostTogether = 1 << 21
)

// forget lets go of the traces where they are more than may be kept.
func (a *Analysis) forget() {
	most := int64(mostTogether)
	if len(a.files) == 1 {
		most = mostAlone
	}
	if a.events <= most {
		return
	}
	for _, f := range a.files {
		for i := range f.Ranks {
			f.Ranks[i].graph = nil
		}
	}
}

// replays makes the execution graph of a run when something asks for it.
type replays struct {
	list    []*Rank
	matched *Matched
	o       *Options
	made    bool
	of      *whatif.World // nil where there is none
}

// asked is the graph where the caller wants it.
func (r *replays) asked() *whatif.World {
	if !r.o.Graph {
		return nil
	}
	return r.world()
}

// world joins the execution graphs of all ranks; nil without ranks, and where the trace of one
// is gone.
func (r *replays) world() *whatif.World {
	if r.made || len(r.list) == 0 {
		return r.of
	}
	r.made = true
	var graphs []*whatif.Rank
	for _, rank := range r.list {
		g := rank.reduced.Graph
		switch {
		case g != nil:
		case rank.reduced.graph == nil:
			return nil
		default:
			g = rank.reduced.graph()
		}
		graphs = append(graphs, g)
	}
	r.of = whatif.Together(graphs, r.matched.Result)
	return r.of
}

// placesOf says where each rank was read.
func placesOf(files []placed, list []*Rank) []Place {
	of := make(map[*ReducedRank]int) // index of a trace in its file
	for i, n := 0, 0; i < len(files); i++ {
		if n++; i == 0 || files[i].place != files[i-1].place {
			n = 0
		}
		for k := range files[i].Ranks {
			of[&files[i].Ranks[k]] = n
		}
	}
	places := make([]Place, len(list))
	for i, r := range list {
		places[i] = Place{r.File, of[r.reduced], r.ID}
	}
	return places
}

// measured is what the traces of all ranks show of their machine, where that was asked for.
func measured(list []*Rank, matched *Matched) *calibration.Measured {
	var samples []*calibration.Samples
	for _, r := range list {
		if r.reduced.Samples == nil {
			return nil
		}
		samples = append(samples, r.reduced.Samples)
	}
	if len(samples) == 0 {
		return nil
	}
	return calibration.Together(samples, matched.Result)
}
