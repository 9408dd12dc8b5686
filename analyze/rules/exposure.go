package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// exposure is what is particular to a rule about exposed communication of some kinds. All
// these rules are one by the same thresholds (see exposureRule).
type exposure struct {
	kinds []timeline.CollectiveKind // neighbors in the order of CollectiveKinds
	noun  string                    // what the kinds are called

	reduce    bool // gradients are reduced: those launched only after backward are OV004's
	first     bool // those before the first layer, and the first of backward, have a cause of their own
	byUpdates bool // launched inside Optimizer.step they are a note at most: they follow the update

	beside advice // where backward waits for all-gathers at the same time; without words that is not judged

	fixes [numPlaces]advice // by where most of it lies
	fewer advice            // where there is more to reduce than backward could hide

	// headline says what the time is, where it has a name of its own; special is true if fix
	// is then to be done and the place of the launches tells nothing, as for a pipeline, whose
	// schedule launches all between passes. detail adds figures to why.
	headline func([]*analyze.Rank) (text string, special bool)
	detail   func([]*analyze.Rank) string
	fix      advice
}

// place is where in a step exposed communication lies.
type place uint8

const (
	beforeFirst   place = iota // before the first layer
	inForward                  // launched in forward
	firstBackward              // the first of a backward pass, before which that computes nothing
	inBackward                 // launched in backward, while it computes
	afterCompute               // launched in backward, after its last kernel
	inModel                    // launched in backward by a node of the model, for activations
	afterBackward              // launched between backward and the optimizer
	inOptimizer                // launched by the optimizer
	anywhere                   // launched where the trace does not say
	numPlaces
)

var placeWords = [numPlaces]string{
	beforeFirst:   "before the first layer, where nothing has been computed yet that could hide it",
	inForward:     "launched in forward",
	firstBackward: "the first of backward, before which that computes nothing that could hide it",
	inBackward:    "launched in backward, between its kernels",
	afterCompute:  "after the last kernel of backward, where nothing is left to hide it",
	inModel:       "launched by nodes of the model in backward, which wait for it",
	afterBackward: "launched between backward and the optimizer",
	inOptimizer:   "launched inside Optimizer.step",
	anywhere:      "launched at a place that the trace does not show",
}

// placeOfPhase is where collectives are that are launched in some phase.
var placeOfPhase = map[facts.Phase]place{
	facts.PhaseForward:       inForward,
	facts.PhaseBackward:      inBackward,
	facts.PhaseAfterBackward: afterBackward,
	facts.PhaseOptimizer:     inOptimizer,
	facts.PhaseUnknown:       anywhere,
}

// exposureRule makes a rule about exposed communication.
func exposureRule(id string, doc analyze.Doc, e exposure) analyze.Rule {
	return analyze.Rule{
		ID:    id,
		Scope: analyze.PerRank,
		Doc:   doc,
		Needs: []analyze.Need{
			analyze.NeedDevice, analyze.NeedCollectives, analyze.NeedOneRank, analyze.NeedStreams, analyze.NeedSteps,
			analyze.NeedLaunches,
		},
		Edit: "free-collective", // what hiding all communication could save
		Run:  e.run,
	}
}

// run claims what is exposed of the kinds and not claimed yet.
func (e *exposure) run(p *analyze.Pass) {
	p.Names(e.kinds...)
	var cost, own analyze.Cost // own is the part that is not launched by the optimizer
	x := exposedTime{selected: make(map[*analyze.Rank][]int)}
	for _, r := range p.Ranks {
		all := r.Select(func(c *facts.Collective) bool { return slices.Contains(e.kinds, c.Kind) })
		if len(all) == 0 {
			continue
		}
		exposed := r.ExposedOf(all, e.kinds[0])
		claimSets(p, r, exposed, timeline.BucketOf(e.kinds[0]), &cost)
		e.place(r, all, exposed, &x, &own)
	}
	describe := func(mean, step int64) report.Finding {
		return e.finding(p, &x, perStep(mean, step)+inFew(&cost, p.Ranks), mean)
	}
	if mean, _, _ := own.PerStep(p.Ranks); e.byUpdates && mean == 0 {
		p.ReportDesign(&cost, describe)
		return
	}
	p.ReportCost(&cost, describe)
}

// finding says where in the step the time lies, and what to do about the largest part. took is
// how much it is, in words.
func (e *exposure) finding(p *analyze.Pass, x *exposedTime, took string, mean int64) report.Finding {
	headline, advice := e.noun+" exposed", e.fixes[x.largest()]
	where, messages := x.words(), e.messages(p.Ranks, x)
	if e.headline != nil {
		text, special := e.headline(p.Ranks)
		if headline = text; special {
			advice, where, messages = e.fix, "", ""
		}
	}
	why := []string{where}
	if e.fewer.fix != "" && x.tooMuch() {
		why = append(why, fmt.Sprintf(
			"its kernels are busy for %s per step and backward computes for %s, so no order can hide all of it",
			units.Milliseconds(x.busy/x.steps), units.Milliseconds(x.compute/x.steps)))
		advice = e.fewer
	}
	if text := x.besideGathers(); text != "" && e.beside.fix != "" {
		why, advice = append(why, text), e.beside
	}
	if e.detail != nil {
		why = append(why, e.detail(p.Ranks))
	}
	why = append(why, messages)
	f := report.Finding{
		Message:  headline + " " + took,
		Why:      strings.Join(slices.DeleteFunc(why, func(s string) bool { return s == "" }), "; "),
		Saving:   &report.Range{Low: 0, High: mean},
		Evidence: mostExposed(p.Ranks, x.selected),
		Caveats:  []string{waitCaveat(p)},
	}
	advice.give(&f)
	return f
}

// messages counts the collectives that the exposed time is of by where they are launched; ""
// where the place says as much.
func (e *exposure) messages(ranks []*analyze.Rank, x *exposedTime) string {
	sites := siteCount{count: make(map[timeline.LaunchSite]int)}
	for _, r := range ranks {
		for _, i := range x.selected[r] {
			if c := &r.Collectives[i]; c.Linked {
				sites.add(c.Site)
			}
		}
	}
	sites.flush()
	var parts []string
	for _, s := range []struct {
		site timeline.Site
		text string
	}{
		{timeline.SiteBackwardHook, "from backward hooks"}, {timeline.SiteFrameworkHook, "from framework hooks"},
		{timeline.SiteOptimizerStep, "inside Optimizer.step"}, {timeline.SiteAnnotation, "under annotations"},
		{timeline.SiteGraph, "from CUDA graphs"}, {timeline.SiteUnknown, "elsewhere"},
	} {
		if n, _ := sites.of(s.site); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.text))
		}
	}
	if n, _ := sites.of(timeline.SiteOptimizerStep); n == sites.linked {
		return ""
	}
	return strings.Replace(strings.Join(parts, ", "), " ", fmt.Sprintf(" of %d linked ones ", sites.linked), 1)
}

// place adds the exposed time of some collectives of a rank, except those of which OV004
// speaks, and to own what the optimizer does not launch. exposed is that of all of them.
func (e *exposure) place(r *analyze.Rank, all []int, exposed []*timeline.Set, x *exposedTime, own *analyze.Cost) {
	if late := e.late(r); len(late) > 0 {
		exposed = nil
		all = slices.DeleteFunc(all, func(i int) bool {
			_, found := slices.BinarySearch(late, i)
			return found
		})
	}
	x.selected[r] = all
	var by [numPlaces][]int
	for _, i := range all {
		at := e.placeOf(r, i)
		by[at] = append(by[at], i)
	}
	for at, which := range by {
		if len(which) > 0 {
			if exposed == nil || len(which) < len(all) {
				exposed = e.apart(r, which, &by, place(at))
			}
			e.placeSets(r, place(at), exposed, x, own)
		}
	}
	var busy []*timeline.Set
	if e.reduce {
		busy = r.Sets(all)
	}
	eachWindow(r, func(step, w int) {
		window := &r.Steps[step].Windows[w]
		x.steps++
		if b := r.Steps[step].LastBackward; len(b) > 0 && e.reduce {
			x.busy += busy[window.Device].Within(window.Start, window.End)
			x.compute += r.Devices[window.Device].Busy.Each[timeline.ComputeBucket].Within(b[w].Start, b[w].End)
		}
	})
}

// late are the collectives of which OV004 speaks.
func (e *exposure) late(r *analyze.Rank) []int {
	if !e.reduce {
		return nil
	}
	return lateReductions(r)
}

// apart is the exposed time of the collectives of one place of which those of no earlier place
// have a part.
func (e *exposure) apart(r *analyze.Rank, which []int, by *[numPlaces][]int, at place) []*timeline.Set {
	exposed := r.ExposedOf(which, e.kinds[0])
	for _, earlier := range by[:at] {
		if len(earlier) == 0 {
			continue
		}
		for dev, set := range r.Sets(earlier) {
			exposed[dev] = exposed[dev].Minus(set)
		}
	}
	return exposed
}

// placeSets adds the exposed time of one place.
func (e *exposure) placeSets(
	r *analyze.Rank, at place, exposed []*timeline.Set, x *exposedTime, own *analyze.Cost,
) {
	apart := exposed // from all-gathers
	if e.beside.fix != "" && at == inBackward {
		apart = withoutGathers(r, exposed)
	}
	eachWindow(r, func(step, w int) {
		window, end := &r.Steps[step].Windows[w], int64(0)
		if b := r.Steps[step].LastBackward; len(b) > 0 {
			end = b[w].End
		}
		ns := exposed[window.Device].Within(window.Start, window.End)
		if at == inBackward && end > 0 {
			tail := exposed[window.Device].Within(max(end, window.Start), window.End)
			x.at[afterCompute] += tail
			x.at[at] -= tail
		}
		x.at[at] += ns
		if apart[window.Device] != exposed[window.Device] {
			x.gathers += ns - apart[window.Device].Within(window.Start, window.End)
		}
		if at != inOptimizer {
			own.Add(r, step, ns)
		}
	})
}

// withoutGathers is the part of exposed time in which no all-gather runs, by device.
func withoutGathers(r *analyze.Rank, exposed []*timeline.Set) []*timeline.Set {
	apart := make([]*timeline.Set, len(exposed))
	for dev := range exposed {
		apart[dev] = exposed[dev].Minus(r.Devices[dev].Busy.Each[timeline.BucketOf(timeline.AllGather)])
	}
	return apart
}

// placeOf is the place of a collective, as far as its launch says it.
func (e *exposure) placeOf(r *analyze.Rank, i int) place {
	c := &r.Collectives[i]
	at := placeOfPhase[c.Phase]
	if c.Step < 0 {
		return at // it runs in a step but was launched outside of any
	}
	if at == inForward && e.first && computedBefore(r, c) < c.End-c.Start {
		return beforeFirst
	}
	if at == inBackward && e.first && e.opensBackward(r, i) {
		return firstBackward
	}
	if at == inBackward && e.reduce && ofActivations(r, c) {
		return inModel
	}
	return at
}

// opensBackward reports whether a collective is the first of its kind that its backward pass
// launches, and nothing of that pass computes before it: what it gathers is of the last layer,
// whose forward was over only just now.
func (e *exposure) opensBackward(r *analyze.Rank, i int) bool {
	c := &r.Collectives[i]
	for k := i - 1; k >= 0 && r.Collectives[k].Device == c.Device && r.Collectives[k].Step == c.Step; k-- {
		if before := &r.Collectives[k]; slices.Contains(e.kinds, before.Kind) {
			if before.Phase == facts.PhaseBackward {
				return false
			}
			break
		}
	}
	for w, b := range r.Steps[c.Step].LastBackward {
		if r.Steps[c.Step].Windows[w].Device == c.Device && b.Start <= c.Start {
			return r.Devices[c.Device].Busy.Each[timeline.ComputeBucket].Within(b.Start, c.Start) < c.End-c.Start
		}
	}
	return true
}

// ofActivations reports whether a reduction of some size in backward is none of gradients by
// the facts of gradients: one of tensor parallelism, in a node of the model.
func ofActivations(r *analyze.Rank, c *facts.Collective) bool {
	return c.Bytes >= smallReduction && c.Asked >= 0 && !r.HostCollectives[c.Asked].Gradient
}

// computedBefore is how long compute kernels run in the step of a collective before it
// starts, in ns: all that could have hidden it, had it been launched earlier.
func computedBefore(r *analyze.Rank, c *facts.Collective) int64 {
	for _, w := range r.Steps[c.Step].Windows {
		if w.Device == c.Device {
			return r.Devices[c.Device].Busy.Each[timeline.ComputeBucket].Within(w.Start, c.Start)
		}
	}
	return 0
}
