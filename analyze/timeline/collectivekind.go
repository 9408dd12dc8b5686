package timeline

import "strings"

// CollectiveKind is the kind of a communication kernel.
type CollectiveKind uint8

// The kinds of collectives. NotCommunication is the zero value; UnknownCollective
// is a communication kernel whose name does not tell (RCCL's and NCCL's Generic).
const (
	NotCommunication CollectiveKind = iota
	ReduceScatter
	AllGather
	AllReduce
	Broadcast
	Reduce
	AllToAll
	SendRecv
	UnknownCollective
	numCollectives
)

var collectiveNames = [numCollectives]string{
	NotCommunication: "", ReduceScatter: "reduce_scatter", AllGather: "all_gather", AllReduce: "all_reduce",
	Broadcast: "broadcast", Reduce: "reduce", AllToAll: "all_to_all", SendRecv: "send_recv", UnknownCollective: "other",
}

func (c CollectiveKind) String() string { return collectiveNames[c] }

// CollectiveKinds lists the kinds in the order of reports and of the ledger.
func CollectiveKinds() []CollectiveKind {
	return []CollectiveKind{ReduceScatter, AllGather, AllReduce, Broadcast, Reduce, AllToAll, SendRecv, UnknownCollective}
}

// kindWords are looked for in the lower-cased name without separators; the order
// matters where one word contains another.
var kindWords = []struct {
	word string
	kind CollectiveKind
}{
	{"reducescatter", ReduceScatter}, {"allgather", AllGather}, {"allreduce", AllReduce},
	{"alltoall", AllToAll}, {"sendrecv", SendRecv}, {"broadcast", Broadcast}, {"reduce", Reduce},
}

// kernelKind tells whether name is a communication kernel of NCCL, RCCL, MSCCL or
// of a trainer that follows their naming (x_ncclKernel_...), and of which kind.
// The reduction operator is not read: AVG prints as Sum.
func kernelKind(name string) (CollectiveKind, bool) {
	name = strings.TrimPrefix(name, "void ")
	if !isCommunicationKernel(name) {
		return NotCommunication, false
	}
	if i := strings.IndexByte(name, '('); i >= 0 {
		name = name[:i]
	}
	if k := KindOf(name); k != NotCommunication {
		return k, true
	}
	return UnknownCollective, true
}

func isCommunicationKernel(name string) bool {
	for _, prefix := range []string{"nccl", "mscclKernel", "msccl::"} {
		if strings.HasPrefix(name, prefix) {
			return !strings.HasPrefix(name, "nccl:")
		}
	}
	if !strings.Contains(name, "_nccl") {
		return false
	}
	head, _, _ := strings.Cut(name, "(")
	return strings.Contains(head, "_ncclKernel") || strings.Contains(head, "_ncclDevKernel")
}

// KindOf reads the kind from a kernel's name or from a message's
// "CollectiveKind name" (_reduce_scatter_base, allreduce_coalesced, all_to_allv).
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

// ShortKernel is a kernel's name without arguments, for lists.
func ShortKernel(name string) string {
	name = strings.TrimPrefix(name, "void ")
	if i := strings.IndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	return name
}
