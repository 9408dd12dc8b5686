package timeline

import "strings"

// CollectiveKind is what a communication kernel or a host collective does.
// Point-to-point transfers count as a kind of their own, because NCCL runs them as
// kernels like any other and device time goes to them just the same.
type CollectiveKind uint8

// The collective kinds. NotCommunication is the zero value; UnknownCollective is a
// communication kernel whose name does not give the kind, such as RCCL's and NCCL's Generic.
const (
	NotCommunication CollectiveKind = iota
	ReduceScatter
	AllGather
	AllReduce
	Broadcast
	Reduce
	AllToAll
	SendRecv
	Barrier // waits for other ranks, or exchanges counts with them: takes time and moves next to nothing
	UnknownCollective
	numCollectives
)

var collectiveNames = [numCollectives]string{
	NotCommunication: "", ReduceScatter: "reduce_scatter", AllGather: "all_gather", AllReduce: "all_reduce",
	Broadcast: "broadcast", Reduce: "reduce", AllToAll: "all_to_all", SendRecv: "send_recv",
	Barrier: "barrier", UnknownCollective: "other",
}

func (c CollectiveKind) String() string { return collectiveNames[c] }

// CollectiveKinds lists the kinds in the order of reports and of the ledger. The caller
// owns the slice.
func CollectiveKinds() []CollectiveKind {
	return []CollectiveKind{
		ReduceScatter, AllGather, AllReduce, Broadcast, Reduce, AllToAll, SendRecv, Barrier, UnknownCollective,
	}
}

// kindWords are searched for in the lower-case name without underscores. The first match
// wins, so a word that contains another (reducescatter, allreduce) precedes it (reduce).
var kindWords = []struct {
	word string
	kind CollectiveKind
}{
	{"reducescatter", ReduceScatter}, {"allgather", AllGather}, {"allreduce", AllReduce},
	{"alltoall", AllToAll}, {"sendrecv", SendRecv}, {"broadcast", Broadcast}, {"reduce", Reduce},
}

// KindOf reads the kind from a kernel's name or from the "Collective name" that PyTorch
// records (_reduce_scatter_base, allreduce_coalesced, all_to_allv). It is
// NotCommunication for names without a known word, such as barrier and gather.
func KindOf(name string) CollectiveKind {
	flat := strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for _, w := range kindWords {
		if strings.Contains(flat, w.word) {
			return w.kind
		}
	}
	if flat == "send" || flat == "recv" {
		return SendRecv
	}
	return NotCommunication
}

// ShortKernel returns a kernel's name without return type and arguments, for lists. The
// result is a piece of name.
func ShortKernel(name string) string {
	name = strings.TrimPrefix(name, "void ")
	if i := strings.IndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	return name
}
