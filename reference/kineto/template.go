package kineto

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/chrome"
)

// Template is the text of the traces of ranks that did the same: written once, with holes for
// what differs, which are the number of the rank, what is counted from it, and its groups.
type Template struct {
	text   []byte
	holes  []hole
	add    []int64    // to the number of the rank, for values of the first kind
	groups [][]member // by rank: besides that of all ranks
}

// hole is where a value of a rank stands.
type hole struct {
	from, to int // in the text
	value    int // which one, of those that values returns
}

// member is what stands in a trace of a group that its rank is in.
type member struct {
	device.Group
	index int // of the rank
}

// Numbers that no rank has stand for those of a rank in the text. Those that belong to a group are so far apart
// that none is the beginning of another one.
const (
	noRank   = 1_876_543_201
	noGroup  = 2_143_900_001 // its name
	noMember = 2_143_910_001 // a rank in it
	noIndex  = 2_143_920_001 // the index of the rank
)

// Template returns the text of the traces of all ranks for which this one stands. It is nil
// where there is none: ranks that are in groups of different kinds differ by more. Recording
// must be over.
func (r *Rank) Template(run Run) (*Template, error) {
	t := &Template{add: []int64{0, hostThread(r.process, 0).PID, streamOf(0, 0).ProcessSort}, groups: membersOf(run)}
	if run.World < 2 || !alike(t.groups) {
		return nil, nil
	}
	open, empty := r.opened(t.groups[r.rank])
	empty.World, empty.Devices, empty.BaseTime = run.World, run.Devices, run.BaseTime
	empty.Options, empty.Unnumbered = run.Options, run.Unnumbered
	open.run = empty
	var b, sample, filled bytes.Buffer
	if err := chrome.Write(&b, r.traceAs(open)); err != nil {
		return nil, err
	}
	t.text = b.Bytes()
	t.find(empty.Groups)
	last := run.World - 1
	if err := errors.Join(chrome.Write(&sample, r.TraceAs(last, run)), t.Write(&filled, last)); err != nil {
		return nil, err
	}
	if !bytes.Equal(filled.Bytes(), sample.Bytes()) { // what is no hole had the digits of one
		return nil, nil
	}
	return t, nil
}

// membersOf are the groups that each rank is in.
func membersOf(run Run) [][]member {
	all := make([][]member, run.World)
	for _, g := range run.Groups {
		for i, rank := range g.Ranks {
			all[rank] = append(all[rank], member{g, i})
		}
	}
	return all
}

// alike reports whether all ranks are in groups of the same kinds and sizes, one of each kind.
func alike(ranks [][]member) bool {
	for i, m := range ranks[0] {
		if slices.ContainsFunc(ranks[0][:i], func(o member) bool { return o.Comment == m.Comment }) {
			return false
		}
	}
	same := func(a, b member) bool { return a.Comment == b.Comment && len(a.Ranks) == len(b.Ranks) }
	return !slices.ContainsFunc(ranks, func(of []member) bool { return !slices.EqualFunc(ranks[0], of, same) })
}

// opened is the stand of no rank, in the place of one that is in some groups, and a run with nothing but those.
func (r *Rank) opened(groups []member) (*stand, Run) {
	s := &stand{Rank: Rank{rank: noRank}, groups: make(map[string]member)}
	var run Run
	for k, m := range groups {
		g := device.Group{Name: strconv.Itoa(noGroup + 10*k), Comment: m.Comment,
			Ranks: slices.Repeat([]int{noMember + 10*k}, len(m.Ranks))}
		s.groups[m.Name] = member{g, noIndex + 10*k}
		run.Groups = append(run.Groups, g)
	}
	return s, run
}

// find finds all holes.
func (t *Template) find(groups []device.Group) {
	value := 0
	mark := func(text []byte) {
		t.mark(text, value)
		value++
	}
	for _, add := range t.add {
		mark(strconv.AppendInt(nil, noRank+add, 10))
	}
	for k, g := range groups {
		mark([]byte(g.Name))
		mark(ranksText(g.Ranks))
		mark(strconv.AppendInt(nil, int64(noIndex+10*k), 10))
	}
	slices.SortFunc(t.holes, func(a, b hole) int { return a.from - b.from })
}

// ranksText are ranks as in a list, both in the header and in messages.
func ranksText(ranks []int) []byte {
	text := appendShape(nil, ranks, ", ")
	return text[1 : len(text)-1]
}

// mark finds all holes of a value.
func (t *Template) mark(text []byte, value int) {
	for at := 0; ; {
		i := bytes.Index(t.text[at:], text)
		if i < 0 {
			return
		}
		t.holes = append(t.holes, hole{at + i, at + i + len(text), value})
		at += i + len(text)
	}
}

// values are what stands in the holes for a rank.
func (t *Template) values(rank int) [][]byte {
	var list [][]byte
	for _, add := range t.add {
		list = append(list, strconv.AppendInt(nil, add+int64(rank), 10))
	}
	for _, m := range t.groups[rank] {
		list = append(list, []byte(m.Name), ranksText(m.Ranks), strconv.AppendInt(nil, int64(m.index), 10))
	}
	return list
}

// Write writes the text of the trace of a rank.
func (t *Template) Write(w io.Writer, rank int) error {
	out := bufio.NewWriterSize(w, 1<<16)
	values, at := t.values(rank), 0
	for _, h := range t.holes {
		_, _ = out.Write(t.text[at:h.from])
		_, _ = out.Write(values[h.value])
		at = h.to
	}
	_, _ = out.Write(t.text[at:])
	return out.Flush()
}
