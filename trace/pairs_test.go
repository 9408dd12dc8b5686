package trace

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawnRow is an event of a drawn list, and what the rules of the format say of it.
type drawnRow struct {
	ph         Phase
	name       string
	start, dur int64
	place      int // in the file
}

// naive builds rows as the definitions say, each row against all others: ends belong to the
// last begin before them that is open, and a parent is the last row before that is open at
// the start.
func naive(rows []drawnRow) (tree []string, unpaired int) {
	inOrder := func(a, b drawnRow) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.dur, a.dur), cmp.Compare(a.place, b.place))
	}
	rows = slices.Clone(rows)
	slices.SortFunc(rows, inOrder)
	last := int64(-1)
	for _, r := range rows {
		last = max(last, r.start+r.dur)
	}
	for i := range rows {
		if rows[i].ph != End {
			continue
		}
		unpaired++
		for k := i - 1; k >= 0; k-- {
			if rows[k].ph == Begin {
				rows[k].ph, rows[k].dur = Complete, rows[i].start-rows[k].start
				unpaired--
				break
			}
		}
	}
	for i := range rows {
		if rows[i].ph == Begin {
			rows[i].ph, rows[i].dur = Complete, last-rows[i].start
			unpaired++
		}
		rows[i].place = i
	}
	rows = slices.DeleteFunc(rows, func(r drawnRow) bool { return r.ph == End })
	slices.SortFunc(rows, inOrder)
	for i, r := range rows {
		s := fmt.Sprintf("%s[%d,%d)", r.name, r.start, r.start+r.dur)
		for k := i - 1; k >= 0; k-- {
			if p := rows[k]; p.ph == Complete && p.start+p.dur > r.start {
				s += "<" + p.name
				break
			}
		}
		tree = append(tree, s)
	}
	return tree, unpaired
}

// TestDrawnAgainstDefinition: order, pairs and parents of drawn lists on two tracks, in any
// order of the file, are those of the definitions.
func TestDrawnAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	phases := []Phase{Complete, Complete, Begin, End, Instant}
	for range 300 {
		a, own := newAdder(), [2][]drawnRow{}
		for i := range rng.IntN(40) {
			r := drawnRow{ph: phases[rng.IntN(len(phases))], name: fmt.Sprint("e", i), start: rng.Int64N(30), place: i}
			if r.ph == Complete {
				r.dur = rng.Int64N(12)
			}
			k := rng.IntN(2)
			own[k] = append(own[k], r)
			a.on(fmt.Sprint(k)).add(r.ph, r.name, r.start, r.dur)
		}
		var want []string
		unpaired := 0
		for _, rows := range own {
			lines, n := naive(rows)
			want, unpaired = append(want, lines...), unpaired+n
		}
		got := a.Build()
		if s, w := "["+tree(got)+"]", fmt.Sprint(want); s != w {
			t.Fatalf("got  %s\nwant %s", s, w)
		}
		problems := ""
		if unpaired > 0 {
			problems = fmt.Sprintf("unpaired_begin_end:%d", unpaired)
		}
		if s := codes(got); s != problems {
			t.Fatalf("problems %q, want %q", s, problems)
		}
		holdsTracks(t, got)
	}
}

// holdsTracks compares what tracks say of their rows with the rows.
func holdsTracks(t *testing.T, got *Trace) {
	t.Helper()
	rows := 0
	for id, track := range got.Tracks() {
		for i := track.First; i < track.First+track.N; i++ {
			if int(got.Columns().Track[i]) != id {
				t.Fatalf("row %d is not on track %+v", i, track)
			}
		}
		rows += track.N
	}
	if rows != got.Len() {
		t.Fatalf("tracks hold %d of %d rows", rows, got.Len())
	}
}

// TestPairTakesFromItsEnd: an end may name the event, link it and say its ids; of ids that
// both have the end's count.
func TestPairTakesFromItsEnd(t *testing.T) {
	a := newAdder()
	add := func(ph Phase, start int64, name string, corr, external int64, args ...Arg) {
		a.Add(&Row{Phase: ph, Start: start, Name: a.Intern([]byte(name)), Corr: corr, External: external,
			Track: a.track(), Offset: -1, Args: args})
	}
	add(Begin, 1, "", 0, 5, Arg{Key: KeyBytes, Num: 1}, Arg{Key: KeyStream, Num: 2})
	add(End, 2, "named", 7, 0, Arg{Key: KeyDevice, Num: 3}, Arg{Key: KeyStream, Num: 4})
	add(Begin, 3, "kept", 8, 9)
	add(End, 4, "other", 10, 11)
	got := a.Build()
	for i, want := range []string{"named 7 5 1 4 3", "kept 10 11 0 0 0"} {
		e := got.Event(i)
		bytes, _ := e.ArgInt(KeyBytes)
		stream, _ := e.ArgInt(KeyStream)
		device, _ := e.ArgInt(KeyDevice)
		if s := fmt.Sprint(e.Name(), " ", e.Corr(), e.External(), bytes, stream, device); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
}

// TestStrictRefusesDamage: strict reading refuses what is damaged in the text or in what was
// recorded; what only the user has to say, and what is in doubt for other reasons, it reads.
func TestStrictRefusesDamage(t *testing.T) {
	reads := []Code{
		SeveralDocuments, ByteOrderMark, LineDelimited, TooManyCategories, CommOnCompute, SuspectUnit, SharedDevice,
		RankAssigned, RankConflict, MixedRanks, StepFallback, Unlinked, UnknownDeviceShare, ZeroDuration, CopiedRank,
		SwappedRanks, PossibleCommunication,
	}
	for _, c := range Codes() {
		info := c.Info()
		if read := slices.Contains(reads, c); info.Strict == read {
			t.Errorf("%s: strict %v", c, info.Strict)
		}
		if info.Level != Note && info.Level != Warn {
			t.Errorf("%s is of level %s", c, info.Level)
		}
	}
}
