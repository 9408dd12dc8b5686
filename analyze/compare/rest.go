package compare

// What places launch on one side and not on the other is paired here. Reports may have any
// number of places, so nobody compares each with each.

// alike is what a place that lost collectives and one that gained them may agree in.
type alike struct {
	collective string
	amount     int
	bytes      int64
}

// rest is what a place lost, or gained.
func (s *spot) rest(gained bool) int {
	if gained {
		return s.gained
	}
	return s.lost
}

// move pairs what it can of two places and returns how much that is.
func (s *spot) move(to *spot) int {
	n := min(s.lost, to.gained)
	s.lost, to.gained = s.lost-n, to.gained-n
	return n
}

// alikes moves all of what a place lost to the first one, in the order of the spots, that gained
// as much and is alike.
func alikes(spots []spot, of func(at *spot, gained bool) (alike, bool), moved func(from, to *spot)) {
	takes := make(map[alike][]*spot)
	for i := range spots {
		if to := &spots[i]; to.gained > 0 {
			if key, ok := of(to, true); ok {
				takes[key] = append(takes[key], to)
			}
		}
	}
	if len(takes) == 0 {
		return
	}
	for i := range spots {
		from := &spots[i]
		if from.lost == 0 {
			continue
		}
		if key, ok := of(from, false); ok && len(takes[key]) > 0 {
			to := takes[key][0]
			takes[key] = takes[key][1:]
			moved(from, to)
		}
	}
}

// inOrder moves what is left from the first place that lost some to the first that gained
// some, of each kind of collectives. Spots are sorted by that first.
func inOrder(spots []spot, moved func(from, to *spot)) {
	to := 0
	for from := 0; from < len(spots); {
		switch {
		case spots[from].lost == 0:
			from++
		case to == len(spots) || spots[to].collective > spots[from].collective:
			from++ // nothing took it
		case spots[to].gained == 0 || spots[to].collective < spots[from].collective:
			to++
		default:
			moved(&spots[from], &spots[to])
		}
	}
}
