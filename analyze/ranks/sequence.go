package ranks

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Source is one rank of the run.
type Source struct {
	Rank     *facts.Rank // read-only
	ID       int64       // the rank's number in the run
	Host     string      // the machine it ran on, "" unknown
	Assigned bool        // ID was made up, so it says nothing about membership in groups
}

// sequence is the collectives of one rank in one process group, in order of
// start, or of their numbers where all have one.
type sequence struct {
	source int // index of the rank among the sources
	items  []item
	names  []uint64 // names[i] is a hash of the kernels of items[:i]: see stretch
}

// groupKey identifies a process group. The name alone does not: tensor-parallel groups of
// different ranks often share one.
type groupKey struct {
	name    string
	size    int64  // 0 unknown
	members string // a list as fmt prints it, or as the trace has it if PyTorch abbreviated it
}

// sorter assigns every collective of all ranks to a process group.
//
// It is more than a lookup because traces leave out so much: a collective that was launched
// before the recording began has no message at all, PyTorch abbreviates the members of
// large groups, and some versions write no group. What one rank lacks another may have.
type sorter struct {
	sources []Source
	numbers map[string]int32  // of kernel names and dtypes; 0 is ""
	keys    map[groupKey]bool // of all messages that name a group
	toAll   bool              // some group has all-to-all messages, which run as SendRecv kernels
	placed  [][]groupKey      // by source and collective; nowhere until it is known

	// What follows is known once the messages of all sources have been read.
	wholes map[string][]groupKey // keys with all members, by name
	found  map[groupKey]groupKey // what whole found before
	only   *groupKey             // the group of the run, if there is just one
}

// sortIntoGroups builds the sequences of every process group, those of a group in the order
// of sources. What is left out is counted by source.
func sortIntoGroups(sources []Source) (map[groupKey][]*sequence, []leftOut) {
	s := &sorter{sources: sources, numbers: map[string]int32{"": 0}, keys: make(map[groupKey]bool)}
	for _, source := range sources {
		s.placed = append(s.placed, s.named(source.Rank))
	}
	s.findWholes()
	for i := range sources {
		s.placeRest(i)
	}
	groups, out := make(map[groupKey][]*sequence), make([]leftOut, len(sources))
	for i := range sources {
		out[i] = s.collect(i, groups)
	}
	return groups, out
}

// nowhere is the key of a collective whose group is not known yet.
var nowhere = groupKey{size: -1}

// named returns the group of each collective whose message names one, nowhere for others.
func (s *sorter) named(r *facts.Rank) []groupKey {
	type said struct {
		name, members string
		size          int64
	}
	seen := make(map[said]groupKey)
	list := make([]groupKey, len(r.Collectives))
	for i := range r.Collectives {
		c := &r.Collectives[i]
		list[i] = nowhere
		s.toAll = s.toAll || c.Kind == timeline.AllToAll && isDescribed(c)
		if c.Group == "" && c.GroupSize == 0 {
			continue
		}
		what := said{c.Group, c.Members, c.GroupSize}
		key, ok := seen[what]
		if !ok {
			key = groupKey{c.Group, c.GroupSize, membersOf(r.Distributed, c)}
			seen[what] = key
			s.keys[key] = true
		}
		list[i] = key
	}
	return list
}

// isDescribed reports whether more than the kernel of a collective is known.
func isDescribed(c *facts.Collective) bool { return c.Dtype != "" || c.Group != "" || c.GroupSize > 0 }

// membersOf returns the ranks of a collective's group: those of pg_config in the trace's
// header, else those in its message, which PyTorch abbreviates above 30.
func membersOf(d *trace.Distributed, c *facts.Collective) string {
	if d != nil {
		for _, g := range d.Groups {
			if g.Name == c.Group && len(g.Ranks) > 0 && agree(c.GroupSize, int64(len(g.Ranks))) {
				return fmt.Sprint(g.Ranks)
			}
		}
	}
	var list []int64
	if json.Unmarshal([]byte(c.Members), &list) == nil && len(list) > 0 {
		return fmt.Sprint(list)
	}
	return c.Members
}

// placeRest assigns the collectives of a source whose group is not recorded: to the only
// group of their stream, since PyTorch gives each process group a stream of its own; where
// the rank has no messages at all, to the only group of the run; else to a group without
// a name. The streams of a graph's replay are the driver's choice and say nothing.
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
		if r.Collectives[i].Replayed {
			continue
		}
		stream := r.Collectives[i].Stream
		if other, ok := byStream[stream]; ok && other != list[i] {
			byStream[stream] = groupKey{} // several groups share the stream: it says nothing
			continue
		}
		byStream[stream] = list[i]
	}
	for i := range list {
		if list[i] != nowhere {
			continue
		}
		list[i] = groupKey{}
		if !r.Collectives[i].Replayed {
			list[i] = byStream[r.Collectives[i].Stream]
		}
		if s.only != nil && !any {
			list[i] = *s.only
		}
	}
}

// findWholes notes which keys have all members, by name, and whether all keys are of the
// same group. Runs have at least as many groups as ranks, so nothing here or later may
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

// whole returns the key with all members if some trace has it and only one such key fits:
// an abbreviated list "[0, 1, ..., 63]" fits a longer one, and a missing list fits any.
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

// isWhole reports whether a list has all members: those were read and printed without
// commas, while an abbreviated one stays as the trace has it.
func isWhole(members string) bool { return members != "" && !strings.Contains(members, ",") }

// startsAlike reports whether a list as fmt prints it begins like an abbreviated one of
// JSON.
func startsAlike(whole, short string) bool {
	head, _, _ := strings.Cut(short, "...")
	return strings.HasPrefix(whole, strings.TrimRight(strings.ReplaceAll(head, ",", ""), " "))
}
