package facts

import (
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Warmup is compilation and loading, by the host windows of steps.
type Warmup struct {
	Compiling []int64          // ns in each step, overlaps counted once
	Compiled  []timeline.Event // the first spans of it, a few
}

// compilation are the names of work that belongs to warm-up: compilers, autotuners and
// the loading of kernels.
var compilation = []string{
	"Lazy Function Loading", "Runtime Triggered Module Loading", "_compile.compile_inner", "compile_fx",
	"OutputGraph.call_user_compiler", "create_aot_dispatcher_function", "backend_compile", "inductor_compile",
	"CachingAutotuner.benchmark_all_configs", "compile_file", "async_compile.wait", "cuModuleLoadData",
	"cuModuleLoadDataEx", "cudaModuleLoadData", "cuLibraryLoadData",
}

// warmupOf measures compilation and loading inside the host window of each step.
func warmupOf(x *timeline.Rank, s *steps.Steps) Warmup {
	w := Warmup{Compiling: make([]int64, len(s.List))}
	var spans []timeline.Span
	for _, name := range compilation {
		if id, ok := x.Trace.Find(name); ok {
			spans = append(spans, spansNamed(x, id)...)
		}
	}
	timeline.SortSpans(spans)
	sets := make([]*timeline.Set, len(s.List))
	for _, span := range spans {
		step := s.At(span.Start)
		if step < 0 {
			continue
		}
		if sets[step] == nil {
			sets[step] = timeline.NewSet(0)
		}
		sets[step].Add(span.Start, span.End)
		if len(w.Compiled) < mostShown {
			w.Compiled = append(w.Compiled, x.Event(span.Row))
		}
	}
	for i, set := range sets {
		if set != nil {
			w.Compiling[i] = set.Len()
		}
	}
	return w
}

// spansNamed lists the spans of one name in the process of a rank: on its host threads,
// and on rows that the profiler keeps for overhead.
func spansNamed(x *timeline.Rank, name trace.StringID) []timeline.Span {
	var list []timeline.Span
	for i, id := range x.Col.Name {
		if id == name && x.Col.Phase[i] == trace.Complete && !x.Col.Cat[i].IsActivity() && x.Own(x.Col.Track[i]) {
			list = append(list, x.Span(int32(i)))
		}
	}
	return list
}
