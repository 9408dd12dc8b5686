package idle

import "testing"

func TestMeaningOf(t *testing.T) {
	for _, test := range []struct {
		kind kind
		name string
		want mask
	}{
		{note, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1 << loadsData},
		{operator, "enumerate(DataLoader)#x", 1<<loadsData | 1<<works},
		{note, "Load_Batch", 1 << mayLoadData},
		{note, "my data load", 1 << mayLoadData},
		{note, "get next batch of rows", 1 << mayLoadData},
		{note, "batch_norm", 0},
		{note, "a::get_batch", 0},
		{operator, "aten::copy_", 1 << works},
		{operator, "ProfilerStep#3", 0},
		{operator, "## Call CompiledFxGraph x ##", 0},
		{note, "Optimizer.step#AdamW.step", 1 << optimizes},
		{operator, "c10d::barrier", 1<<waits | 1<<works},
		{note, "gloo:all_reduce", 1 << waitsOnHost},
		{note, "_compile.compile_inner (dynamo_timed)", 1 << compiles},
		{note, "compile the model", 0},
		{call, "cudaLaunchKernel", 1 << works},
		{call, "cudaStreamSynchronize", 1<<waits | 1<<works},
		{call, "cudaMemcpy", 1<<waits | 1<<works},
		{call, "cudaMemcpyAsync", 1 << works},
		{call, "hipExtMallocWithFlags", 1<<manages | 1<<works},
		{call, "cuMemAddressReserve", 1<<manages | 1<<works},
		{call, "cudaMemsetAsync", 1 << works},
		{call, "cuModuleLoadData", 1<<compiles | 1<<works},
		{overhead, "Lazy Function Loading", 1 << compiles},
		{overhead, "Command Buffer Full", 0},
		{overhead, "Buffer Flush", 1 << profiles},
	} {
		if got := meaningOf(test.kind, test.name); got != test.want {
			t.Errorf("%d %q: %b, want %b", test.kind, test.name, got, test.want)
		}
	}
}
