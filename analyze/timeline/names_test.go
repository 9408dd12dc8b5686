package timeline

import "testing"

func TestKindOfMessage(t *testing.T) {
	for name, want := range map[string]CollectiveKind{
		"_reduce_scatter_base": ReduceScatter, "reduce_scatter_tensor_coalesced": ReduceScatter,
		"_allgather_base": AllGather, "allgather_into_tensor_coalesced": AllGather,
		"allreduce": AllReduce, "allreduce_coalesced": AllReduce,
		"broadcast": Broadcast, "reduce": Reduce,
		"all_to_all": AllToAll, "all_to_allv": AllToAll, "send": SendRecv, "recv": SendRecv,
		"barrier": NotCommunication, "gather": NotCommunication, "": NotCommunication,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestOptimizerName(t *testing.T) {
	for span, want := range map[string]string{
		"Optimizer.step#AdamW.step": "AdamW", "Optimizer.step#My.Opt.step": "My.Opt",
		"Optimizer.step#Adam": "Adam", "Optimizer.step#": "",
	} {
		if got := OptimizerName(span); got != want {
			t.Errorf("%q: %q, want %q", span, got, want)
		}
	}
}
