package nccl

import "math/bits"

// Collective is an operation over all ranks of a group.
type Collective uint8

// The collectives.
const (
	AllReduce Collective = iota
	ReduceScatter
	AllGather
	Broadcast
)

// Algorithm is how data goes around.
type Algorithm uint8

// The algorithms.
const (
	Tree Algorithm = iota
	Ring
)

// String is the algorithm as in the names of kernels.
func (a Algorithm) String() string { return [...]string{"TREE", "RING"}[a] }

// Protocol is how a message is handed on.
type Protocol uint8

// The protocols.
const (
	LL Protocol = iota
	LL128
	Simple
)

// String is the protocol as in the names of kernels.
func (p Protocol) String() string { return [...]string{"LL", "LL128", "SIMPLE"}[p] }

// Generation of a GPU, which some bounds depend on.
type Generation uint8

// The generations.
const (
	Volta Generation = iota
	Ampere
	Hopper
	Blackwell
)

// Fabric is what connects the GPUs of a cluster. Bandwidths are bytes/ns, which are GB/s.
type Fabric struct {
	Bus        float64    // that a ring within a node reaches: what each GPU sends
	Net        float64    // of the port to other nodes that each GPU has
	PCI        bool       // GPUs of a node are connected by PCI Express, not by NVLink
	Generation Generation // of the GPUs
	Latency    float64    // factor of all latencies; 0 means 1
	Least      float64    // of any collective of several ranks, in ns, whatever the model says
}

// Group is who takes part: ranks on so many nodes.
type Group struct{ Ranks, Nodes int }

// Choice is how a collective is run, and how long it takes.
type Choice struct {
	Algorithm Algorithm
	Protocol  Protocol
	NS        float64
}

// Time returns the fastest way to run a collective. bytes are those of the whole message: of a
// reduce-scatter what a rank sends, of an all-gather what it receives.
func (f *Fabric) Time(c Collective, bytes int64, g Group) Choice {
	if g.Ranks <= 1 {
		return Choice{Ring, Simple, baseLatency[Ring][Simple] * 1000}
	}
	var best Choice
	for _, a := range []Algorithm{Ring, Tree} {
		if a == Tree && c != AllReduce {
			continue
		}
		for p := LL; p <= Simple; p++ {
			bandwidth := f.bandwidth(c, a, p, g)
			if bandwidth == 0 {
				continue
			}
			latency := f.latency(c, a, p, g)
			bandwidth, latency = f.refined(c, a, p, g, bytes, bandwidth, latency)
			ns := latency*1000 + float64(bytes)/bandwidth
			if best.NS == 0 || ns < best.NS {
				best = Choice{a, p, ns}
			}
		}
	}
	best.NS = max(best.NS, f.Least)
	return best
}

// steps of a ring.
func steps(c Collective, g Group) int {
	switch c {
	case AllReduce:
		return 2 * (g.Ranks - 1)
	case Broadcast:
		return g.Ranks
	}
	return g.Ranks - 1
}

// bandwidth is that at which the message of a collective is worked off, 0 where a protocol is
// not used.
func (f *Fabric) bandwidth(c Collective, a Algorithm, p Protocol, g Group) float64 {
	if p == LL128 && f.PCI {
		return 0
	}
	bus := f.bus(g)
	scale := min(g.Nodes, 3) - 1 // one node, two, more
	ll := f.Generation
	if g.Nodes > 1 {
		ll = Volta // the bound is that of the host's processor then, of which this is Intel's
	}
	if a == Tree {
		return f.tree(bus, p, g, llMost[ll][scale], scale) / 2
	}
	switch p {
	case LL:
		bus = min(llMost[ll][scale], bus*0.5)
	case LL128:
		share := ringLL128Share
		if g.alone() {
			share = ringLL128Alone
		}
		bus = min(bus*share, channels[f.Generation]*ringLL128Most[f.Generation][scale])
	}
	return bus * float64(g.Ranks) / float64(steps(c, g))
}

// bus is what each rank sends in a ring, over all channels. Between nodes those leave by as many ports as a node has
// ranks of the group, one channel after another by each, and each byte leaves a node once: the ports of its ranks
// together bound what one rank sends.
func (f *Fabric) bus(g Group) float64 {
	if g.Nodes == 1 {
		return f.Bus
	}
	return min(f.Bus, f.Net*float64(g.Ranks)/float64(g.Nodes))
}

// alone reports whether each node has fewer than two ranks of a group: then one GPU both sends and receives through
// the network.
func (g Group) alone() bool { return g.Nodes > 1 && g.Ranks < 2*g.Nodes }

// tree is the bandwidth of a tree, of which each byte goes up and down.
func (f *Fabric) tree(bus float64, p Protocol, g Group, ll float64, scale int) float64 {
	per := channels[f.Generation]
	bus = min(bus*0.92, per*treeMost[f.Generation][scale])
	switch {
	case p == LL:
		bus = min(bus/3.8, ll)
	case p == LL128 && g.Nodes == 1:
		bus = min(bus*7/9, per*treeLL128Most[f.Generation][scale])
	case p == LL128:
		bus = min(bus*120/128, per*treeLL128Most[f.Generation][scale])
	}
	if g.Ranks == g.Nodes {
		bus *= treeAlone
	}
	return bus
}

// latency is that of a collective in us.
func (f *Fabric) latency(c Collective, a Algorithm, p Protocol, g Group) float64 {
	base := baseLatency[a][p]
	hardware := nvlink
	if f.PCI {
		hardware = pci
	}
	within, between := hopLatency[hardware][a][p], hopLatency[network][a][p]
	if g.Ranks == g.Nodes {
		between = hopLatency[network][Tree][p] // with one rank a node, nothing hides it
	}
	n := steps(c, g)
	switch {
	case a == Tree:
		return base + 2*(float64(g.Ranks/g.Nodes-1)*within+float64(log2(g.Nodes))*between)
	case c == Broadcast && g.Nodes > 1:
		return base + between
	case c == Broadcast:
		return base + within
	}
	crossings := 0
	if g.Nodes > 1 {
		crossings = g.Nodes - 1
		if c == AllReduce {
			crossings *= 2
		}
		overhead := netOverhead
		if p == Simple {
			overhead *= 3
		}
		within = max(within, overhead)
	}
	return base + float64(n-crossings)*within + float64(crossings)*between
}

// refined corrects bandwidth and latency where the model does not hold.
func (f *Fabric) refined(c Collective, a Algorithm, p Protocol, g Group, bytes int64,
	bandwidth, latency float64) (float64, float64) {
	if size := log2(int(bytes >> 6)); a == Tree && bytes >= 64 && size < len(treeCorrection[p]) {
		bandwidth *= treeCorrection[p][size]
	}
	if a == Ring && p == Simple && g.Nodes > 1 && c == AllReduce &&
		float64(bytes)/(channels[f.Generation]*float64(g.Ranks)) >= 64 {
		latency *= plateau
	}
	if f.Latency > 0 {
		latency *= f.Latency
	}
	return bandwidth, latency
}

// log2 is rounded down.
func log2(n int) int { return max(0, bits.Len(uint(n))-1) }
