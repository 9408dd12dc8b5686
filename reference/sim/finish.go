package sim

import (
	"runtime"
	"sync"

	"github.com/gaprof/gaprof/trace/graph"
)

// finish simulates the run that the devices have written down, and tells their Recorders.
func (r *run) finish() error {
	if err := r.fits(); err != nil {
		return err
	}
	g, m := r.merge()
	if err := r.join(g); err != nil {
		return err
	}
	times, err := g.Run(m)
	if err != nil {
		return err
	}
	for _, d := range r.devices {
		d.times = times
	}
	if r.stats != nil {
		*r.stats = Stats{Ranks: len(r.devices), Nodes: g.Len(), Edges: g.Edges(), Memory: r.need()}
	}
	r.tell()
	return nil
}

// merge makes one graph of those of all ranks, and the machine that it runs on.
func (r *run) merge() (*graph.Graph, *graph.Machine) {
	m := &graph.Machine{Slow: int64(r.machine.values[slow] * 1000), Exclude: true}
	if len(r.devices) == 1 {
		d := r.devices[0]
		m.Role, m.Domain, m.Priority = d.role, d.domain, d.priority
		return &d.g, m
	}
	all := &graph.Graph{}
	nodes, edges := 0, 0
	for _, d := range r.devices {
		nodes, edges = nodes+d.g.Len(), edges+d.g.Edges()
	}
	all.Grow(nodes, edges)
	m.Role = make([]graph.Role, 0, nodes)
	for i, d := range r.devices {
		d.first, _, _ = all.Append(&d.g)
		m.Role, m.Priority = append(m.Role, d.role...), append(m.Priority, d.priority...)
		for _, on := range d.domain {
			if on >= 0 {
				on = int32(i)
			}
			m.Domain = append(m.Domain, on)
		}
		d.g, d.role = graph.Graph{}, nil
	}
	for _, d := range r.devices {
		d.all = all
	}
	return all, m
}

// tell tells the Recorders of all ranks, as many at a time as there are cores: what is told of a rank takes more room
// than its journal.
func (r *run) tell() {
	next := make(chan *dev)
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(r.devices)) {
		all.Go(func() {
			for d := range next {
				d.tell()
				if r.recorded != nil && len(r.devices) == r.world {
					r.recorded(d.rank)
				}
			}
		})
	}
	for _, d := range r.devices {
		if d.to != nil {
			next <- d
		}
	}
	close(next)
	all.Wait()
}
