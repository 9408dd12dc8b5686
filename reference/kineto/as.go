package kineto

import (
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/record"
)

// TraceAs returns the trace of another rank that did the same at the same time. Recording must
// be over. Of the groups that the rank was in, the other one is in those of the same Comment.
func (r *Rank) TraceAs(rank int, run Run) *trace.Trace {
	return r.traceAs(&stand{Rank: Rank{rank: rank}, run: run, groups: make(map[string]member)})
}

func (r *Rank) traceAs(other *stand) *trace.Trace {
	list := r.log.Tracks()
	for i := range list {
		if int32(i) == hostTrack {
			list[i] = hostThread(r.process, other.rank)
		} else {
			list[i] = streamOf(other.rank, list[i].TID)
		}
	}
	return r.log.TraceAs(other.meta(other.run), list, other.args)
}

// stand is a rank for which another one stands. It has one copy of each kind of arguments,
// which lasts until the next one is asked for.
type stand struct {
	Rank
	run    Run
	groups map[string]member // by the names of those that the other rank is in

	span    spanArgs
	device  deviceArgs
	sync    syncArgs
	memory  memoryArgs
	carried device.Message
}

// args are the arguments of an event as they are on this rank.
func (s *stand) args(a record.Args) record.Args {
	switch a := a.(type) {
	case *spanArgs:
		if a.message == nil {
			return a
		}
		s.span = *a
		s.span.message = s.message(a.message)
		return &s.span
	case *deviceArgs:
		s.device = *a
		s.device.device, s.device.message = s.rank, s.message(a.message)
		return &s.device
	case *syncArgs:
		s.sync = *a
		s.sync.device = s.rank
		return &s.sync
	case *memoryArgs:
		s.memory = *a
		s.memory.device = s.rank
		return &s.memory
	}
	return a
}

// message is that of the group which this rank is in.
func (s *stand) message(m *device.Message) *device.Message {
	if m == nil {
		return nil
	}
	g, ok := s.groups[m.Group]
	if !ok {
		g = s.member(m)
		s.groups[m.Group] = g
	}
	s.carried = *m
	s.carried.Group, s.carried.Ranks, s.carried.Rank = g.Name, g.Ranks, g.index
	return &s.carried
}

// member is the part of this rank in the group for which that of a message stands.
func (s *stand) member(m *device.Message) member {
	of := device.Group{Name: m.Group, Comment: m.GroupComment, Ranks: m.Ranks}
	if s.rank == noRank {
		return member{of, noRank}
	}
	if i := of.Index(s.rank); i >= 0 {
		return member{of, i}
	}
	for _, g := range s.run.Groups {
		if g.Comment == of.Comment && len(g.Ranks) == len(of.Ranks) {
			if i := g.Index(s.rank); i >= 0 {
				return member{g, i}
			}
		}
	}
	return member{of, -1}
}
