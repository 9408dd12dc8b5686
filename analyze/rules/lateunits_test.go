package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/lateness"
	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/analyze/steps"
)

// madeStep is a step of so long on one device, and so long idle for data; of no length it is on none.
func madeStep(complete bool, length, waits int64) facts.Step {
	var s facts.Step
	s.Complete = complete
	if length > 0 {
		s.Windows, s.Idle = []steps.Window{{End: length}}, make([]idle.Window, 1)
		s.Idle[0].Causes[idle.DataLoading] = waits
	}
	return s
}

func madeRank(list ...facts.Step) *analyze.Rank {
	r := &analyze.Rank{Rank: &facts.Rank{}}
	r.Steps, r.Devices = list, make([]facts.Device, 1)
	return r
}

// TestOfSteps: idle time is the mean of the complete steps on a device, the length of a step their median;
// without complete ones all steps count.
func TestOfSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		steps  []facts.Step
		idle   int64
		known  bool
		middle int64
	}{
		{"none", nil, 0, false, 1},
		{"on no device", []facts.Step{madeStep(true, 0, 0)}, 0, false, 1},
		{"one", []facts.Step{madeStep(true, 100, 10)}, 10, true, 100},
		{"two, and one on no device", []facts.Step{madeStep(true, 100, 10), madeStep(true, 0, 0), madeStep(true, 200,
			30)},
			20, true, 150},
		{"three", []facts.Step{madeStep(true, 900, 10), madeStep(true, 100, 20), madeStep(true, 200, 30)}, 20, true,
			200},
		{"incomplete ones beside", []facts.Step{madeStep(false, 900, 90), madeStep(true, 100, 10)}, 10, true, 100},
		{"incomplete ones alone", []facts.Step{madeStep(false, 900, 90), madeStep(false, 100, 10)}, 50, true, 500},
	} {
		r := madeRank(c.steps...)
		if ns, ok := idlePerStep(r, idle.LateData); ns != c.idle || ok != c.known {
			t.Errorf("%s: idle for %d, %v", c.name, ns, ok)
		}
		if ns := middleStep(r); ns != c.middle {
			t.Errorf("%s: %d long", c.name, ns)
		}
	}
}

// TestSpentOn: what a late rank spends in whole steps beyond the median of the others, if that is known.
func TestSpentOn(t *testing.T) {
	own := madeRank(madeStep(true, 100, 70))
	others := []*analyze.Rank{madeRank(madeStep(true, 100, 10)), madeRank(madeStep(true, 100, 30)),
		madeRank(madeStep(true, 100, 20))}
	none := madeRank()
	for _, c := range []struct {
		name  string
		ranks []*analyze.Rank // the late one first
		cause lateness.Cause
		want  int64
	}{
		{"beyond the median", append([]*analyze.Rank{own}, others...), lateness.DataLoading, 50},
		{"of two the greater", []*analyze.Rank{own, others[0], others[1]}, lateness.DataLoading, 40},
		{"alone", []*analyze.Rank{own}, lateness.DataLoading, 7},
		{"of others nothing is known", []*analyze.Rank{own, none}, lateness.DataLoading, 7},
		{"of itself nothing is known", []*analyze.Rank{none, others[0]}, lateness.DataLoading, 7},
		{"another cause", append([]*analyze.Rank{own}, others...), lateness.SlowerKernels, 7},
	} {
		g := &ranks.Group{}
		for i := range c.ranks {
			g.Ranks = append(g.Ranks, i)
		}
		m := &analyze.Matched{Ranks: c.ranks}
		if got := spentOn(m, &lateness.Lateness{Group: g, Cause: c.cause, NS: 7}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestFixWithoutAGap: a rank that loads data is told to, though no gap of it is shown.
func TestFixWithoutAGap(t *testing.T) {
	m := &analyze.Matched{Ranks: []*analyze.Rank{madeRank()}}
	m.Ranks[0].ID = 3
	if got := fixLate(m, &lateness.Lateness{Cause: lateness.DataLoading}); got != "on rank 3: "+ID001.Doc.Fix {
		t.Error(got)
	}
	if got := fixLate(m, &lateness.Lateness{Cause: lateness.OtherRank}); got != "" {
		t.Error(got)
	}
}

// TestNeeds: what each need asks of a rank, and that counts are those of any step.
func TestNeeds(t *testing.T) {
	if n := needCounts.All; n(&analyze.Pass{}) || !n(&analyze.Pass{Normalized: make([]analyze.NormalizedStep, 1)}) {
		t.Error("counts of one step are enough")
	}
	every := gradients.Sync{Pattern: gradients.SyncEvery, PerPass: []int{1, 1}}
	for _, c := range []struct {
		name string
		need *analyze.Need
		make func(r *analyze.Rank)
		want bool
	}{
		{"steps of nothing", &needOptimizerSteps, func(*analyze.Rank) {}, false},
		{"steps", &needOptimizerSteps, func(r *analyze.Rank) { r.StepSource = steps.FromOptimizer }, true},
		{"no backward pass", &needBackward, func(*analyze.Rank) {}, false},
		{"a backward pass", &needBackward, func(r *analyze.Rank) { r.Backwards = make([]gradients.Backward, 1) }, true},
		{"no passes", &needDevicePasses, func(*analyze.Rank) {}, false},
		{"a pass on the host", &needDevicePasses, func(r *analyze.Rank) { r.Passes = make([]gradients.Pass, 1) },
			false},
		{"a pass on a device", &needDevicePasses, func(r *analyze.Rank) {
			r.Passes = []gradients.Pass{{},
				{OnDevice: true}}
		},
			true},
		{"nothing is reduced too often", &needNoSync, func(*analyze.Rank) {}, true},
		{"every micro-batch reduces", &needNoSync, func(r *analyze.Rank) { r.Sync = every }, false},
		{"every one of one", &needNoSync, func(r *analyze.Rank) { r.Sync = every; r.Sync.PerPass = []int{1} }, true},
		{"inside no_sync", &needNoSync, func(r *analyze.Rank) {
			r.Sync = every
			r.NoSync = make([]gradients.NoSync,
				1)
		}, true},
	} {
		r := madeRank()
		c.make(r)
		if got := c.need.Met(r); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestWhatWeighs: which rules say that gradients of micro-batches do not add up, and scopes.
func TestWhatWeighs(t *testing.T) {
	var weigh, together []string
	for _, r := range All() {
		if r.Weighs {
			weigh = append(weigh, r.ID)
		}
		if r.Scope == analyze.AllRanks {
			together = append(together, r.ID)
		}
		if found, ok := Find(r.ID); !ok || found.ID != r.ID {
			t.Errorf("%s is not found", r.ID)
		}
	}
	if want := []string{"GS007", "GS008", "CL004", "OP002"}; !slices.Equal(weigh, want) {
		t.Errorf("%v weigh, want %v", weigh, want)
	}
	if want := []string{"ST001", "ST002", "NM001", "NM002", "NM003", "NM004", "TH003",
		"TH005"}; !slices.Equal(together, want) {
		t.Errorf("%v look at all ranks, want %v", together, want)
	}
	if _, ok := Find("XX001"); ok {
		t.Error("a rule that there is not")
	}
}

// TestBriefly: a sentence holds the beginning of a kernel's name.
func TestBriefly(t *testing.T) {
	long := strings.Repeat("é", 81)
	for name, want := range map[string]string{
		"gemm": "gemm", "void at::native::mul<4>(int)": "at::native::mul<4>(int)", "voided": "voided", "": "",
		long[:160]: long[:160], long: long[:154] + "...", "void " + long[:160]: long[:160],
	} {
		if got := briefly(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
