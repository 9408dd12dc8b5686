package idle

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// What Find says of random traces is what the definition says, read word by word and
// computed microsecond by microsecond.
func TestDefinition(t *testing.T) {
	compared := 0
	for seed := range uint64(400) {
		events := randomTrace(seed)
		tr, err := text.Read(strings.NewReader(textOfEvents(events)), "random")
		if err != nil {
			t.Fatal(err)
		}
		x := timeline.New(tr).Ranks[0]
		s := steps.Find(x)
		found := Find(x, s)
		defs := make([]*definition, len(x.Devices))
		for i := range s.List {
			for k, w := range s.List[i].Windows {
				if defs[w.Device] == nil {
					defs[w.Device] = newDefinition(events, x.Devices[w.Device].PID, int(w.Start/1000))
				}
				want := defs[w.Device].window(int(w.Start/1000), int(w.End/1000))
				if got := &found[i][k]; textOf(i, got, true) != textOf(i, want, true) {
					t.Fatalf("seed %d, device %d:\n got %s\nwant %s\n%s", seed, w.Device, textOf(i, got, true),
						textOf(i, want, true), textOfEvents(events))
				}
				compared++
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d windows compared", compared)
	}
}

// A row of the definition's table, what it charges to, and when it applies; row 6 is debt.
const (
	rowLoads = iota
	rowCompiles
	rowMemory
	rowWaits
	rowProfiler
	rowOptimizer
	rowOperators
	rowHostCollective
	numRows
)

var (
	rowCause = [numRows]Cause{
		DataLoading, Compilation, MemoryManagement, Synchronization, Profiler, Optimizer, HostOperators,
		Synchronization,
	}
	loaders      = []string{"enumerate(DataLoader)#", "enumerate(DataPipe)#"}
	ownLoaders   = []string{"data load", "data_load", "dataload"}
	fetchesBatch = []string{"load", "fetch", "fetching", "next", "get"}
)

// definition is the page about idle time of one device, as a program that is slow and plain.
type definition struct {
	events, activity []*event
	from             int            // start of its first window
	launch           map[int]*event // by correlation
	driving          map[string]bool
	busy             []bool // by us
	begins           map[int]bool
	updates          map[int]bool
	rows             map[string][]uint16 // by threads: which rows apply, by us
	debts            map[string]*[2]int  // by threads: up to when, how much
}

func newDefinition(events []*event, device string, from int) *definition {
	d := &definition{events: events, from: from, launch: map[int]*event{}, driving: map[string]bool{},
		begins: map[int]bool{}, updates: map[int]bool{}, rows: map[string][]uint16{}, debts: map[string]*[2]int{}}
	last := 0
	for _, e := range events {
		last = max(last, e.end())
	}
	d.busy = make([]bool, last+2)
	for _, e := range events {
		switch {
		case e.cat == "cuda_runtime" && e.corr > 0:
			d.launch[e.corr] = e
		case strings.HasPrefix(e.at, device+"/"):
			d.activity, d.begins[e.start] = append(d.activity, e), true
			for t := e.start; t < e.end(); t++ {
				d.busy[t] = true
			}
		case strings.HasPrefix(e.name, "Optimizer.step#"):
			d.updates[e.end()], d.driving[e.at] = true, true
		case strings.HasPrefix(e.name, "autograd::engine::evaluate_function:"),
			strings.HasPrefix(e.name, "ProfilerStep#"):
			d.driving[e.at] = true
		}
	}
	return d
}

// applies says which rows of the table an event is.
func (d *definition) applies(e *event, threads func(string) bool) (rows uint16) {
	name := e.name
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	begins := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	set := func(row int, when bool) {
		if when {
			rows |= 1 << row
		}
	}
	span := e.cat == "cpu_op" || e.cat == "user_annotation"
	switch {
	case e.cat == "overhead":
		compiles := has("Driver Compiler", "Runtime Triggered Module Loading", "Lazy Function Loading")
		set(rowCompiles, compiles)
		set(rowProfiler, !compiles && name != "Command Buffer Full")
	case span && begins("gloo:", "mpi:", "ucc:"):
		set(rowHostCollective, true)
		fallthrough
	case span && threads(e.at):
		set(rowOperators, threads(e.at) && e.cat == "cpu_op" && !begins("ProfilerStep", "##"))
		set(rowOptimizer, begins("Optimizer."))
		set(rowWaits, name == "c10d::barrier" || name == "c10d::monitored_barrier_")
		set(rowCompiles, has("(dynamo_timed)", "backend_compile"))
		set(rowLoads, begins(loaders...) || d.ownLoader(e))
	case e.cat == "cuda_runtime" && threads(e.at):
		set(rowOperators, true)
		set(rowCompiles, begins("cuModuleLoad", "cuLink"))
		set(rowMemory, begins("cudaMalloc", "cudaFree", "hipMalloc", "cudaHostAlloc", "cuMemCreate", "hipExtMalloc",
			"cuMemAddress", "cudaMemPool"))
		pageable := slices.ContainsFunc(d.events, func(a *event) bool {
			return a.cat == "gpu_memcpy" && a.corr > 0 && a.corr == e.corr && strings.Contains(a.name, "Pageable")
		})
		set(rowWaits, has("Synchronize") || begins("cudaMemcpy", "hipMemcpy") && !has("Async") || pageable)
	}
	return rows
}

// ownLoader reports whether an event is a span that a program named after loading, and
// in which neither a step nor an update starts.
func (d *definition) ownLoader(e *event) bool {
	lower := strings.ToLower(e.name)
	named := slices.ContainsFunc(ownLoaders, func(p string) bool { return strings.Contains(lower, p) }) ||
		slices.ContainsFunc(fetchesBatch, func(p string) bool {
			return strings.Contains(lower, p+"_batch") || strings.Contains(lower, p+" batch")
		})
	return named && !strings.Contains(e.name, "::") && !slices.ContainsFunc(d.events, func(o *event) bool {
		return o.at == e.at && strings.HasPrefix(o.name, "Optimizer.step#") && e.start <= o.start && o.start < e.end()
	})
}

// doing is which rows apply by us, on the threads that count for a launch from a thread.
func (d *definition) doing(thread string) (key string, by []uint16) {
	key, threads := thread, func(at string) bool { return at == thread }
	if d.driving[thread] {
		key, threads = "driving", func(at string) bool { return d.driving[at] }
	}
	if d.rows[key] == nil {
		by = make([]uint16, len(d.busy))
		for _, e := range d.events {
			rows := d.applies(e, threads)
			for t := e.start; rows != 0 && t < e.end(); t++ {
				by[t] |= rows
			}
		}
		d.rows[key], d.debts[key] = by, &[2]int{d.from, 0}
	}
	return key, d.rows[key]
}

// window is what a window is charged to.
func (d *definition) window(from, to int) *Window {
	w := new(Window)
	for t := from; t < to; {
		if d.busy[t] {
			t++
			continue
		}
		start := t
		for t++; t < to && !d.busy[t] && !d.begins[t]; t++ {
		}
		w.Gaps++
		of := d.gap(start, t)
		w.Charges.add(&of)
	}
	return w
}

// gap is what one gap is charged to, in ns.
func (d *definition) gap(g0, g1 int) (of Charges) {
	var ends []*event
	for _, a := range d.activity {
		if a.start == g1 && d.launch[a.corr] != nil {
			ends = append(ends, a)
		}
	}
	charge := func(c Cause, us int) { of.Causes[c] += int64(us) * 1000 }
	if len(ends) == 0 {
		charge(Unlinked, g1-g0)
		return of
	}
	n := slices.MinFunc(ends, func(a, b *event) int {
		return cmp.Or(cmp.Compare(d.launch[a.corr].start, d.launch[b.corr].start), cmp.Compare(a.corr, b.corr))
	})
	call := d.launch[n.corr]
	clip := func(t int) int { return min(max(t, g0), g1) }
	begun, ended := clip(call.start), clip(call.end())
	d.late(&of, call.at, g0, begun)
	open := LaunchLatency
	if ended-begun >= 1000 && n.cat == "kernel" && strings.Contains(call.name, "LaunchKernel") {
		open = Compilation
	}
	charge(open, ended-begun)
	switch queued := g1 - ended; {
	case queued > 20:
		charge(QueuedWait, queued)
	case call.end() <= g0:
		charge(KernelGap, queued)
	default:
		charge(LaunchLatency, queued)
	}
	if host := of.Causes[Optimizer] + of.Causes[HostOperators] + of.Causes[NoOperator]; call.end() > g0 {
		if g1-g0 <= 1000 {
			of.LaunchGaps, of.LaunchBound = 1, host+of.Causes[LaunchLatency]
		} else {
			of.HostStall = host
		}
	}
	return of
}

// late charges part A of a gap: the first row that applies, debt between them.
func (d *definition) late(of *Charges, thread string, from, to int) {
	if from >= to {
		return
	}
	key, rows := d.doing(thread)
	debt := d.debts[key]
	for ; debt[0] < to; debt[0]++ {
		t := debt[0]
		if d.updates[t] {
			debt[1] = 0
		}
		switch {
		case d.busy[t] && rows[t]&(1<<rowWaits) != 0:
			debt[1]++
		case t >= from:
			of.Causes[d.cause(rows[t], debt)] += 1000
		}
	}
}

// cause is the first row that applies to a us.
func (d *definition) cause(rows uint16, debt *[2]int) Cause {
	for row, c := range rowCause {
		if row == rowOptimizer && debt[1] > 0 {
			debt[1]--
			return Synchronization
		}
		if rows&(1<<row) != 0 {
			return c
		}
	}
	return NoOperator
}
