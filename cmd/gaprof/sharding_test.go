package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// TestFullShardingNames: a step with full sharding has the ranges of fully_shard, one by one, as a
// recording of PyTorch has them. That gathers the whole network's parameters once more for backward,
// as it is told to; ours keeps them, which is PyTorch's default.
func TestFullShardingNames(t *testing.T) {
	read, err := tracefile.Read("../../interop/testdata/fsdp2-accum1-clip-rank0.json.gz", tracefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	theirs := shardingNames(read[0])
	again := slices.Index(theirs, "FSDP::pre_backward") + 1
	theirs = slices.Delete(theirs, again, again+len(gathering))
	o := small()
	o.Sharding, o.GlobalBatchSize, o.ClipGradNorm, o.MaxSteps = "full", -1, 1, 2
	ours := shardingNames(trainQuick(t, o).trace(0))
	if len(ours) < 30 || !slices.Equal(ours, theirs) {
		t.Errorf("ours:\n%s\ntheirs:\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
}

// gathering is what a unit does for an all-gather.
var gathering = []string{"FSDP::all_gather", "fsdp::all_gather_copy_in", "c10d::_allgather_base_",
	"FSDP::all_gather_copy_out", "fsdp::split_with_sizes_copy"}

var ofSharding = regexp.MustCompile(`^(FSDP::|fsdp::|c10d::_|RegisterPostBackward|Optimizer.step)`)

// shardingNames are the ranges of the first step that have to do with sharding, in order, the block
// under one name. A newer PyTorch concatenates gradients of several types.
func shardingNames(tr *trace.Trace) []string {
	type span struct {
		start, duration int64
		name            string
	}
	var spans []span
	var step span
	for i := range tr.Len() {
		switch e := tr.Event(i); {
		case e.Cat() != trace.CatCPUOp && e.Cat() != trace.CatUserAnnotation:
		case ofSharding.MatchString(e.Name()):
			spans = append(spans, span{e.Start(), e.Dur(), e.Name()})
		case strings.HasPrefix(e.Name(), "ProfilerStep") && step.name == "":
			step = span{e.Start(), e.Dur(), e.Name()}
		}
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.duration, a.duration))
	})
	var names []string
	for _, s := range spans {
		if s.start >= step.start && s.start < step.start+step.duration {
			names = append(names, strings.NewReplacer("blocks.0", "block", "_mixed_dtype", "").Replace(s.name))
		}
	}
	return names
}
