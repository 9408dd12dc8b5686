package cpu

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gaprof/gaprof/reference/cpu/gemm"
	"github.com/gaprof/gaprof/reference/device"
)

// failures holds the first failure of a run, which ends the waiting of all ranks.
type failures struct {
	mu     sync.Mutex
	err    error
	failed chan struct{}
}

func newFailures() *failures { return &failures{failed: make(chan struct{})} }

func (f *failures) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		close(f.failed)
	}
}

func (f *failures) failure() error {
	select {
	case <-f.failed:
		return f.err
	default:
		return nil
	}
}

// group connects the ranks of a process group. It holds the collectives under way.
type group struct {
	device.Group
	*failures
	mu   sync.Mutex
	seen map[int64]*meeting // collectives under way, by sequence number
}

func newGroup(g device.Group, f *failures) *group {
	return &group{Group: g, failures: f, seen: make(map[int64]*meeting)}
}

// meeting is a collective under way.
type meeting struct {
	calls   []*collective         // by position in the group; nil for ranks that have yet to arrive
	arrived [rounds]int           // ranks that have completed a round
	open    [rounds]chan struct{} // closed when all of them have
}

// rounds of a collective: after the first, all buffers are there; after the second, every
// rank has read those of the others.
const rounds = 2

// meet adds a call to the meeting with its sequence number. It fails if ranks disagree.
func (g *group) meet(c *collective) (*meeting, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	seq := c.message.Seq
	m := g.seen[seq]
	if m == nil {
		m = &meeting{calls: make([]*collective, len(g.Ranks))}
		for i := range m.open {
			m.open[i] = make(chan struct{})
		}
		g.seen[seq] = m
	}
	m.calls[c.message.Rank] = c
	for _, other := range m.calls {
		if other != nil && !c.matches(other) {
			return nil, fmt.Errorf("collective %d of group %s is %s of rank %d, %s of rank %d",
				seq, g.Name, c.describe(), g.Ranks[c.message.Rank], other.describe(), g.Ranks[other.message.Rank])
		}
	}
	return m, nil
}

// await waits until all ranks have completed a round. It returns false if some rank never
// will, because it has failed.
func (g *group) await(m *meeting, round int, seq int64) bool {
	g.mu.Lock()
	m.arrived[round]++
	if m.arrived[round] == len(g.Ranks) {
		close(m.open[round])
		if round == rounds-1 {
			delete(g.seen, seq)
		}
	}
	g.mu.Unlock()
	select {
	case <-m.open[round]:
		return true
	case <-g.failed:
		return false
	}
}

// communicator is the device.Communicator of a rank in a group.
type communicator struct {
	d     *dev
	group *group
	index int // of the rank in the group
	seq   int64
}

var _ device.Communicator = (*communicator)(nil)

// join returns the communicator of a rank.
func (g *group) join(d *dev) *communicator {
	return &communicator{d: d, group: g, index: g.Index(d.rank)}
}

// Group, Rank and Size implement device.Communicator.
func (c *communicator) Group() device.Group { return c.group.Group }
func (c *communicator) Rank() int           { return c.index }
func (c *communicator) Size() int           { return len(c.group.Ranks) }

// AllReduce implements device.Communicator: every rank sums one part, then copies the
// others.
func (c *communicator) AllReduce(s device.Stream, buf *device.Buffer, op device.Reduce) {
	c.enqueue(s, &collective{kind: allReduce, send: buf, recv: buf, op: op})
}

// ReduceScatter implements device.Communicator: every rank sums its part.
func (c *communicator) ReduceScatter(s device.Stream, send, recv *device.Buffer, op device.Reduce) {
	c.enqueue(s, &collective{kind: reduceScatter, send: send, recv: recv, op: op})
}

// AllGather implements device.Communicator.
func (c *communicator) AllGather(s device.Stream, send, recv *device.Buffer) {
	c.enqueue(s, &collective{kind: allGather, send: send, recv: recv})
}

// Broadcast implements device.Communicator.
func (c *communicator) Broadcast(s device.Stream, buf *device.Buffer, root int) {
	c.enqueue(s, &collective{kind: broadcast, send: buf, recv: buf, root: root})
}

// AllToAll implements device.Communicator.
func (c *communicator) AllToAll(s device.Stream, send, recv *device.Buffer) {
	c.enqueue(s, &collective{kind: allToAll, send: send, recv: recv})
}

// Shift implements device.Communicator.
func (c *communicator) Shift(s device.Stream, send, recv *device.Buffer, by int) {
	n := c.Size()
	c.enqueue(s, &collective{kind: shift, send: send, recv: recv, root: ((c.index-by)%n + n) % n})
}

// kind is a kind of collective, by its names in traces.
type kind struct{ operator, message, kernel string }

var (
	allReduce     = &kind{"c10d::allreduce_", "allreduce", "AllReduce_Sum"}
	reduceScatter = &kind{"c10d::_reduce_scatter_base_", "_reduce_scatter_base", "ReduceScatter_Sum"}
	allGather     = &kind{"c10d::_allgather_base_", "_allgather_base", "AllGather"}
	broadcast     = &kind{"c10d::broadcast_", "broadcast", "Broadcast"}
	allToAll      = &kind{"c10d::alltoall_base_", "all_to_all", "SendRecv"}
	shift         = &kind{"c10d::send_recv_", "send_recv", "SendRecv"}
)

func (c *communicator) enqueue(s device.Stream, t *collective) {
	c.seq++
	g := &c.group.Group
	t.group = c.group
	t.message = &device.Message{Name: t.kind.message, In: t.send.N, Out: t.recv.N, DType: t.send.DType.Message(),
		GroupSize: len(g.Ranks), Rank: c.index, Ranks: g.Ranks, Seq: c.seq, Group: g.Name, GroupComment: g.Comment}
	end := c.d.log.Collective(t.kind.operator, t.message, device.Tensor(t.send))
	t.at = c.d.mark()
	c.d.enqueue(s, "cudaLaunchKernel", t)
	end()
}

// collective is the call of one rank.
type collective struct {
	at         mark
	kind       *kind
	send, recv *device.Buffer
	op         device.Reduce
	root       int // that a broadcast, or this rank's message, is from
	message    *device.Message
	group      *group
	part       *device.Buffer // what this rank has summed
}

func (c *collective) mark() mark { return c.at }

// matches reports whether two ranks have called the same collective.
func (c *collective) matches(other *collective) bool {
	a, b := c.message, other.message
	return a.Name == b.Name && a.In == b.In && a.DType == b.DType
}

func (c *collective) describe() string {
	return fmt.Sprintf("%s of %d %s", c.message.Name, c.message.In, c.message.DType)
}

// run waits for other ranks without holding a core, and sums or copies while holding one.
// When it returns, no other rank reads from this one any more.
func (c *collective) run(s *stream) error {
	start, g := s.d.now(), c.group
	m, err := g.meet(c)
	if err != nil {
		return err
	}
	if !g.await(m, 0, c.message.Seq) {
		return nil
	}
	if c.kind == reduceScatter || c.kind == allReduce {
		s.d.work(func() { c.sum(m) })
	} else {
		s.d.work(func() { c.take(m) })
	}
	if !g.await(m, 1, c.message.Seq) {
		return nil
	}
	if c.kind == allReduce {
		s.d.work(func() { c.take(m) })
	}
	name := fmt.Sprintf("ncclKernel_%s_%s_gaprof_pull", c.kind.kernel, c.send.DType.Short())
	s.ran(c.at, device.DeviceEvent{Kind: device.KindKernel, Name: name, Start: start, End: s.d.now(),
		Bytes: c.send.Bytes() + c.recv.Bytes(), Message: c.message})
	return nil
}

// mine returns the range of a rank's part of n elements.
func mine(n, rank, ranks int) (from, to int) {
	size := (n + ranks - 1) / ranks
	return min(n, rank*size), min(n, (rank+1)*size)
}

// sum sums this rank's part over all ranks, in their order.
func (c *collective) sum(m *meeting) {
	from, to := mine(c.send.N, c.message.Rank, len(m.calls))
	if c.kind == allReduce {
		block := &device.Block{Mem: like(c.send.Block.Mem, to-from)}
		c.part = &device.Buffer{Block: block, N: to - from, DType: c.send.DType}
	} else {
		c.part = c.recv
	}
	switch c.send.DType {
	case device.F32:
		sumRanks(data[float32](c.part), m.calls, from, c.op)
	case device.F64:
		sumRanks(data[float64](c.part), m.calls, from, c.op)
	case device.I64:
		addRanks(data[int64](c.part), m.calls, from)
	}
}

// like allocates n elements of the same type as mem.
func like(mem any, n int) any {
	switch mem.(type) {
	case []float32:
		return make([]float32, n)
	case []float64:
		return make([]float64, n)
	}
	return make([]int64, n)
}

func sumRanks[T gemm.Float](part []T, calls []*collective, from int, op device.Reduce) {
	addRanks(part, calls, from)
	if op == device.Avg {
		for i := range part {
			part[i] /= T(len(calls))
		}
	}
}

func addRanks[T gemm.Float | int64](part []T, calls []*collective, from int) {
	sources := make([][]T, len(calls))
	for r, call := range calls {
		sources[r] = data[T](call.send)[from:][:len(part)]
	}
	for i := range part {
		sum := sources[0][i]
		for _, source := range sources[1:] {
			sum += source[i]
		}
		part[i] = sum
	}
}

// take copies the results of other ranks.
func (c *collective) take(m *meeting) {
	switch c.kind {
	case broadcast:
		if c.message.Rank != c.root {
			copyElements(c.recv, 0, m.calls[c.root].send)
		}
		return
	case shift:
		copyElements(c.recv, 0, m.calls[c.root].send)
		return
	case allToAll:
		n := c.send.N / len(m.calls)
		for r, call := range m.calls {
			copyElements(c.recv, r*n, call.send.View(c.message.Rank*n, n))
		}
		return
	}
	from := 0
	for _, call := range slices.Clone(m.calls) {
		source := call.send
		if c.kind == allReduce {
			source = call.part
		}
		copyElements(c.recv, from, source)
		from += source.N
	}
}

func copyElements(dst *device.Buffer, from int, src *device.Buffer) {
	switch dst.DType {
	case device.F32:
		copyOnto(data[float32](dst)[from:], data[float32](src))
	case device.F64:
		copyOnto(data[float64](dst)[from:], data[float64](src))
	case device.I64:
		copyOnto(data[int64](dst)[from:], data[int64](src))
	}
}

// copyOnto does not write to a part that is gathered in place, since others read it.
func copyOnto[T any](dst, src []T) {
	if len(src) > 0 && &dst[0] != &src[0] {
		copy(dst, src)
	}
}
