package gradients

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// recognizer tells the collectives that reduce gradients from all others: of activations, as in
// tensor parallelism, of statistics over the batch, of metrics, norms, counts and parameters.
//
// What the hooks of DDP and FSDP ask for is of gradients. Any other message must begin inside
// or after the backward pass, not repeat what the forward pass before the first one asked for, and
// be, together with the others of the backward pass, what that has accumulated.
type recognizer struct {
	x          *timeline.Rank
	steps      *steps.Steps
	params     *Params
	optimizers []Optimizer
	passes     []Backward

	forward map[reduction]bool // what is asked for before the first backward pass of a step
	askers  []asker            // by collective
}

// reduction is what tells the messages of one place in a loop from those of another.
type reduction struct {
	kind  timeline.CollectiveKind
	elems int64
	dtype string
}

func (c *HostCollective) reduction() reduction { return reduction{c.Kind, c.Elems, c.Dtype} }

// mark fills in Gradient of collectives, which are in order of start. received are the
// elements that each leaves on this rank.
func (r *recognizer) mark(list []HostCollective, rows []int32, received []int64) {
	r.forward = make(map[reduction]bool)
	r.askers = make([]asker, len(list))
	dtype, whole := "", false // of the last one: most have the same
	for i := range list {
		r.askers[i] = modelAsks
		c := &list[i]
		if c.Dtype != dtype {
			dtype, whole = c.Dtype, integers(c.Dtype)
		}
		if !whole && r.params.Reduces(c.Kind, c.Elems, c.Site) {
			r.askers[i] = askerOf(r.x, rows[i])
			if r.askers[i] == loopAsks && r.inForward(c) {
				r.forward[c.reduction()] = true
			}
		}
	}
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && list[to].Backward == list[from].Backward && list[to].Step == list[from].Step {
			to++
		}
		r.group(list, rows, from, to)
		reduceShards(list[from:to], received[from:to])
		from = to
	}
	r.markGathers(list, rows)
}

// markGathers marks the all-gathers that hooks ask for where a gradient is accumulated and that
// no reduce-scatter goes with: communication hooks of DDP that quantize, or choose the greatest
// elements, cannot add up what they send.
func (r *recognizer) markGathers(list []HostCollective, rows []int32) {
	if r.x.AnyName()&timeline.FSDP2 != 0 ||
		slices.ContainsFunc(list, func(c HostCollective) bool { return c.Kind == timeline.ReduceScatter }) {
		return
	}
	for i := range list {
		c := &list[i]
		if gathers := c.Kind == timeline.AllGather || c.Kind == timeline.AllToAll; gathers && c.Elems > maxCounter {
			c.Gradient = askerOf(r.x, rows[i]) == hookAsks && r.inOwnStep(c)
		}
	}
}

// integers reports whether elements of a type are whole numbers, which gradients are not:
// counts, masks, and which parameters DDP's ranks used.
func integers(dtype string) bool {
	dtype = strings.ToLower(dtype)
	return slices.ContainsFunc([]string{"int", "long", "short", "bool", "byte", "char"},
		func(word string) bool { return strings.Contains(dtype, word) })
}

// inOwnStep reports whether the last backward pass before a collective is of its step.
func (r *recognizer) inOwnStep(c *HostCollective) bool {
	return c.Backward >= 0 && r.steps.At(r.passes[c.Backward].Start) == c.Step
}

// inForward reports whether a collective stands between an update and the next backward pass.
// Recording may have begun anywhere in the first step.
func (r *recognizer) inForward(c *HostCollective) bool {
	next := c.Backward + 1
	return c.Step >= 0 && (c.Step > 0 || len(r.steps.List) == 1) && !r.inOwnStep(c) &&
		next < len(r.passes) && r.steps.At(r.passes[next].Start) == c.Step
}

// group marks the collectives after one backward pass and before the next one of its step.
func (r *recognizer) group(list []HostCollective, rows []int32, from, to int) {
	known := r.params.Known() && len(r.passes) > 0
	var open []message
	covered := int64(0)
	for i := from; i < to; i++ {
		c := &list[i]
		switch ask := r.askers[i]; {
		case ask == modelAsks:
		case ask == hookAsks, !known:
			c.Gradient = true
			covered = bounded.Add(covered, max(0, c.Elems))
		case !r.mayReduce(c, rows[i]):
		case ask == loopAsks && c.Kind == timeline.ReduceScatter, c.Elems == Unknown:
			c.Gradient = true // what a loop scatters is no metric
			covered = bounded.Add(covered, max(0, c.Elems))
		default:
			open = append(open, message{i, c.Elems, ask == nodeAsks})
		}
	}
	if len(open) == 0 || !known {
		return
	}
	wholes := r.wholes(&list[from])
	if len(wholes) == 0 || float64(covered) >= coverage*float64(wholes[0].numel) {
		return
	}
	for _, i := range cover(open, wholes, covered, r.params.Classes) {
		list[i].Gradient = true
	}
}

// mayReduce reports whether a collective of the loop stands where gradients are reduced.
func (r *recognizer) mayReduce(c *HostCollective, row int32) bool {
	if !r.inOwnStep(c) {
		return false
	}
	if c.Event.Start >= r.passes[c.Backward].End && r.forward[c.reduction()] {
		return false
	}
	return c.Site.Site != timeline.SiteOptimizerStep || !averagesParameters(r.x, row)
}

// wholes returns what the collectives after a backward pass may reduce: what the pass has
// accumulated, what all of the step up to it have, or the parameters of one optimizer.
func (r *recognizer) wholes(c *HostCollective) []whole {
	classes := r.params.Classes
	list := []whole{wholeOf(r.passes[c.Backward].Accumulated, classes)}
	if sofar := r.sofar(c); len(sofar) > 1 {
		sum := make([]int, len(classes))
		for _, b := range sofar {
			for class, n := range b.Accumulated {
				sum[class] = max(sum[class], n)
			}
		}
		list = append(list, wholeOf(sum, classes))
	}
	for i := range r.optimizers {
		counts := make([]int, len(classes))
		for _, class := range r.optimizers[i].Classes {
			counts[class] = classes[class].Count
		}
		w := wholeOf(counts, classes)
		w.exact = true
		list = append(list, w)
	}
	return slices.DeleteFunc(list, func(w whole) bool { return w.numel == 0 })
}

// sofar are the backward passes of a collective's step up to it; after the last update, those
// since then.
func (r *recognizer) sofar(c *HostCollective) []Backward {
	var start int64
	switch {
	case c.Step >= 0:
		start = r.steps.List[c.Step].HostStart
	case len(r.steps.List) > 0:
		start = r.steps.List[len(r.steps.List)-1].HostEnd
	}
	return r.passes[min(firstFrom(r.passes, start), c.Backward) : c.Backward+1]
}

// reduceShards marks the all-reduces of what reduce-scatters of gradients left on this
// rank (HSDP by hand).
func reduceShards(group []HostCollective, received []int64) {
	shards := make(map[int64]bool)
	for i := range group {
		switch c := &group[i]; {
		case c.Gradient && c.Kind == timeline.ReduceScatter && received[i] > 0:
			shards[received[i]] = true
		case c.Kind == timeline.AllReduce && shards[c.Elems] && c.Elems > maxCounter:
			c.Gradient = true
		}
	}
}

// Reduces reports whether a collective of so many elements (or Unknown) can be one that
// reduces gradients. Training loops also reduce norms, losses and counts, of one or a few
// elements; anything larger may be gradients, and anything smaller if a parameter has
// exactly as many elements. If the size is unknown, the kind and the site decide. ZeRO-2
// reduces each part of the gradients to the rank that owns it.
func (p *Params) Reduces(kind timeline.CollectiveKind, elems int64, site timeline.LaunchSite) bool {
	if kind != timeline.AllReduce && kind != timeline.ReduceScatter && kind != timeline.Reduce {
		return false
	}
	return elems > maxCounter || elems > 1 && p.has(elems) ||
		elems == Unknown && (kind == timeline.ReduceScatter || site.Site == timeline.SiteBackwardHook)
}

// maxCounter is the greatest number of elements that norms, counts and losses are taken to
// have.
const maxCounter = 16

// has reports whether some parameter has so many elements.
func (p *Params) has(numel int64) bool {
	return slices.ContainsFunc(p.Classes, func(c ParamClass) bool { return c.Numel == numel })
}
