package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// asked is a collective on a GPU backend as text: kind, elements sent and received, group.
func (s *script) asked(kind string, in, out int, group string) {
	const args = "coll=%s in=%d out=%d dtype=Float group=%s gsize=4"
	s.event(3, "record_param_comms", fmt.Sprintf(args, kind, in, out, group))
}

// within writes a span around what inside writes.
func (s *script) within(cat, name string, inside func()) {
	start, rest := s.now, s.text.String()
	s.text.Reset()
	s.now++
	inside()
	s.now++
	body := s.text.String()
	s.text.Reset()
	fmt.Fprintf(&s.text, "%s1/1 %dus +%dus %s %q\n%s", rest, start, s.now-start, cat, name, body)
	s.now++
}

// node writes an autograd node around what inside writes.
func (s *script) node(name string, inside func()) {
	s.within("cpu_op", "autograd::engine::evaluate_function: "+name, inside)
}

const accumulateGrad = "torch::autograd::AccumulateGrad"

// twice is two steps of as many micro-batches, each with a backward pass that ends as end
// says.
func twice(micros int, end func(s *script, micro int)) string {
	s := &script{params: []string{"100,20", "64"}}
	for range 2 {
		for j := range micros {
			s.move('f')
			s.move('b')
			end(s, j)
		}
		s.move('s')
	}
	return s.text.String()
}

// TestOfModel: who asks for an all-reduce in backward says whether it is of gradients.
func TestOfModel(t *testing.T) {
	for name, want := range map[string]SyncPattern{
		accumulateGrad:                          SyncEvery,
		"MmBackward0":                           SyncEvery, // a hook
		"RegisterPostBackwardFunctionBackward":  SyncEvery,
		"SyncBatchNormBackward":                 SyncNone,
		"_ReduceFromModelParallelBackward":      SyncNone,
		"FSDP::post_backward_reduce (0)":        SyncEvery,
		"CompiledFunctionBackward":              SyncEvery,
		"DistributedDataParallel.finalise":      SyncEvery,
		"_ColumnParallel of the model's naming": SyncEvery, // no Function is called so
	} {
		r := one(t, twice(2, func(s *script, _ int) {
			reduce := func() { s.asked("allreduce", 2064, 2064, "0") }
			switch {
			case strings.HasPrefix(name, "FSDP"), strings.HasPrefix(name, "Distributed"):
				s.node("RegisterPostBackwardFunctionBackward", func() { s.within("user_annotation", name, reduce) })
			case strings.HasPrefix(name, "Compiled"):
				s.node(name, func() { s.within("cpu_op", name, reduce) })
			default:
				s.node(name, reduce)
			}
		}))
		if r.Sync.Pattern != want {
			t.Errorf("%s: %s, want %s", name, r.Sync.Pattern, want)
		}
	}
}

// TestReducedToOwners: ZeRO-2 reduces each part of the gradients to the rank that owns it, by
// torch.distributed.reduce. A loss that is reduced for the log is none.
func TestReducedToOwners(t *testing.T) {
	r := one(t, twice(2, func(s *script, _ int) {
		s.node(accumulateGrad, func() { s.asked("reduce", 2000, 2000, "0") })
		s.node(accumulateGrad, func() { s.asked("reduce", 64, 64, "0") })
		s.asked("reduce", 1, 1, "0")
	}))
	if r.Sync.Pattern != SyncEvery || r.Sync.Kind != timeline.Reduce || r.Sync.Ranks != 4 ||
		fmt.Sprint(r.Sync.PerPass) != "[2 2]" {
		t.Errorf("%+v", r.Sync)
	}
}

// TestReplicas: all-reduces between replicas of shards.
func TestReplicas(t *testing.T) {
	for _, test := range []struct {
		name           string
		scatters, sums string // groups
		elems          int
		span           string
		want           bool
	}{
		{"what the reduce-scatter left, in another group", "1", "2", 1000, "", true},
		{"in the same group", "1", "1", 1000, "", false},
		{"of another size", "1", "2", 999, "", false},
		{"by fully_shard, of one shard", "", "2", 4000, "FSDP::post_backward_reduce (0)", true},
		{"in another span of it", "", "2", 4000, "FSDP::pre_backward (0)", false},
		{"by DDP", "", "2", 4000, "", false},
	} {
		r := one(t, twice(2, func(s *script, _ int) {
			s.node(accumulateGrad, func() {
				if test.scatters != "" {
					s.asked("_reduce_scatter_base", 4000, 1000, test.scatters)
				}
				sum := func() { s.asked("allreduce", test.elems, test.elems, test.sums) }
				if test.span != "" {
					s.within("user_annotation", test.span, sum)
				} else {
					sum()
				}
			})
		}))
		if c := r.HostCollectives[len(r.HostCollectives)-1]; c.Replicas != test.want {
			t.Errorf("%s: %+v, want %v", test.name, c, test.want)
		}
	}
}

// TestNoSync: reductions inside no_sync(), as annotations and as frames of Python show it.
func TestNoSync(t *testing.T) {
	annotated := func(s *script, inside func()) { s.within("user_annotation", "no_sync", inside) }
	const frame = "torch/nn/parallel/distributed.py(1680): no_sync"
	framed := func(s *script, inside func()) {
		for _, of := range []string{"__enter__", "__exit__"} {
			s.within("python_function", "contextlib.py(132): "+of, func() {
				s.within("python_function", "<built-in function next>", func() {
					s.within("python_function", frame, func() { s.now += 2 })
				})
			})
			if of == "__enter__" {
				inside()
			}
		}
	}
	for _, test := range []struct {
		name   string
		around func(s *script, inside func())
		node   string
		early  int // elements that the first micro-batch reduces
		before bool
		want   int
	}{
		{"annotated, after forward", annotated, accumulateGrad, 500, true, 2},
		{"frames, after forward", framed, accumulateGrad, 500, true, 2},
		{"frames around forward, too", framed, accumulateGrad, 500, false, 2},
		{"nothing is reduced inside", framed, accumulateGrad, 0, true, 0},
		{"another model's gradients", framed, accumulateGrad, 400, true, 0},
		{"the program's own", framed, "MmBackward0", 500, true, 0},
	} {
		s := &script{params: []string{"100,20", "64"}}
		forward := func() {
			s.within("user_annotation", "DistributedDataParallel.forward", func() { s.move('f') })
			s.move('f')
		}
		for range 2 {
			for j := range 2 {
				elems := []int{test.early, 500}[j]
				backward := func() {
					s.move('b')
					if elems > 0 {
						s.node(test.node, func() { s.asked("allreduce", elems, elems, "0") })
					}
				}
				switch {
				case j > 0:
					forward()
					backward()
				case test.before:
					forward()
					test.around(s, backward)
				default:
					test.around(s, func() { forward(); backward() })
				}
			}
			s.move('s')
		}
		r, n := one(t, s.text.String()), 0
		for _, c := range r.HostCollectives {
			if c.NoSync >= 0 {
				n++
				if got := r.NoSync[c.NoSync].ForwardBefore; got != test.before {
					t.Errorf("%s: forward before %v", test.name, got)
				}
			}
		}
		if n != test.want || len(r.NoSync) != 2 {
			t.Errorf("%s: %d reductions in %d stretches, want %d in 2", test.name, n, len(r.NoSync), test.want)
		}
	}
}
