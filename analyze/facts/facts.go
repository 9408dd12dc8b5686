package facts

import (
	"fmt"
	"sync/atomic"

	"github.com/gaprof/gaprof/trace"
)

// StepSource tells what the steps of a rank were made of.
type StepSource string

// Where steps come from.
const (
	StepsFromOptimizer StepSource = "optimizer"
	StepsFromProfiler  StepSource = "profiler_step" // a stated fallback
	NoSteps            StepSource = "none"
)

// Rank is everything derived from the part of a trace that one rank wrote.
type Rank struct {
	Trace           *trace.Trace
	ID              int64
	WorldSize       int64  // 0 unknown
	IDSource        string // what said so, empty where the number was assigned
	Devices         []*Device
	DeviceName      string
	DeviceEvents    int
	Unlinked        int
	UnlinkedAtStart int     // of those, the ones that start before any linked event of their device
	HostCollectives bool    // the host threads carry collectives, of any backend
	Categorised     bool    // the writer gave categories; without them little is known
	Impossible      []int32 // device events that start before their launch
	FirstUnlinked   []int32 // the first device events without a launch, a few
	UsesFSDP        bool    // there are spans of FSDP2
	FusedOptimizer  bool    // the optimizer runs as PyTorch's fused kernels
	Messages        []Message
	Steps           []Step
	StepSource      StepSource
	Groups          []Group
	Params          Params
	Optimizers      []Optimizer
	Backwards       []Backward
	Calls           []Call
	Sync            Sync
	Tokens          TokenAllReduce
	Loss            Loss
	Counted         bool // the caller has token counts of it; set before rules run
	TokenNotes      []TokenNote
	Passes          []GradientPass
	OptimizerRuns   []OptimizerRun
	ZeroInside      []ZeroGrad
	Warmup          []int64 // ns of compilation and loading in the host window of each step
	WarmupRows      []int32
	Mixed           bool // one process carries messages of several ranks: a merged file
	SelfOverlap     bool // communication and compute overlap on one stream: impossible
	Problems        []trace.Problem

	host      []trace.TrackID
	forward   []int64 // starts of forward operators on the driving threads
	launches  []launched
	touches   []touch
	nodes     []hostOp // spans of backward by start
	optimizer []int32  // outermost optimizer spans by start
	zeroSteps []int    // steps with an Optimizer.zero_grad span
	ends      []int64  // ends of the host windows of Steps
}

// computer carries what all facts of one trace share while they are computed.
type computer struct {
	t              *trace.Trace
	col            trace.Columns
	names          *names
	shapes         *shapes
	marked         [][]marked  // by track: the complete rows whose names say more than that they are an operator
	trackClass     []nameClass // by track: all classes of its rows
	autogradThread []bool
	families       []family // by name
	problems       []trace.Problem
	tooDeep        *atomic.Bool // some event has more spans around it than were looked at
}

func newComputer(t *trace.Trace) *computer {
	c := &computer{t: t, col: t.Columns(), names: classifyNames(t), shapes: newShapes(t), tooDeep: new(atomic.Bool)}
	c.families = c.familyIDs()
	c.mark()
	c.findAutogradThreads()
	return c
}

// apart is c for those who look at rows at the same time as others do with c.
func (c *computer) apart() *computer {
	twin := *c
	twin.shapes = c.shapes.apart()
	return &twin
}

// Compute derives the facts of every rank in a trace: usually one, several where
// files were merged, none where nothing ran.
//
//  1. Processes and devices become ranks.
//  2. Device events are joined to their launches, interval sets are made.
//  3. Steps, their device windows and ledgers.
//  4. Collectives with site, message and step, then groups of them.
func Compute(t *trace.Trace) []*Rank {
	c := newComputer(t)
	beside := c.apart()
	var ranks []*Rank
	scopes := c.partition()
	for _, s := range scopes {
		r := &Rank{Trace: t, Devices: s.devices, host: s.host, StepSource: NoSteps}
		c.identify(r, len(scopes) == 1)
		c.derive(r, beside)
		c.remember(r)
		r.release()
		ranks = append(ranks, r)
	}
	if c.tooDeep.Load() {
		c.problem(trace.DeepNesting, 1, fmt.Sprintf("more than %d spans around one event, of which the outermost were not looked at", deepest))
	}
	if len(ranks) > 0 {
		ranks[0].Problems = append(append([]trace.Problem(nil), c.problems...), ranks[0].Problems...)
	}
	return ranks
}

// derive computes what is known of a rank. What the host's threads say and what the
// device's streams say is told apart at the same time, and both meet in the steps; then
// what does not depend on each other goes side by side: touches are looked for with
// beside while the host's facts are with c.
func (c *computer) derive(r *Rank, beside *computer) {
	var moments *hostEvents
	both(func() {
		c.link(r)
		for _, d := range r.Devices {
			c.buildSets(d)
		}
	}, func() {
		c.backwards(r)
		moments = c.hostEvents(r)
	})
	c.steps(r, moments)
	both(func() {
		c.collect(r)
		r.Groups = c.groups(r)
		r.launches = c.launches(r)
		r.touches = beside.touches(r)
	}, func() { c.hostFacts(r) })
	markAveraged(r, r.touches)
	both(func() {
		c.gradientPasses(r)
		c.doubt(r)
	}, func() {
		r.Tokens = c.tokenAllReduce(r, c.normStarts(r))
		c.optimizerRuns(r)
		c.zeroGrads(r)
		c.warmups(r)
	})
}

// hostFacts computes what the host's threads say of steps.
func (c *computer) hostFacts(r *Rank) {
	if len(r.optimizer) > 0 {
		c.dropLeaves(r)
	}
	r.joinPartial()
	c.assignParams(r)
	r.accumulation()
	c.calls(r)
	r.Sync = r.sync()
	c.tokenNotes(r)
	r.Loss = c.loss(r)
}

// both runs two functions at the same time. Panics of either reach the caller.
func both(one, other func()) {
	var bug any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { bug = recover() }()
		other()
	}()
	defer func() {
		if <-done; bug != nil {
			panic(bug)
		}
	}()
	one()
}

// release lets go of what only computing needed.
func (r *Rank) release() {
	r.forward, r.launches, r.touches, r.optimizer, r.nodes = nil, nil, nil, nil, nil
}

func (c *computer) problem(code trace.Code, n int64, detail string) {
	c.problems = append(c.problems, trace.Problem{Code: code, Count: n, Offset: -1, Detail: detail})
}

func (r *Rank) problem(code trace.Code, n int64, detail string) {
	r.Problems = append(r.Problems, trace.Problem{Code: code, Count: n, Offset: -1, Detail: detail})
}

// Empty tells whether nothing was recorded that could be analysed.
func (r *Rank) Empty() bool { return r.DeviceEvents == 0 && len(r.host) == 0 }
