package lateness

import "github.com/gaprof/gaprof/analyze/ranks"

// period is the time between two cuts of a group, or between one and an end of the
// recordings, on all of its ranks.
type period struct {
	after, last []int32 // by member: its stretches; last is -1 for a member that was not held up
	later       int64   // ns by which the late rank is later than the next to last, summed
	open        bool    // it begins or ends with the recordings, which do so at different moments
}

// compared is a late rank and those that it is compared with.
type compared struct {
	group   *ranks.Group
	members []*member // the late rank first
}

// fewest others, of those that were given, must have been held up by a collective for it
// to be a cut: half of them.
const fewest = 2

// periods cuts the collectives of a group and lists the periods in which it is the first
// member that keeps the others waiting.
func (of *compared) periods() []period {
	var list []period
	n := len(of.members)
	begin := make([]int32, n)
	for i := range begin {
		begin[i] = -1
	}
	from, atStart := 0, true
	for i := range of.group.Collectives {
		cut, ok := of.cut(i, begin)
		if !ok {
			continue
		}
		if later := of.later(from, i+1); later > 0 {
			list = append(list, period{begin, cut, later, atStart})
		}
		begin, from, atStart = resume(cut), i+1, false
	}
	if later := of.later(from, len(of.group.Collectives)); later > 0 {
		last := make([]int32, n)
		for m := range last {
			if last[m] = int32(len(of.members[m].work.Stretches) - 1); begin[m] == notHeld {
				last[m] = -1
			}
		}
		list = append(list, period{begin, last, later, true})
	}
	return list
}

// notHeld begins the period of a member that the cut before did not hold up.
const notHeld = -2

// cut returns by member the stretch that a collective of the group ends; ok is false where
// it does not hold up the late rank and half of the others.
func (of *compared) cut(i int, begin []int32) (cut []int32, ok bool) {
	cut = make([]int32, len(of.members))
	held, both := 0, 0
	for m, one := range of.members {
		cut[m] = one.stretch[one.passed(int32(i))]
		switch {
		case cut[m] < 0:
		case begin[m] != notHeld && cut[m] <= begin[m]:
			cut[m] = -1
		default:
			held++
			if begin[m] != notHeld {
				both++
			}
		}
		if m == 0 && held == 0 {
			return nil, false
		}
	}
	// Where nobody who was held up before is now, the period goes on.
	return cut, fewest*(held-1) >= len(of.members)-1 && both > 1
}

// resume returns where the period after a cut begins, by member.
func resume(cut []int32) []int32 {
	begin := make([]int32, len(cut))
	for m := range cut {
		if begin[m] = cut[m]; cut[m] < 0 {
			begin[m] = notHeld
		}
	}
	return begin
}

// later is by how much the first member is later than the next to last in some collectives of
// the group; 0 if others are by more.
func (of *compared) later(from, to int) int64 {
	var own, others int64
	for i := from; i < to; i++ {
		c := &of.group.Collectives[i]
		switch {
		case c.Impossible:
		case c.Latest == of.members[0].k:
			own += c.LatestAt - c.NextAt
		default:
			others += c.LatestAt - c.NextAt
		}
	}
	if own <= others {
		return 0
	}
	return own
}
