package compare

// rest is what places launch on one side and not on the other, to be paired. Reports may
// have any number of places, so nobody compares each with each.
type rest struct{ lost, gained map[placeKey]int }

// alike is what a place that lost collectives and one that gained them may agree in.
type alike struct {
	collective string
	amount     int
	bytes      int64
}

// move pairs what it can of two places and returns how much that is.
func (r rest) move(from, to placeKey) int {
	n := min(r.lost[from], r.gained[to])
	r.lost[from], r.gained[to] = r.lost[from]-n, r.gained[to]-n
	return n
}

// alike moves all of what a place lost to the first one, in the order of keys, that gained
// as much and is alike.
func (r rest) alike(
	keys []placeKey, of func(k placeKey, amount int, gained bool) (alike, bool), moved func(from, to placeKey),
) {
	takes := make(map[alike][]placeKey)
	for _, to := range keys {
		if key, ok := of(to, r.gained[to], true); ok && r.gained[to] > 0 {
			takes[key] = append(takes[key], to)
		}
	}
	for _, from := range keys {
		key, ok := of(from, r.lost[from], false)
		if list := takes[key]; ok && r.lost[from] > 0 && len(list) > 0 {
			takes[key] = list[1:]
			moved(from, list[0])
		}
	}
}

// inOrder moves what is left from the first place that lost some to the first that gained
// some, of each kind of collectives. Keys are sorted by that first.
func (r rest) inOrder(keys []placeKey, moved func(from, to placeKey)) {
	to := 0
	for from := 0; from < len(keys); {
		switch {
		case r.lost[keys[from]] == 0:
			from++
		case to == len(keys) || keys[to].collective > keys[from].collective:
			from++ // nothing took it
		case r.gained[keys[to]] == 0 || keys[to].collective < keys[from].collective:
			to++
		default:
			moved(keys[from], keys[to])
		}
	}
}
