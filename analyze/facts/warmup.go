package facts

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Warmup is the compilation and loading of code, and the instantiation of graphs, in each
// step. Steps with much of it are no measure of those to come.
type Warmup struct {
	Compiling []int64          // ns by step, in its host window; what overlaps counts once
	Compiled  []timeline.Event // the first few spans
	Graphs    bool             // graphs are instantiated in some step
}

// compilation are the names of spans of compilers and autotuners, and of the loading of
// kernels. Nested ones (a compiler calls the next) need no care: their union is measured.
var compilation = []string{
	"Lazy Function Loading", "Runtime Triggered Module Loading", "_compile.compile_inner", "compile_fx",
	"OutputGraph.call_user_compiler", "create_aot_dispatcher_function", "backend_compile", "inductor_compile",
	"CachingAutotuner.benchmark_all_configs", "compile_file", "async_compile.wait", "cuModuleLoadData",
	"cuModuleLoadDataEx", "cudaModuleLoadData", "cuLibraryLoadData", "entire_frame_compile",
}

// timed ends the names of the phases of torch.compile that PyTorch records.
const timed = " (dynamo_timed)"

// compilers are those of the names in a trace that stand for compilation.
func compilers(t *trace.Trace) map[trace.StringID]bool {
	names := make(map[trace.StringID]bool)
	for _, name := range compilation {
		if id, ok := t.Find(name); ok {
			names[id] = true
		}
	}
	for id := range t.NumStrings() {
		if strings.HasSuffix(t.String(trace.StringID(id)), timed) {
			names[trace.StringID(id)] = true
		}
	}
	return names
}

// warmupOf measures compilation and loading inside the host window of each step.
func warmupOf(x *timeline.Rank, s *steps.Steps) Warmup {
	w := Warmup{Compiling: make([]int64, len(s.List))}
	var spans []timeline.Span
	if names := compilers(x.Trace); len(names) > 0 {
		spans = spansNamed(x, names)
	}
	graphs := x.Spans(x.Host, timeline.GraphInstantiate)
	w.Graphs = len(graphs) > 0
	spans = append(spans, graphs...)
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

// spansNamed lists the spans of these names in the process of a rank: on its host threads, and
// on the rows that the profiler keeps for overhead, which belong to no thread. It looks at
// every row of the trace, but only for names that occur in it.
func spansNamed(x *timeline.Rank, names map[trace.StringID]bool) []timeline.Span {
	var list []timeline.Span
	for i, id := range x.Col.Name {
		if names[id] && x.Col.Phase[i] == trace.Complete && !x.Col.Cat[i].IsActivity() && x.Own(x.Col.Track[i]) {
			list = append(list, x.Span(int32(i)))
		}
	}
	return list
}
