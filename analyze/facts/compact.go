package facts

import (
	"math/bits"
	"slices"
	"strings"
)

// mostUnlinked is how many device events without a launch a Rank names.
const mostUnlinked = 16

// remember notes what would have to be looked up in the whole trace later on.
func (c *computer) remember(r *Rank) {
	r.UsesFSDP, r.FusedOptimizer = c.names.all&fsdp2 != 0, c.names.all&fused != 0
	for _, d := range r.Devices {
		for i, row := range d.Rows {
			if d.Launch[i] < 0 && len(r.FirstUnlinked) < mostUnlinked {
				r.FirstUnlinked = append(r.FirstUnlinked, row)
			}
		}
	}
}

// Compact lets go of a trace: its ranks, all that Compute returned for it, keep a
// trace of only those rows that facts name, without arguments, and their numbers are
// changed with it. Figures stay what they are; Rows and Launch of devices are gone.
// Nobody else may use the ranks meanwhile.
func Compact(ranks []*Rank) {
	if len(ranks) == 0 {
		return
	}
	rows := newRowSet(ranks[0].Trace.Len())
	for _, r := range ranks {
		for _, d := range r.Devices {
			d.shrink()
		}
		r.eachRow(func(row *int32) {
			if *row >= 0 {
				rows.add(*row)
			}
		})
	}
	small := ranks[0].Trace.Select(rows.list())
	kept := make(map[string]string)
	for _, r := range ranks {
		r.eachRow(func(row *int32) {
			if *row >= 0 {
				*row = rows.place(*row)
			}
		})
		r.eachText(func(text *string) { *text = own(kept, *text) })
		r.Messages, r.Calls, r.Groups, r.Backwards = tight(r.Messages), tight(r.Calls), tight(r.Groups), tight(r.Backwards)
		r.Trace = small
	}
}

// rowSet is a set of rows as one bit each.
type rowSet struct {
	bits   []uint64
	before []int32 // how many rows are in all words before one, once they were listed
}

func newRowSet(rows int) *rowSet {
	words := (rows + 63) / 64
	return &rowSet{make([]uint64, words), make([]int32, words)}
}

func (s *rowSet) add(row int32) { s.bits[row/64] |= 1 << (row % 64) }

// list returns the rows ascending.
func (s *rowSet) list() []int32 {
	n := 0
	for i, word := range s.bits {
		s.before[i] = int32(n)
		n += bits.OnesCount64(word)
	}
	rows := make([]int32, 0, n)
	for i, word := range s.bits {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, int32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return rows
}

// place is where in list a row stands.
func (s *rowSet) place(row int32) int32 {
	return s.before[row/64] + int32(bits.OnesCount64(s.bits[row/64]&(1<<(row%64)-1)))
}

// tight is a list without room that it does not use.
func tight[T any](list []T) []T {
	if cap(list)-len(list) > len(list)/8 {
		return slices.Clone(list)
	}
	return list
}

// own is a copy of a text that holds no larger one in memory, one for all equal texts.
func own(kept map[string]string, text string) string {
	copied, ok := kept[text]
	if !ok {
		copied = strings.Clone(text)
		kept[copied] = copied
	}
	return copied
}

// shrink lets go of the rows of a device and of room that its sets do not use.
func (d *Device) shrink() {
	d.Rows, d.Launch = nil, nil
	for b := range d.busy {
		d.busy[b].shrink()
		d.alone[b].shrink()
	}
}

func (s *Set) shrink() {
	if s != nil {
		s.start, s.before = tight(s.start), tight(s.before)
	}
}

// eachRow calls visit once for every number of a row in the facts; negative ones are
// none. This is the one place that knows them all.
func (r *Rank) eachRow(visit func(*int32)) {
	each := func(rows []int32) []int32 {
		own := slices.Clone(rows) // lists may share their room
		for i := range own {
			visit(&own[i])
		}
		return own
	}
	for _, d := range r.Devices {
		d.Rows, d.Launch = each(d.Rows), each(d.Launch)
	}
	r.Impossible, r.WarmupRows, r.FirstUnlinked = each(r.Impossible), each(r.WarmupRows), each(r.FirstUnlinked)
	for i := range r.Messages {
		m := &r.Messages[i]
		visit(&m.Row)
		visit(&m.Described)
		visit(&m.Launch)
	}
	for i := range r.Calls {
		visit(&r.Calls[i].Row)
	}
	for i := range r.Passes {
		p := &r.Passes[i]
		p.Rows, p.Kernels = each(p.Rows), each(p.Kernels)
	}
	for i := range r.OptimizerRuns {
		visit(&r.OptimizerRuns[i].Row)
	}
	for i := range r.ZeroInside {
		visit(&r.ZeroInside[i].Row)
	}
}

// eachText calls visit for every text in the facts that may be a piece of the trace's
// own, and so hold that in memory.
func (r *Rank) eachText(visit func(*string)) {
	visit(&r.DeviceName)
	visit(&r.IDSource)
	visit(&r.Sync.Site.Name)
	for _, d := range r.Devices {
		visit(&d.PID)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		visit(&m.Site.Name)
		visit(&m.Dtype)
		visit(&m.Group)
		visit(&m.Members)
	}
	for i := range r.Groups {
		visit(&r.Groups[i].Site.Name)
	}
	for i := range r.Params.Classes {
		visit(&r.Params.Classes[i].Dtype)
	}
	for i := range r.Optimizers {
		visit(&r.Optimizers[i].Name)
	}
	for i := range r.Steps {
		eachTextOfStep(&r.Steps[i], visit)
	}
	for i := range r.Calls {
		visit(&r.Calls[i].Dtype)
		visit(&r.Calls[i].Site.Name)
	}
	for i := range r.Passes {
		visit(&r.Passes[i].Optimizer)
	}
	for i := range r.OptimizerRuns {
		visit(&r.OptimizerRuns[i].Name)
	}
	for i := range r.Problems {
		visit(&r.Problems[i].Detail)
	}
}

func eachTextOfStep(s *Step, visit func(*string)) {
	visit(&s.Kind)
	for i := range s.Optimizers {
		visit(&s.Optimizers[i])
	}
	for i := range s.PerOptimizer {
		visit(&s.PerOptimizer[i].Name)
	}
}
