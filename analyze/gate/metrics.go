package gate

import (
	"github.com/gaprof/gaprof/analyze/report"
)

// Metric is one figure that a gate can bound. Its value comes from a report alone.
type Metric struct {
	Name       string // as configurations write it, such as step.time
	Unit       Unit   // of its values
	Path       string // where it is in the report, as a JSON path
	Definition string // what it is, in a sentence
	Next       string // what to do where it is too large or too small
	Missing    string // what would supply it where it is unknown

	timed   bool   // a time or made of times: medians by kind of step
	whole   bool   // of the whole recording, not of a step
	against bool   // of two sides: it exists against a baseline only
	touched damage // the damage that makes it undecidable

	findings report.Severity // that it counts; empty: it counts none
	bench    string          // unit in the gobench format; empty: not written
	better   string          // higher or lower, for gobench

	step stepValue              // of one row of a complete step
	all  func(v *view) []sample // of a report
}

// stepValue is the value of a metric in one row of a complete step; false where it is
// unknown.
type stepValue func(*view, *report.Step) (float64, bool)

// What would supply a value that is unknown.
const (
	missDevice = "no device events in complete steps: record with ProfilerActivity.CUDA"
	missSteps  = "no complete optimizer step: record at least two"
	missComm   = "no such collectives on the device in complete steps"
	missShapes = "parameters are unknown: record with record_shapes=True"
	missSites  = "launch sites are unknown: record with ProfilerActivity.CPU and CUDA, through optimizer.step()"
	missRanks  = "one rank was given, or none could be matched: pass the traces of all ranks"
	missSync   = "how gradients are synchronized is unknown"
	missCount  = "the trace does not tell"
	missTokens = "how tokens are weighted is unknown, or known by declaration alone: pass {token-log}, and " +
		"gradients or a loss log where the trace does not tell"
)

// What to do about a value out of bounds.
const (
	toHook      = "launch them from a post-accumulate-grad hook; gaprof explain OV004"
	toOverlap   = "start it earlier, beside backward; gaprof explain OV001"
	toFold      = "fold the factor into the loss; gaprof explain GS002"
	toNoSync    = "synchronize in the last micro-batch only (no_sync, set_requires_gradient_sync); gaprof explain AC001"
	toAnalyze   = "gaprof analyze says where it comes from"
	toMemory    = "gaprof analyze {show} memory says in which phase, and what forward passes hold"
	toFindings  = "gaprof analyze {show} findings"
	toStraggle  = "gaprof analyze {show} ranks; gaprof explain ST001"
	toBaseline  = "gaprof diff BASELINE PATH says what changed"
	toNormalise = "divide by the tokens of all ranks and micro-batches; gaprof analyze {tokens}"
)

// metrics is the table of all metrics, in the order of outputs.
var metrics = []Metric{
	timeOf("step.time", "steps[].duration_ns",
		"device time of a step: from its first activity to that of the next step", toBaseline, "ns/op",
		func(s *report.Step) *int64 { return s.Duration }, hostless),
	{
		Name:       "step.host_time",
		Unit:       Nanoseconds,
		Path:       "steps[].host_duration_ns",
		Definition: "host time of a step: from the end of one update to the end of the next",
		Next:       toBaseline,
		Missing:    missSteps,
		timed:      true,
		touched:    hostEvents | clocks | otherRanks,
		bench:      "host-ns/op",
		better:     "lower",
		step:       func(_ *view, s *report.Step) (float64, bool) { return float64(s.HostDuration), true },
	},
	ledger("compute.time", "compute", "time in which compute kernels run", toBaseline,
		func(l *report.Ledger) int64 { return l.Compute }),
	ledger("memory.time", "memory", "time of copies and memsets that no compute kernel hides", toAnalyze,
		func(l *report.Ledger) int64 { return l.Memory }),
	ledger("idle.time", "idle", "time in which the device does nothing", toAnalyze,
		func(l *report.Ledger) int64 { return l.Idle }),
	{
		Name:       "idle.ratio",
		Unit:       Ratio,
		Path:       "steps[].{ledger_ns.idle, duration_ns}",
		Definition: "share of a step in which the device does nothing",
		Next:       toAnalyze,
		Missing:    missDevice,
		timed:      true,
		touched:    deviceEvents | clocks | links | otherRanks,
		step:       idleRatio,
	},
	idleIn("data_loading", "because the loop waits for a batch", "gaprof explain ID001"),
	idleIn("synchronization", "because the host waited for it, or for other hosts", "gaprof explain ID002"),
	idleIn("memory_management", "because memory is allocated or freed", "gaprof explain ID003"),
	idleIn("compilation", "because code is compiled or loaded", toAnalyze),
	idleIn("optimizer", "because the host is still in the optimizer", toAnalyze),
	idleIn("host_operators", "because the host is still in other operators or calls", toAnalyze),
	idleIn("no_operator", "because the host runs no operator: Python, or what the profiler does not see", toAnalyze),
	idleIn("launch_latency", "because a launch call is still running", toAnalyze),
	idleIn("kernel_gap", "between events that were launched in time", toAnalyze),
	idleIn("profiler", "because of the profiler's overhead", toAnalyze),
	idleIn("queued_wait", "although its next work was launched long before", toAnalyze),
	idleIn("unlinked", "before events whose launch is not in the recording", toAnalyze),
	idleTime("launch_bound.time", "launch_bound_ns", "for launches, in gaps of 1 ms at most", "gaprof explain ID004",
		func(s *report.Step) *int64 { return s.LaunchBound }),
	idleTime("host_stall.time", "host_stall_ns", "for the host, in gaps of more than 1 ms", "gaprof explain ID005",
		func(s *report.Step) *int64 { return s.HostStall }),
	exposed("comm", "{reduce_scatter, all_gather, all_reduce, other_communication}", "all communication",
		func(l *report.Ledger) int64 { return l.ReduceScatter + l.AllGather + l.AllReduce + l.OtherComm }),
	exposed("rs", "reduce_scatter", "reduce-scatters", func(l *report.Ledger) int64 { return l.ReduceScatter }),
	exposed("ag", "all_gather", "all-gathers", func(l *report.Ledger) int64 { return l.AllGather }),
	exposed("ar", "all_reduce", "all-reduces", func(l *report.Ledger) int64 { return l.AllReduce }),
	overlapOf("rs", "reduce_scatter", "reduce-scatters"),
	overlapOf("ag", "all_gather", "all-gathers"),
	overlapOf("ar", "all_reduce", "all-reduces"),
	{
		Name: "comm.overlap.ratio",
		Unit: Ratio,
		Path: "communication[].overlap",
		Definition: "share of all communication, as a union, that compute kernels hide, over the whole recording; of " +
			"the worst rank",
		Next:    toOverlap,
		Missing: missComm,
		timed:   true,
		whole:   true,
		touched: deviceEvents | clocks | streams | otherRanks,
		all:     communicationOverlap,
	},
	passTime("grad.scale.time", "scale", "passes that scale the gradients"),
	passTime("grad.clip.time", "clip", "passes that clip the gradients"),
	passTime("grad.passes.time", "", "passes over the gradients of any kind"),
	passCount("grad.scale.passes", "scale", "", "passes that scale the gradients of a step", toFold),
	passCount("grad.scale.needless", "scale", report.Needless,
		"passes of a step that scale the gradients needlessly (verdict needless)",
		"leave the pass out; gaprof explain GS001"),
	passCount("grad.clip.passes", "clip", "", "passes that clip the gradients of a step",
		"clip once per step; gaprof explain CL004"),
	{
		Name:       "accumulation_steps",
		Unit:       Count,
		Path:       "steps[].optimizers[].accumulation_steps",
		Definition: "how often a gradient is accumulated between two steps of its optimizer",
		Next:       toBaseline,
		Missing:    missCount,
		touched:    hostEvents,
		all:        accumulationSteps,
	},
	exact("micro_batches", "steps[].micro_batches", "forward passes of a step", toBaseline, missCount, hostEvents,
		func(_ *view, s *report.Step) (float64, bool) {
			if s.MicroBatches == nil {
				return 0, false
			}
			return float64(*s.MicroBatches), true
		}),
	{
		Name:       "reductions.per_step",
		Unit:       Count,
		Path:       "gradient_sync[].collectives_per_micro_batch",
		Definition: "micro-batches of a step in which gradients are reduced over ranks",
		Next:       toNoSync,
		Missing:    missSync,
		touched:    hostEvents,
		all:        syncOf(func(n int) int { return min(n, 1) }),
	},
	{
		Name:       "reductions.collectives_per_step",
		Unit:       Count,
		Path:       "gradient_sync[].collectives_per_micro_batch",
		Definition: "collectives that reduce gradients in a step",
		Next:       toNoSync,
		Missing:    missSync,
		touched:    hostEvents,
		all:        syncOf(func(n int) int { return n }),
	},
	{
		Name: "rs.launched_in_optimizer",
		Unit: Count,
		Path: "collectives[kind=reduce_scatter].launch_sites[site=optimizer_step].count",
		Definition: "linked reduce-scatters of the whole recording that are launched inside Optimizer.step; it grows " +
			"with the steps that are recorded",
		Next:    toHook,
		Missing: missSites,
		whole:   true,
		touched: hostEvents | deviceEvents | links,
		all:     launchedInOptimizer,
	},
	missingReductions,
	inOptimizer("rs", "reduce_scatter", "reduce-scatters"),
	inOptimizer("ar", "all_reduce", "all-reduces"),
	groupCount("rs.per_step", "reduce_scatter", "reduce-scatters"),
	groupCount("ag.per_step", "all_gather", "all-gathers"),
	groupCount("ar.per_step", "all_reduce", "all-reduces"),
	groupCount("collectives.per_step", "", "collectives of any kind"),
	{
		Name:       "comm.bytes.per_step",
		Unit:       Bytes,
		Path:       "collective_groups[].bytes",
		Definition: "bytes of all collectives of a step; the larger of input and output",
		Next:       toBaseline,
		Missing:    "the sizes of messages are unknown",
		touched:    hostEvents | deviceEvents | links,
		step:       groupBytes,
	},
	memoryOf("memory.peak", "peak_allocated_bytes",
		"the most memory that tensors take on a device at any time of a step; of the worst step, rank and device",
		toMemory, missMemory, func(m *report.Memory) *int64 { return &m.PeakAllocated }),
	memoryOf("memory.reserved.peak", "peak_reserved_bytes",
		"the most memory that the allocator reserves on a device at any time of a step; of the worst step, rank and "+
			"device",
		toMemory, missMemory, func(m *report.Memory) *int64 { return m.PeakReserved }),
	memoryOf("memory.held.peak", "held_bytes",
		"the most that is allocated in forward and released in backward, at any time of a step: activations; of the "+
			"worst step, rank and device",
		"gaprof explain AC005", missHeld, func(m *report.Memory) *int64 { return m.Held }),
	exact("device.events.per_step", "steps[].linked_device_events", "kernels, copies and memsets that a step launches",
		toBaseline, missDevice, hostEvents|deviceEvents|links,
		func(_ *view, s *report.Step) (float64, bool) { return float64(s.LinkedEvents), s.Duration != nil }),
	{
		Name:       "token_all_reduce.per_step",
		Unit:       Count,
		Path:       "token_all_reduce[].count_per_step",
		Definition: "reductions of token counts over ranks in a step",
		Next:       toAnalyze,
		Missing:    missCount,
		touched:    hostEvents,
		all:        tokenReductions,
	},
	{
		Name:       "norm.max_weight_error",
		Unit:       Ratio,
		Path:       "normalization.token_weight_ratio",
		Definition: "by how much the weight of any token in the loss differs from its weight in a mean over all tokens",
		Next:       toNormalise,
		Missing:    missTokens,
		touched:    hostEvents | otherRanks,
		all:        weightError,
	},
	{
		Name:       "collectives.mismatched",
		Unit:       Count,
		Path:       "matching.mismatches",
		Definition: "collectives that are not the same on all ranks of their group",
		Next:       "gaprof explain ST002",
		Missing:    missRanks,
		touched:    hostEvents | deviceEvents | links | otherRanks,
		all:        mismatches,
	},
	{
		Name:       "wait.max",
		Unit:       Nanoseconds,
		Path:       "ranks[].wait_ns",
		Definition: "how long the rank that waits longest waits for others inside collectives, for each of its steps",
		Next:       toStraggle,
		Missing:    missRanks,
		timed:      true,
		whole:      true,
		touched:    deviceEvents | clocks | otherRanks,
		all:        waits(func(r *report.RankWaits) *int64 { return r.Wait }),
	},
	{
		Name:       "wait.caused.max",
		Unit:       Nanoseconds,
		Path:       "ranks[].wait_caused_ns",
		Definition: "how long the straggler makes all others wait, for each of its steps",
		Next:       toStraggle,
		Missing:    missRanks,
		timed:      true,
		whole:      true,
		touched:    deviceEvents | clocks | otherRanks,
		all:        waits(func(r *report.RankWaits) *int64 { return r.WaitCaused }),
	},
	{
		Name:       "trace.unlinked.ratio",
		Unit:       Ratio,
		Path:       "health.device_events[].{count, unlinked, unlinked_at_start}",
		Definition: "share of device events without a launch in the recording, except those at its start",
		Next:       "gaprof explain TH004",
		Missing:    missDevice,
		touched:    hostEvents | deviceEvents,
		all:        unlinkedShare,
	},
	findingsOf(report.Error), findingsOf(report.Warn), findingsOf(report.Note), newFindings,
}

// Metrics lists all metrics in the order of the table.
func Metrics() []*Metric {
	list := make([]*Metric, len(metrics))
	for i := range metrics {
		list[i] = &metrics[i]
	}
	return list
}

// FindMetric returns the metric with a name.
func FindMetric(name string) (*Metric, bool) {
	for i := range metrics {
		if metrics[i].Name == name {
			return &metrics[i], true
		}
	}
	return nil, false
}

// MetricNames lists the names in the order of the table.
func MetricNames() []string {
	names := make([]string, len(metrics))
	for i := range metrics {
		names[i] = metrics[i].Name
	}
	return names
}

// index is the place in the table.
func (m *Metric) index() int {
	for i := range metrics {
		if &metrics[i] == m {
			return i
		}
	}
	return len(metrics)
}

// Bench is the unit of the metric in the gobench format, with the direction that is
// better; empty for one that has no value for each step.
func (m *Metric) Bench() (unit, better string) { return m.bench, m.better }
