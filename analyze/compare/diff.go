package compare

import "github.com/gaprof/gaprof/analyze/report"

// Schema names the contract of Diff's JSON form. Fields may be added to it and are
// never renamed; units are those of gaprof.report/1.
const Schema = "gaprof.diff/1"

// Diff is what changed from the base to the new side. Only complete steps are
// compared. Figures "per step" are per step of one rank.
type Diff struct {
	Schema      string             `json:"schema"`
	Version     string             `json:"gaprof_version"`
	Base        Side               `json:"base"`
	New         Side               `json:"new"`
	Unlike      []Unlike           `json:"unlike"` // in what the two are not the same experiment
	Moves       []Move             `json:"launch_sites"`
	Collectives []CollectiveChange `json:"collectives"`
	Orders      []OrderChange      `json:"orders"`
	Passes      []PassChange       `json:"gradient_passes"`
	Settings    []Setting          `json:"settings"`
	Findings    []FindingChange    `json:"findings"`
	Kinds       []Kind             `json:"kinds"`
	RecordSteps *int               `json:"record_steps"` // steps to record for firm times; null where there are enough
}

// Side says what stands on one side.
type Side struct {
	Files       []string `json:"files"`
	Runs        int      `json:"runs"` // repeats: how often the most frequent rank occurs
	Ranks       []int64  `json:"ranks"`
	Device      string   `json:"device"`
	WorldSize   *int64   `json:"world_size"`
	Model       string   `json:"model"`
	Steps       int      `json:"steps"`            // complete ones, those of several ranks of a run counted once
	Incomplete  int      `json:"incomplete_steps"` // left out
	StepSource  string   `json:"step_source"`
	Warnings    int      `json:"health_warnings"` // kinds of damage that touch figures
	Overlap     *float64 `json:"overlap"`         // of all communication of the recordings; null without any
	Judged      int      `json:"findings"`
	fingerprint report.Fingerprint
}

// Unlike is something in which the two sides differ although a fair comparison wants
// it the same: device, world_size, ranks, model, accumulation, step_source,
// gaprof_version.
type Unlike struct {
	What string `json:"what"`
	Base string `json:"base"`
	New  string `json:"new"`
}

// Place is where collectives are launched, as in gaprof.report/1.
type Place struct {
	Site string `json:"site"`
	Name string `json:"name"`
}

// Move is collectives of one kind that both sides launch: from which place the base
// does and from which the new side. Where From and To are the same they stayed. Base
// and New count them in all complete steps.
type Move struct {
	Collective string     `json:"collective"`
	From       Place      `json:"from"`
	To         Place      `json:"to"`
	Base       int        `json:"base_count"`
	New        int        `json:"new_count"`
	Kinds      []MoveKind `json:"kinds"`
}

// MoveKind is a Move's part in the steps of one kind.
type MoveKind struct {
	Kind    string  `json:"kind"`
	PerStep float64 `json:"per_step"`
}

// Stayed tells whether the place is the same on both sides.
func (m *Move) Stayed() bool { return m.From == m.To }

// CollectiveChange is collectives of a kind of step that only one side has (added,
// gone), or that carry another number of bytes (resized). Bytes are per step, null
// unknown.
type CollectiveChange struct {
	Change     string  `json:"change"`
	Kind       string  `json:"kind"`
	Collective string  `json:"collective"`
	Place      Place   `json:"place"`
	PerStep    float64 `json:"per_step"` // of what was added, is gone or was resized
	BaseBytes  *int64  `json:"base_bytes"`
	NewBytes   *int64  `json:"new_bytes"`
}

// OrderChange is a group of collectives whose kernels, by start on the device, are in
// another order (order) or other ones (kernels).
type OrderChange struct {
	Change     string   `json:"change"`
	Kinds      []string `json:"kinds"`
	Collective string   `json:"collective"`
	From       Place    `json:"from"`
	To         Place    `json:"to"`
	Base       []Run    `json:"base"`
	New        []Run    `json:"new"`
}

// Run is a kernel that is launched Count times in a row. Kernel lacks what all kernels
// of both sequences begin and end with.
type Run struct {
	Kernel string `json:"kernel"`
	Count  int    `json:"count"`
}

// PassChange is a pass over the gradients that one side alone makes (added, gone), or
// that changed in number, size or verdict (changed). Null on a side that lacks it.
type PassChange struct {
	Change    string    `json:"change"`
	Kind      string    `json:"kind"`
	Pass      string    `json:"pass"`
	Where     string    `json:"where"`
	Optimizer string    `json:"optimizer"`
	Base      *PassSide `json:"base"`
	New       *PassSide `json:"new"`
}

// PassSide is a gradient pass on one side, per step.
type PassSide struct {
	PerStep float64 `json:"per_step"`
	Bytes   int64   `json:"bytes"`
	Span    int64   `json:"span_ns"`
	Verdict string  `json:"verdict"`
}

// Setting is one thing that a side as a whole, a kind of step or an optimizer is set to:
// accumulation_steps, micro_batches, optimizer_in_backward, gradient_sync (its pattern),
// gradient_collective (its kind), gradient_collectives (by micro-batch), gradient_ranks,
// token_all_reduce, normalization.
type Setting struct {
	What string `json:"what"`
	Of   string `json:"of"` // the kind of step or the optimizer, empty for all
	Base string `json:"base"`
	New  string `json:"new"`
}

// Between compares the reports of two sides. It is a pure function: equal reports give
// equal differences, and nothing is changed in them.
func Between(base, new []*report.Report, version string) *Diff {
	b, n := newSide(base), newSide(new)
	d := &Diff{Schema: Schema, Version: version, Base: b.describe(), New: n.describe(),
		Moves: []Move{}, Collectives: []CollectiveChange{}, Orders: []OrderChange{}, Passes: []PassChange{}, Kinds: []Kind{}}
	d.Unlike = unlike(&d.Base, &d.New, b, n)
	pairs := match(b, n)
	for i := range pairs {
		d.structure(&pairs[i])
		d.Kinds = append(d.Kinds, kindOf(&pairs[i], len(b.pools) > 0, len(n.pools) > 0))
	}
	sortMoves(d.Moves)
	d.Settings = settings(pairs, b, n)
	d.Findings = findings(b, n)
	d.RecordSteps = recordSteps(d.Kinds)
	return d
}

// structure adds what changed in the steps of one kind that both sides have.
func (d *Diff) structure(p *pair) {
	if !p.comparable() {
		return
	}
	flows, changes := p.flows()
	for _, f := range flows {
		d.addMove(p, f)
		d.addOrder(p, f)
	}
	d.Collectives = append(d.Collectives, changes...)
	d.Passes = append(d.Passes, p.passChanges()...)
}

// Changed tells whether anything of the structure differs; times, findings and unlike
// experiments aside.
func (d *Diff) Changed() bool {
	if len(d.Collectives)+len(d.Orders)+len(d.Passes)+len(d.Settings) > 0 {
		return true
	}
	for i := range d.Moves {
		if !d.Moves[i].Stayed() {
			return true
		}
	}
	for i := range d.Kinds {
		if d.Kinds[i].Only != "" {
			return true
		}
	}
	return false
}
