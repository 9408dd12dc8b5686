package sim

import (
	"fmt"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/sim/nccl"
	"github.com/gaprof/gaprof/trace/graph"
)

// communicator is the device.Communicator of a rank in a group.
type communicator struct {
	d      *dev
	group  *device.Group
	number int32 // of the group
	index  int   // of the rank in the group
	nodes  int   // that the ranks of the group are on
	seq    int64
}

var _ device.Communicator = (*communicator)(nil)

// meeting is the call of a collective by one rank.
type meeting struct {
	group   int32
	node    graph.Node
	message *device.Message
}

// Group, Rank and Size implement device.Communicator.
func (c *communicator) Group() device.Group { return *c.group }
func (c *communicator) Rank() int           { return c.index }
func (c *communicator) Size() int           { return len(c.group.Ranks) }

// kind is a kind of collective, by its names in traces.
type kind struct {
	what                      nccl.Collective
	operator, message, kernel string
}

var (
	allReduce     = &kind{nccl.AllReduce, "c10d::allreduce_", "allreduce", "AllReduce_Sum_"}
	reduceScatter = &kind{nccl.ReduceScatter, "c10d::_reduce_scatter_base_", "_reduce_scatter_base",
		"ReduceScatter_Sum_"}
	allGather = &kind{nccl.AllGather, "c10d::_allgather_base_", "_allgather_base", "AllGather_"}
	broadcast = &kind{nccl.Broadcast, "c10d::broadcast_", "broadcast", "Broadcast_"}
	allToAll  = &kind{nccl.AllGather, "c10d::alltoall_base_", "all_to_all", ""}
	shift     = &kind{nccl.AllGather, "c10d::send_recv_", "send_recv", ""}
)

// AllReduce implements device.Communicator.
func (c *communicator) AllReduce(s device.Stream, buf *device.Buffer, _ device.Reduce) {
	c.enqueue(s, allReduce, buf, buf, buf.Bytes())
}

// ReduceScatter implements device.Communicator.
func (c *communicator) ReduceScatter(s device.Stream, send, recv *device.Buffer, _ device.Reduce) {
	c.enqueue(s, reduceScatter, send, recv, send.Bytes())
}

// AllGather implements device.Communicator.
func (c *communicator) AllGather(s device.Stream, send, recv *device.Buffer) {
	c.enqueue(s, allGather, send, recv, recv.Bytes())
}

// Broadcast implements device.Communicator.
func (c *communicator) Broadcast(s device.Stream, buf *device.Buffer, _ int) {
	c.enqueue(s, broadcast, buf, buf, buf.Bytes())
}

// AllToAll implements device.Communicator. It receives as much as an all-gather of as many bytes, and is
// given its time: NCCL's model has none for messages between two ranks.
func (c *communicator) AllToAll(s device.Stream, send, recv *device.Buffer) {
	c.enqueue(s, allToAll, send, recv, recv.Bytes())
}

// Shift implements device.Communicator. It takes the time of an all-gather of two ranks, which receive as
// much from each other.
func (c *communicator) Shift(s device.Stream, send, recv *device.Buffer, _ int) {
	c.enqueue(s, shift, send, recv, 2*recv.Bytes())
}

// over is the group whose links a message takes.
func (c *communicator) over(k *kind) nccl.Group {
	if k == shift {
		return nccl.Group{Ranks: 2, Nodes: min(2, c.nodes)}
	}
	return nccl.Group{Ranks: len(c.group.Ranks), Nodes: c.nodes}
}

// enqueue puts a collective of a message of so many bytes on a stream.
func (c *communicator) enqueue(s device.Stream, k *kind, send, recv *device.Buffer, bytes int64) {
	d := c.d
	c.seq++
	m := &device.Message{Name: k.message, In: send.N, Out: recv.N, DType: send.DType.Message(),
		GroupSize: len(c.group.Ranks), Rank: c.index, Ranks: c.group.Ranks, Seq: c.seq, Group: c.group.Name,
		GroupComment: c.group.Comment}
	operands := []device.Operand{device.Tensor(send)}
	choice := d.machine.fabric().Time(k.what, bytes, c.over(k))
	rest := max(0, d.figure(collective)-d.figure(launch))
	outer := d.begin(device.Span{Cat: "cpu_op", Name: k.operator, Operands: operands})
	d.spend(rest * 0.2)
	params := d.begin(device.Span{Cat: "cpu_op", Name: "record_param_comms", Operands: operands, Message: m})
	d.spend(rest * 0.3)
	inner := d.begin(device.Span{Cat: "user_annotation", Name: "nccl:" + m.Name})
	n := d.enqueue(s, op{call: "cudaLaunchKernel", calling: d.figure(launch), kind: device.KindKernel,
		name: kernelName(k, send.DType, choice), ns: choice.NS, role: graph.Transfer,
		bytes: send.Bytes() + recv.Bytes(), message: m})
	d.meetings = append(d.meetings, meeting{c.number, n, m})
	d.spend(rest * 0.1)
	inner()
	d.spend(rest * 0.2)
	params()
	d.spend(rest * 0.2)
	outer()
}

// kernelName is the name of NCCL's kernel. NCCL 2.19 and later has one for each collective, type
// and algorithm, which is named after the protocol LL and runs the others, too.
func kernelName(k *kind, dt device.DType, choice nccl.Choice) string {
	if k.kernel == "" {
		return "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
	}
	name := "ncclDevKernel_" + k.kernel
	if k == allReduce || k == reduceScatter {
		name += ncclTypes[dt] + "_"
	}
	return name + choice.Algorithm.String() + "_LL(ncclDevKernelArgsStorage<4096ul>)"
}

// ncclTypes are types as in the names of kernels, where sums do not tell signed integers from
// others.
var ncclTypes = map[device.DType]string{device.F32: "f32", device.F64: "f64", device.I64: "u64", device.BF16: "bf16"}

// meetings joins the calls of one collective by several ranks. Of ranks that stand for others,
// nothing is joined.
func (r *run) join(all *graph.Graph) error {
	if len(r.devices) < r.world {
		return nil
	}
	lists := make(map[[2]int32][]meeting) // by group and rank
	for _, d := range r.devices {
		for _, m := range d.meetings {
			m.node += d.first
			key := [2]int32{m.group, int32(d.rank)}
			lists[key] = append(lists[key], m)
		}
	}
	for i := range r.groups {
		if err := r.joinGroup(all, int32(i), lists); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) joinGroup(all *graph.Graph, group int32, lists map[[2]int32][]meeting) error {
	g := &r.groups[group]
	first := lists[[2]int32{group, int32(g.Ranks[0])}]
	nodes := make([]graph.Node, len(g.Ranks))
	for _, rank := range g.Ranks {
		if got := lists[[2]int32{group, int32(rank)}]; len(got) != len(first) {
			return fmt.Errorf("group %s: rank %d has called %d collectives, rank %d %d", g.Name, g.Ranks[0], len(first),
				rank, len(got))
		}
	}
	for i := range first {
		for j, rank := range g.Ranks {
			m := lists[[2]int32{group, int32(rank)}][i]
			if a, b := first[i].message, m.message; a.Name != b.Name || a.In != b.In || a.DType != b.DType {
				return fmt.Errorf("collective %d of group %s is %s of rank %d, %s of rank %d", i+1, g.Name,
					describe(a), g.Ranks[0], describe(b), rank)
			}
			nodes[j] = m.node
		}
		all.Join(nodes...)
	}
	return nil
}

func describe(m *device.Message) string { return fmt.Sprintf("%s of %d %s", m.Name, m.In, m.DType) }
