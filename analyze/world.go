package analyze

import "github.com/gaprof/gaprof/analyze/whatif"

// Place is where a rank of [Result.World] was read: the trace of that index in a file.
type Place struct {
	File  string
	Trace int
	Rank  int64 // its number in the run
}

// worldOf joins the execution graphs of all ranks, nil where none was asked for.
func worldOf(list []*Rank, m *Matched, o *Options) *whatif.World {
	if !o.Graph || len(list) == 0 {
		return nil
	}
	var graphs []*whatif.Rank
	for _, r := range list {
		graphs = append(graphs, r.reduced.Graph)
	}
	return whatif.Together(graphs, m.Result)
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
