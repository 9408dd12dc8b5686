package ranks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Source is one rank of the run.
type Source struct {
	Rank     *facts.Rank
	ID       int64  // the rank's number in the run
	Host     string // the machine it ran on, "" unknown
	Assigned bool   // ID was made up: it says nothing about membership
}

// item is one collective of a rank in the sequence of its process group. Times are
// on the clock of the rank, with the recording's base time, in ns.
type item struct {
	message    int32 // index into Rank.Collectives
	kernel     int32 // its kernel's name, numbered for all ranks
	dtype      int32
	kind       timeline.CollectiveKind
	described  bool // its message is known; else only the kernel's name is
	in, out    int64
	seq        int64 // -1 unknown
	start, end int64
}

// compatible reports whether two items can be one collective: their kernels have one
// name, and what is known of both messages agrees. What is known of one alone never
// speaks against it.
func (a *item) compatible(b *item) bool {
	if a.kernel != b.kernel {
		return false
	}
	if !a.described || !b.described {
		return true
	}
	if a.kind != b.kind || a.dtype != b.dtype && a.dtype != 0 && b.dtype != 0 {
		return false
	}
	// All-to-all, gather, scatter and point-to-point messages differ by rank.
	if a.kind == timeline.AllToAll || a.kind == timeline.Reduce || a.kind == timeline.UnknownCollective {
		return true
	}
	return agree(a.in, b.in) && agree(a.out, b.out)
}

func agree(a, b int64) bool { return a == b || a == 0 || b == 0 }

// sequence is the collectives of one rank in one process group, by start.
type sequence struct {
	source int
	items  []item
	names  []uint64 // names[i] hashes the kernels of items[:i]
}

// groupKey tells process groups apart: groups of other ranks may have the same name.
type groupKey struct {
	name    string
	size    int64
	members string // of Group.Members, or as the trace has it where that was shortened
}

// sorter gives every collective of all ranks to a process group.
type sorter struct {
	sources []Source
	numbers map[string]int32 // of kernel names and dtypes; 0 is the empty one
	keys    map[groupKey]bool
	toAll   bool // some group has all-to-all messages
	placed  [][]groupKey

	// What follows is known when the messages of all sources are.
	wholes map[string][]groupKey // keys with all members by name
	found  map[groupKey]groupKey // what whole found
	only   *groupKey             // the group of the run where there is one alone
}

// sortIntoGroups makes the sequences of every group, in the order of sources, groups
// by name. Point-to-point messages concern two ranks and are left out; their number
// is returned by source.
func sortIntoGroups(sources []Source) (map[groupKey][]*sequence, []int) {
	s := &sorter{sources: sources, numbers: map[string]int32{"": 0}, keys: make(map[groupKey]bool)}
	for _, source := range sources {
		s.placed = append(s.placed, s.described(source.Rank))
	}
	s.findWholes()
	for i := range sources {
		s.placeRest(i)
	}
	groups, pointToPoint := make(map[groupKey][]*sequence), make([]int, len(sources))
	for i := range sources {
		pointToPoint[i] = s.collect(i, groups)
	}
	return groups, pointToPoint
}

// nowhere is the key of a collective whose group is not known yet.
var nowhere = groupKey{size: -1}

// described returns the groups of the messages that name one.
func (s *sorter) described(r *facts.Rank) []groupKey {
	type said struct {
		name, members string
		size          int64
	}
	seen := make(map[said]groupKey)
	list := make([]groupKey, len(r.Collectives))
	for i := range r.Collectives {
		m := &r.Collectives[i]
		list[i] = nowhere
		s.toAll = s.toAll || m.Kind == timeline.AllToAll && isDescribed(m)
		if m.Group == "" && m.GroupSize == 0 {
			continue
		}
		what := said{m.Group, m.Members, m.GroupSize}
		key, ok := seen[what]
		if !ok {
			key = groupKey{m.Group, m.GroupSize, membersOf(r.Distributed, m)}
			seen[what] = key
			s.keys[key] = true
		}
		list[i] = key
	}
	return list
}

// isDescribed reports whether more than the kernel is known of a message.
func isDescribed(m *facts.Collective) bool { return m.Dtype != "" || m.Group != "" || m.GroupSize > 0 }

// membersOf is the ranks of a message's group: those of pg_config, else those that
// the message lists, which PyTorch shortens above 30.
func membersOf(d *trace.Distributed, m *facts.Collective) string {
	if d != nil {
		for _, g := range d.Groups {
			if g.Name == m.Group && len(g.Ranks) > 0 && (m.GroupSize == 0 || m.GroupSize == int64(len(g.Ranks))) {
				return fmt.Sprint(g.Ranks)
			}
		}
	}
	var list []int64
	if json.Unmarshal([]byte(m.Members), &list) == nil && len(list) > 0 {
		return fmt.Sprint(list)
	}
	return m.Members
}

// placeRest places the collectives of a source whose messages are not known: with the
// only group of their stream; where nothing of the rank is described, in the only
// group of the run; else in a group without a name.
func (s *sorter) placeRest(source int) {
	r, list := s.sources[source].Rank, s.placed[source]
	byStream := make(map[int32]groupKey)
	any := false
	for i := range list {
		list[i] = s.whole(list[i])
		if list[i] == nowhere {
			continue
		}
		any = true
		stream := r.Collectives[i].Stream
		if other, ok := byStream[stream]; ok && other != list[i] {
			byStream[stream] = groupKey{} // several groups on one stream: it does not tell
			continue
		}
		byStream[stream] = list[i]
	}
	for i := range list {
		if list[i] != nowhere {
			continue
		}
		list[i] = byStream[r.Collectives[i].Stream]
		if s.only != nil && !any {
			list[i] = *s.only
		}
	}
}

// findWholes notes which keys have all members, by name, and whether all keys are of
// one group. Runs have as many groups as ranks and more: nothing here or behind may
// compare each message, or each key, with all others.
func (s *sorter) findWholes() {
	s.wholes, s.found = make(map[string][]groupKey), make(map[groupKey]groupKey)
	for key := range s.keys {
		if isWhole(key.members) {
			s.wholes[key.name] = append(s.wholes[key.name], key)
		}
	}
	for key := range s.keys {
		whole := s.whole(key)
		if s.only != nil && *s.only != whole {
			s.only = nil
			return
		}
		s.only = &whole
	}
}

// whole is the key with all members where another trace has them and there is no
// choice: a shortened list "[0, 1, ..., 63]" and a missing one agree with a longer.
func (s *sorter) whole(key groupKey) groupKey {
	if key == nowhere || isWhole(key.members) {
		return key
	}
	found, ok := s.found[key]
	if !ok {
		found = s.findWhole(key)
		s.found[key] = found
	}
	return found
}

func (s *sorter) findWhole(key groupKey) groupKey {
	found := key
	for _, other := range s.wholes[key.name] {
		if agree(other.size, key.size) && startsAlike(other.members, key.members) {
			if found != key {
				return key
			}
			found = other
		}
	}
	return found
}

func isWhole(members string) bool { return members != "" && !strings.Contains(members, ",") }

// startsAlike reports whether a list as fmt prints it begins as one that JSON writes.
func startsAlike(whole, short string) bool {
	head, _, _ := strings.Cut(short, "...")
	return strings.HasPrefix(whole, strings.TrimRight(strings.ReplaceAll(head, ",", ""), " "))
}

// collect puts the collectives of a source into the sequences of their groups and
// counts the point-to-point messages, which it leaves out.
func (s *sorter) collect(source int, groups map[groupKey][]*sequence) (pointToPoint int) {
	r := s.sources[source].Rank
	base := r.BaseTime
	own := make(map[groupKey]*sequence)
	kernels := s.kernels(r.Kernels)
	var q *sequence
	var last groupKey // of q
	for i := range r.Collectives {
		m := &r.Collectives[i]
		if m.Kind == timeline.SendRecv && (isDescribed(m) || !s.toAll) {
			pointToPoint++
			continue
		}
		if key := s.placed[source][i]; q == nil || key != last {
			if q, last = own[key], key; q == nil {
				q = &sequence{source: source}
				own[key] = q
				groups[key] = append(groups[key], q)
			}
		}
		q.items = append(q.items, item{message: int32(i), kernel: kernels[m.Kernel], dtype: s.number(m.Dtype),
			kind: m.Kind, described: isDescribed(m), in: m.InElems, out: m.OutElems, seq: m.Seq, start: base + m.Start, end: base + m.End})
	}
	for _, q := range own {
		slices.SortStableFunc(q.items, func(a, b item) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
		q.hash()
	}
	return pointToPoint
}

// kernels are the numbers of the names of kernels.
func (s *sorter) kernels(names []string) []int32 {
	numbers := make([]int32, len(names))
	for i, name := range names {
		numbers[i] = s.number(name)
	}
	return numbers
}

func (s *sorter) number(text string) int32 {
	n, ok := s.numbers[text]
	if !ok {
		n = int32(len(s.numbers))
		s.numbers[text] = n
	}
	return n
}

// hash prepares the comparison of stretches of kernels, whatever their length, by
// one number each.
func (q *sequence) hash() {
	q.names = make([]uint64, len(q.items)+1)
	for i := range q.items {
		q.names[i+1] = q.names[i]*hashBase + uint64(q.items[i].kernel) + 1
	}
}

// hashBase is the base of the hash, an odd number; arithmetic is modulo 2^64.
const hashBase = 0x9e3779b97f4a7c15

// stretch is the hash of items[from:to]; power[n] is hashBase to the n-th.
func (q *sequence) stretch(power []uint64, from, to int) uint64 {
	return q.names[to] - q.names[from]*power[to-from]
}

// powers is hashBase to the 0th, 1st, ... n-th.
func powers(n int) []uint64 {
	p := make([]uint64, n+1)
	p[0] = 1
	for i := range n {
		p[i+1] = p[i] * hashBase
	}
	return p
}
