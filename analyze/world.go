package analyze

import "github.com/gaprof/gaprof/analyze/whatif"

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
