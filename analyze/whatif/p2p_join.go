package whatif

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/trace/graph"
)

// Transfers counts the sends and receives of several ranks.
type Transfers struct {
	Joined int // sends that are one with their receive in the graph
	Apart  int // sends and receives without a counterpart, or times that contradict it: they stay as recorded
}

// channel is what one rank sends another in one process group.
type channel struct {
	group    string
	from, to int // ranks, as indexes
}

// messages are the two sides of a channel, in order.
type messagesOf struct{ sent, received []Message }

// joinMessages makes one of each send and its receive: the n-th that a rank sends another in a process group is
// the n-th that the other receives. Recordings begin at different places, so the n-th of one may be
// another one of the other: see shiftOf. Kernels of a batch with several peers end with all of them.
func joinMessages(w *World) {
	channels := make(map[channel]*messagesOf)
	var order []channel
	for rank, r := range w.Ranks {
		for _, m := range r.Messages {
			peer := slices.Index(w.Numbers, m.Peer)
			if peer < 0 || peer == rank {
				w.Transfers.Apart++
				continue
			}
			c := channel{m.Group, rank, peer}
			if !m.Sends {
				c.from, c.to = peer, rank
			}
			if channels[c] == nil {
				channels[c] = &messagesOf{}
				order = append(order, c)
			}
			m.Kernel = w.at(rank, m.Kernel)
			if of := channels[c]; m.Sends {
				of.sent = append(of.sent, m)
			} else {
				of.received = append(of.received, m)
			}
		}
	}
	p := pairing{World: w, with: make(map[graph.Node]graph.Node)}
	slices.SortFunc(order, func(a, b channel) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for _, c := range order {
		p.pair(channels[c])
	}
	p.join()
}

// pairing joins kernels that wait for each other.
type pairing struct {
	*World
	with  map[graph.Node]graph.Node // by kernel: another of the same set; the least of a set has none
	pairs []pair
}

// pair is a send and its receive.
type pair struct{ a, b graph.Node }

// mostShift bounds how far recordings of two ranks begin apart, in messages of a channel.
const mostShift = 256

// pair pairs the messages of a channel.
func (p *pairing) pair(m *messagesOf) {
	shift, ok := p.shiftOf(m)
	paired := 0
	for i := range m.sent {
		j := i + shift
		if !ok || j < 0 || j >= len(m.received) || !p.fit(&m.sent[i], &m.received[j]) {
			continue
		}
		a, b := m.sent[i].Kernel, m.received[j].Kernel
		p.pairs = append(p.pairs, pair{a, b})
		if x, y := p.root(a), p.root(b); x != y {
			p.with[max(x, y)] = min(x, y)
		}
		paired++
	}
	p.Transfers.Apart += len(m.sent) + len(m.received) - 2*paired
}

// fit reports whether a send may be that of a receive: both have as many bytes and end after both have begun.
func (p *pairing) fit(sent, received *Message) bool {
	s := p.Seen
	a, b := sent.Kernel, received.Kernel
	return (sent.Bytes == received.Bytes || sent.Bytes < 0 || received.Bytes < 0) &&
		min(s.End[a], s.End[b]) >= max(s.Start[a], s.Start[b])
}

// sampled is how many messages of a channel are looked at to find its shift.
const sampled = 512

// shiftOf is by how much the places of receives differ from those of their sends: the shift under which most fit,
// of those the one under which they end closest to each other. None where not even half of those that meet fit.
func (p *pairing) shiftOf(m *messagesOf) (shift int, ok bool) {
	best, apart := 0, int64(0)
	stride := 1 + min(len(m.sent), len(m.received))/sampled
	for s := -min(mostShift, len(m.sent)); s <= min(mostShift, len(m.received)); s++ {
		fits, meet, sum := 0, 0, int64(0)
		for i := max(0, -s); i < len(m.sent) && i+s < len(m.received); i += stride {
			meet++
			if a, b := &m.sent[i], &m.received[i+s]; p.fit(a, b) {
				fits++
				off := p.Seen.End[a.Kernel] - p.Seen.End[b.Kernel]
				sum += max(off, -off)
			}
		}
		if 2*fits > meet && (fits > best || fits == best && sum < apart) {
			best, apart, shift, ok = fits, sum, s, true
		}
	}
	return shift, ok
}

// root is the least kernel of a set.
func (p *pairing) root(n graph.Node) graph.Node {
	for {
		up, ok := p.with[n]
		if !ok {
			return n
		}
		if next, more := p.with[up]; more {
			p.with[n] = next
		}
		n = up
	}
}

// join makes a group of each set whose times agree.
func (p *pairing) join() {
	sets := make(map[graph.Node][]graph.Node)
	var order []graph.Node
	known := make(map[graph.Node]bool)
	put := func(n graph.Node) {
		root := p.root(n)
		if sets[root] == nil {
			order = append(order, root)
		}
		if !known[n] {
			known[n] = true
			sets[root] = append(sets[root], n)
		}
	}
	for _, one := range p.pairs {
		put(one.a)
		put(one.b)
	}
	joined := make(map[graph.Node]bool)
	slices.Sort(order)
	for _, root := range order {
		joined[root] = p.joinSet(sets[root])
	}
	for _, one := range p.pairs {
		if joined[p.root(one.a)] {
			p.Transfers.Joined++
		} else {
			p.Transfers.Apart += 2
		}
	}
}

// joinSet makes one of some kernels, and reports false where their times contradict that.
func (p *pairing) joinSet(set []graph.Node) bool {
	latest := p.Seen.Start[set[0]]
	for _, n := range set {
		latest = max(latest, p.Seen.Start[n])
	}
	if p.inGroup(set) || !p.after(set, latest) {
		return false
	}
	slices.Sort(set)
	p.Graph.Join(set...)
	for _, n := range set {
		p.Graph.Work[n] = p.Seen.End[n] - latest
	}
	return true
}
