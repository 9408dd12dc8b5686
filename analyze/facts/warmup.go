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

// compiling are the rows of a trace that are spans of compilation, by process: on host threads, and on the
// rows that the profiler keeps for overhead, which belong to no thread. It looks at every row, but only where such
// a name occurs.
type compiling struct {
	all []int32            // of all processes, in order
	of  map[string][]int32 // of each
}

func compilingIn(t *trace.Trace, col *trace.Columns) *compiling {
	found := &compiling{of: make(map[string][]int32)}
	names := compilers(t)
	if len(names) == 0 {
		return found
	}
	for i, id := range col.Name {
		if names[id] && col.Phase[i] == trace.Complete && !col.Cat[i].IsActivity() {
			process := t.Tracks()[col.Track[i]].PID
			found.all = append(found.all, int32(i))
			found.of[process] = append(found.of[process], int32(i))
		}
	}
	return found
}

// own are those of a rank's process, or of all processes where no other rank is in the trace.
func (c *compiling) own(x *timeline.Rank) []int32 {
	if x.Only {
		return c.all
	}
	return c.of[x.Process]
}

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
func warmupOf(x *timeline.Rank, s *steps.Steps, compile *compiling) Warmup {
	w := Warmup{Compiling: make([]int64, len(s.List))}
	var spans []timeline.Span
	for _, row := range compile.own(x) {
		spans = append(spans, x.Span(row))
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
