package facts

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/trace"
)

// OptimizerRun is one outermost optimizer span and what it makes the device do.
type OptimizerRun struct {
	Step       int
	Name       string
	Row        int32
	InBackward bool  // it runs inside the backward pass
	Events     int   // device events that it launches
	Start      int64 // first start of them, ns
	End        int64 // last end
	Idle       int64 // of that time, when the device does nothing at all; 0 with several devices
}

// optimizerRuns measures the optimizer spans of a rank.
func (c *computer) optimizerRuns(r *Rank) {
	for _, row := range r.optimizer {
		o := OptimizerRun{Step: r.StepAt(c.col.Start[row]), Row: row, Name: optimizerName(c.t.String(c.col.Name[row])), InBackward: c.inBackward(row)}
		for i, l := range c.launchedBy(row, r.launches) {
			start, end := c.col.Start[l.event()], c.col.Start[l.event()]+c.col.Dur[l.event()]
			if i == 0 || start < o.Start {
				o.Start = start
			}
			o.End = max(o.End, end)
			o.Events++
		}
		if o.Events > 0 && len(r.Devices) == 1 {
			o.Idle = r.Devices[0].ledger(o.Start, o.End)[IdleBucket]
		}
		r.OptimizerRuns = append(r.OptimizerRuns, o)
	}
}

// ZeroGrad is a clearing of gradients between two backward passes of one step.
type ZeroGrad struct {
	Step int
	Row  int32
}

// zeroGrads finds the Optimizer.zero_grad spans that stand inside an accumulation.
func (c *computer) zeroGrads(r *Rank) {
	for _, z := range c.spansOf(r.host, zeroGrad) {
		step := r.StepAt(z.start)
		r.zeroSteps = append(r.zeroSteps, step)
		if step < 0 || c.inside(z.row, evaluate|accumulate) {
			continue
		}
		b := r.Steps[step].Backwards
		if n := len(b); n > 1 && z.start >= b[0].Last && z.start < b[n-1].First {
			r.ZeroInside = append(r.ZeroInside, ZeroGrad{step, z.row})
		}
	}
}

// compilation are the names of work that belongs to warm-up: compilers, autotuners and
// the loading of kernels.
var compilation = []string{
	"Lazy Function Loading", "Runtime Triggered Module Loading", "_compile.compile_inner", "compile_fx",
	"OutputGraph.call_user_compiler", "create_aot_dispatcher_function", "backend_compile", "inductor_compile",
	"CachingAutotuner.benchmark_all_configs", "compile_file", "async_compile.wait", "cuModuleLoadData",
	"cuModuleLoadDataEx", "cudaModuleLoadData", "cuLibraryLoadData",
}

// warmups measures compilation and loading inside the host window of each step.
func (c *computer) warmups(r *Rank) {
	r.Warmup = make([]int64, len(r.Steps))
	sets := make([]*Set, len(r.Steps))
	var spans []hostOp
	for _, name := range compilation {
		if id, ok := c.t.Find(name); ok {
			spans = append(spans, c.spansNamed(r, id)...)
		}
	}
	sortOps(spans)
	for _, s := range spans {
		if step := r.StepAt(s.start); step >= 0 {
			if sets[step] == nil {
				sets[step] = &Set{}
			}
			sets[step].add(s.start, s.end)
			r.WarmupRows = append(r.WarmupRows, s.row)
		}
	}
	for i, set := range sets {
		if set != nil {
			r.Warmup[i] = set.Len()
		}
	}
}

// spansNamed lists the spans of one name on the host threads of a rank, and on rows
// that the profiler keeps for overhead.
func (c *computer) spansNamed(r *Rank, name trace.StringID) []hostOp {
	var list []hostOp
	for i, id := range c.col.Name {
		if id == name && c.col.Phase[i] == trace.Complete && !c.col.Cat[i].IsActivity() {
			list = append(list, hostOp{int32(i), c.col.Start[i], c.col.Start[i] + c.col.Dur[i]})
		}
	}
	return list
}

// Cleared tells whether gradients are cleared anywhere in a step: by zero_grad or by a
// pass that fills them with zeros.
func (r *Rank) Cleared(step int) bool {
	for i := range r.Passes {
		if r.Passes[i].Step == step && r.Passes[i].Kind == ZeroPass {
			return true
		}
	}
	return slices.Contains(r.zeroSteps, step)
}

// InBackward names the optimizers that step inside the backward pass of a step.
func (r *Rank) InBackward(step int) map[string]bool {
	names := make(map[string]bool)
	for _, o := range r.runsOf(step) {
		if o.InBackward {
			names[o.Name] = true
		}
	}
	return names
}

// runsOf are the optimizer spans of one step; OptimizerRuns are in order of start.
func (r *Rank) runsOf(step int) []OptimizerRun {
	from := sort.Search(len(r.OptimizerRuns), func(i int) bool { return r.OptimizerRuns[i].Step >= step })
	to := sort.Search(len(r.OptimizerRuns), func(i int) bool { return r.OptimizerRuns[i].Step > step })
	return r.OptimizerRuns[from:max(from, to)]
}
