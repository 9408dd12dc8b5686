package reference_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
)

// recording keeps what one rank's device tells.
type recording struct {
	mu      sync.Mutex
	hosts   []device.HostEvent
	spans   []device.Span
	devices []device.DeviceEvent
	memory  []device.MemoryEvent
}

func (r *recording) Host(e device.HostEvent)     { keep(r, &r.hosts, e) }
func (r *recording) Span(e device.Span)          { keep(r, &r.spans, e) }
func (r *recording) Device(e device.DeviceEvent) { keep(r, &r.devices, e) }
func (r *recording) Memory(e device.MemoryEvent) { keep(r, &r.memory, e) }
func (r *recording) Sync(device.SyncEvent)       {}
func (r *recording) Begin(int)                   {}

func keep[T any](r *recording, list *[]T, e T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, e)
}

// record trains on the cpu and returns what the ranks told.
func record(t *testing.T, o reference.Options) []*recording {
	t.Helper()
	return recordOn(t, cpu.Backend{}, o)
}

func recordOn(t *testing.T, b device.Backend, o reference.Options) []*recording {
	t.Helper()
	ranks := make([]*recording, o.WorldSize)
	text, err := reference.NewText(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = reference.Run(t.Context(), o, b, text,
		reference.Callbacks{Recorder: func(rank int) device.Recorder {
			ranks[rank] = &recording{}
			return ranks[rank]
		}})
	if err != nil {
		t.Fatal(err)
	}
	return ranks
}

// events of the device, in the order of their calls, whose names contain a word.
func (r *recording) named(word string) []device.DeviceEvent {
	var list []device.DeviceEvent
	for _, e := range r.devices {
		if strings.Contains(e.Name, word) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b device.DeviceEvent) int { return int(a.Correlation - b.Correlation) })
	return list
}

// With hooks the first reduce-scatter of a step is launched, and runs, before backward
// ends; in the step none is. The last kernel of a backward pass is the embedding's.
func TestReduceScatterPlace(t *testing.T) {
	for _, where := range []string{"hook", "step"} {
		o := small(t, "reduce-scatter="+where, "width=32", "heads=2", "max-steps=6")
		accumulation, err := o.Accumulation()
		if err != nil {
			t.Fatal(err)
		}
		for rank, r := range record(t, o) {
			scatters, ends := r.named("ReduceScatter"), r.named("embedding_backward")
			perStep := len(scatters) / o.MaxSteps
			if perStep != 17 || len(ends) != o.MaxSteps*accumulation {
				t.Fatalf("%s: %d reduce-scatters, %d backward passes", where, len(scatters), len(ends))
			}
			early := 0
			for step := range o.MaxSteps {
				first, end := scatters[step*perStep], ends[(step+1)*accumulation-1]
				if launched := first.Correlation < end.Correlation; launched != (where == "hook") {
					t.Errorf("%s, rank %d, step %d: launched before the end of backward: %v", where, rank, step,
						launched)
				}
				if first.Start < end.End {
					early++
				}
			}
			if where == "step" && early > 0 || where == "hook" && early == 0 {
				t.Errorf("%s, rank %d: %d of %d first reduce-scatters begin before backward ends", where, rank, early,
					o.MaxSteps)
			}
		}
	}
}

// peak returns the most that was allocated, and what was left in the end.
func (r *recording) peak() (most, left int64) {
	for _, e := range r.memory {
		most = max(most, e.Allocated)
	}
	return most, r.memory[len(r.memory)-1].Allocated
}

// One backward for all micro-batches keeps the activations of all of them.
func TestActivationMemory(t *testing.T) {
	activations := make(map[string]int64)
	for _, way := range []string{"micro-batch", "step"} {
		o := small(t, "backward="+way, "world-size=1", "global-batch-size=8", "dtype=float32", "width=32",
			"sequence-length=64")
		most, left := record(t, o)[0].peak()
		activations[way] = most - left
	}
	if ratio := float64(activations["step"]) / float64(activations["micro-batch"]); ratio < 3 || ratio > 4 {
		t.Errorf("activations of %d and %d bytes with 4 micro-batches", activations["micro-batch"], activations["step"])
	}
}

// Every gradient is marked when it is ready, with its shape, in every micro-batch; in one
// backward for all of them only once.
func TestGradientMarkers(t *testing.T) {
	for way, passes := range map[string]int{"micro-batch": 4, "step": 1} {
		o := small(t, "backward="+way, "max-steps=3")
		for rank, r := range record(t, o) {
			count := make(map[string]int)
			for _, s := range r.spans {
				if s.Name == "torch::autograd::AccumulateGrad" {
					if len(s.Operands) != 1 || len(s.Operands[0].Shape) == 0 {
						t.Fatalf("a marker without a shape: %+v", s)
					}
					count["all"]++
				}
				count[s.Name]++
			}
			if want := 17 * passes * o.MaxSteps; count["all"] != want {
				t.Errorf("%s, rank %d: %d markers, want %d", way, rank, count["all"], want)
			}
			if count["Optimizer.step#AdamW.step"] != 3 || count["aten::cross_entropy_loss"] != 12 ||
				count["autograd::engine::evaluate_function: NllLossBackward0"] != 12 {
				t.Errorf("%s, rank %d: %v", way, rank, count)
			}
		}
	}
}

// Kernels of the comm stream run while kernels of the compute stream do.
func TestStreamsOverlap(t *testing.T) {
	o := small(t, "grad-sync=reduce-then-accumulate", "sync=every-micro-batch", "width=64", "heads=2",
		"sequence-length=64", "max-steps=6")
	for rank, r := range record(t, o) {
		var both int64
		for _, scatter := range r.named("ReduceScatter") {
			for _, e := range r.devices {
				if e.Stream != scatter.Stream {
					both += max(0, min(e.End, scatter.End)-max(e.Start, scatter.Start))
				}
			}
		}
		if both == 0 {
			t.Errorf("rank %d: no reduce-scatter runs beside a kernel", rank)
		}
	}
}

// collectives of a rank by name and group, for one step.
func (r *recording) collectives(steps int) string {
	count := make(map[string]int)
	for _, s := range r.spans {
		if s.Message != nil {
			count[s.Message.Name+" "+s.Message.GroupComment]++
		}
	}
	var list []string
	for name, n := range count {
		list = append(list, fmt.Sprintf("%s %g", name, float64(n)/float64(steps)))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// What a step with full sharding gathers and reduces, with two blocks and four micro-batches,
// besides the tokens that it counts; with two replicas there are two micro-batches.
func TestFullShardingCollectives(t *testing.T) {
	const tokens = "allreduce default_pg 1"
	for options, want := range map[string]string{
		"":                            "_allgather_base default_pg 20, _reduce_scatter_base default_pg 3, " + tokens,
		"reshard-after-forward=false": "_allgather_base default_pg 12, _reduce_scatter_base default_pg 3, " + tokens,
		"sync=every-micro-batch":      "_allgather_base default_pg 20, _reduce_scatter_base default_pg 12, " + tokens,
		"backward=step":               "_allgather_base default_pg 17, _reduce_scatter_base default_pg 3, " + tokens,
		"world-size=4 replicas=2": "_allgather_base mesh_dp_shard 10, _reduce_scatter_base mesh_dp_shard 3, " +
			tokens + ", allreduce mesh_dp_replicate 3",
		"world-size=4 replicas=2 sync=every-micro-batch": "_allgather_base mesh_dp_shard 10, " +
			"_reduce_scatter_base mesh_dp_shard 6, " + tokens + ", allreduce mesh_dp_replicate 6",
		"world-size=4 replicas=2 sync=every-micro-batch replica-sync=last": "_allgather_base mesh_dp_shard 10, " +
			"_reduce_scatter_base mesh_dp_shard 6, " + tokens + ", allreduce mesh_dp_replicate 3",
		"world-size=2 replicas=2": tokens + ", allreduce mesh_dp_replicate 3",
		"world-size=1":            "",
	} {
		o := small(t, append(strings.Fields(options), "sharding=full", "layers=2")...)
		for rank, r := range record(t, o) {
			if got := r.collectives(o.MaxSteps); got != want {
				t.Errorf("%q, rank %d: %s, want %s", options, rank, got, want)
			}
		}
	}
}

// Reductions of blocks are launched before backward is over, and no stream does what is
// another's: collectives of one kind each, and compute none.
func TestFullShardingStreams(t *testing.T) {
	o := small(t, "sharding=full", "layers=2", "world-size=4", "replicas=2", "max-steps=4")
	for rank, r := range record(t, o) {
		on := make(map[string]int)
		for _, e := range r.devices {
			for _, kind := range []string{"AllGather", "ReduceScatter", "AllReduce", "multi_tensor_copy", "gemm"} {
				if strings.Contains(e.Name, kind) && (e.Message == nil || e.Message.Group != "0") {
					on[fmt.Sprintf("%s on %d", kind, e.Stream)]++
				}
			}
		}
		if len(on) != 5 || on["multi_tensor_copy on 22"] == 0 || on["AllGather on 23"] == 0 ||
			on["ReduceScatter on 24"] == 0 || on["AllReduce on 25"] == 0 || on["gemm on 7"] == 0 {
			t.Errorf("rank %d: %v", rank, on)
		}
		scatters, ends := r.named("ReduceScatter"), r.named("embedding_backward")
		if scatters[0].Correlation > ends[o.GlobalBatchSize/o.LocalBatchSize/o.WorldSize-1].Correlation {
			t.Errorf("rank %d: nothing is reduced before backward ends", rank)
		}
	}
}
