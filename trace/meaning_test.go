package trace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPhasesOfFlows: arrows have a begin, an end and what is between; no other letter is one.
func TestPhasesOfFlows(t *testing.T) {
	for p := range 256 {
		if want := strings.ContainsRune("stf", rune(p)); Phase(p).IsFlow() != want {
			t.Errorf("%q is an end of an arrow: %v", rune(p), !want)
		}
	}
}

// TestWhatCategoriesAre: what every category is, whether fixed or known to its file alone.
func TestWhatCategoriesAre(t *testing.T) {
	b := NewBuilder()
	mine := b.Cat([]byte("mine"))
	const runs, launches = " kernel gpu_memcpy gpu_memset ", " cuda_runtime cuda_driver privateuse1_runtime "
	for c := range mine + 1 {
		name := b.cats.names[c]
		listed := func(list string) bool { return name != "" && strings.Contains(list, " "+name+" ") }
		if c.IsActivity() != listed(runs) || c.IsRuntime() != listed(launches) ||
			c.IsKnown() != (name != "" && c != mine) {
			t.Errorf("%q: runs %v, launches %v, known %v", name, c.IsActivity(), c.IsRuntime(), c.IsKnown())
		}
		if known, ok := KnownCat([]byte(name)); c != mine && (known != c || !ok) || b.Cat([]byte(name)) != c {
			t.Errorf("%q is %d, %v, not %d", name, known, ok, c)
		}
	}
	for k := KeyNone + 1; k < numFixedKeys; k++ {
		if got, ok := FixedKey([]byte(keyNames[k])); got != k || !ok || b.Key([]byte(keyNames[k])) != k {
			t.Errorf("%s is %d, %v", keyNames[k], got, ok)
		}
	}
	other, got := b.Key([]byte("other")), b.Build()
	for name, want := range map[string]Key{"": KeyNone, "nothing": KeyNone, "stream": KeyStream, "other": other} {
		if k, ok := got.Key(name); k != want || ok != (want != KeyNone) {
			t.Errorf("%q is %d, %v", name, k, ok)
		}
	}
	for _, name := range []string{"", "mine"} { // a category; not a text of the trace but for the empty one
		if id, ok := got.Find(name); id != 0 || ok != (name == "") {
			t.Errorf("%q: %d, %v", name, id, ok)
		}
	}
}

// TestTablesFull: the last category and the last key for which there is room are kept, and the table says so.
func TestTablesFull(t *testing.T) {
	b := NewBuilder()
	for i := range maxCats - int(numFixedCats) {
		if b.Full() || b.Cat(fmt.Appendf(nil, "c%d", i)) == CatNone {
			t.Fatalf("full before category %d", i)
		}
	}
	if !b.Full() || b.Cat([]byte("more")) != CatNone || b.Cat([]byte("c7")) == CatNone {
		t.Error("there is room after the last category")
	}
	b = NewBuilder()
	for i := range 1<<16 - int(numFixedKeys) {
		if b.Full() || b.Key(fmt.Appendf(nil, "k%d", i)) == KeyNone {
			t.Fatalf("full before key %d", i)
		}
	}
	if !b.Full() || b.Key([]byte("more")) != KeyNone || b.Key([]byte("k7")) == KeyNone {
		t.Error("there is room after the last key")
	}
}

// TestSelectedAgainstDefinition: rows that are kept are as they were, each with the innermost parent that was kept.
func TestSelectedAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		a := newAdder()
		for i := range rng.IntN(40) {
			a.on(fmt.Sprint(rng.IntN(4)))
			a.Add(&Row{
				Phase: []Phase{Complete, Complete, Instant}[rng.IntN(3)], Name: a.Intern(fmt.Append(nil, "e", i)),
				Start: rng.Int64N(30), Dur: rng.Int64N(12), Corr: rng.Int64N(3) - 1, External: int64(i),
				Track: a.track(), Cat: Cat(rng.IntN(5)), Offset: -1,
			})
		}
		whole := a.Build()
		var rows []int32
		for i := range int32(whole.Len()) {
			if rng.IntN(2) == 0 {
				rows = append(rows, i)
			}
		}
		part := whole.Select(rows)
		for i, row := range rows {
			want := NoParent
			for k := i - 1; k >= 0 && want == NoParent; k-- {
				if e, p := whole.Event(int(row)), whole.Event(int(rows[k])); p.Track() == e.Track() &&
					p.Phase() == Complete && p.End() > e.Start() && p.Dur() > 0 {
					want = int32(k)
				}
			}
			got, is := lineOf(part.Event(i)), lineOf(whole.Event(int(row)))
			if got != is || part.col.Parent[i] != want {
				t.Fatalf("%s with parent %d, want %s with %d", got, part.col.Parent[i], is, want)
			}
		}
		holdsTracks(t, part)
		for _, track := range part.Tracks() {
			if track.N == 0 && track.First != 0 {
				t.Errorf("an empty track begins at row %d", track.First)
			}
		}
	}
}

// lineOf is all that a row says but its arguments and its parent.
func lineOf(e Event) string {
	return fmt.Sprint(e.Name(), e.Start(), e.Dur(), e.End(), e.Phase(), e.Cat(), e.Corr(), e.External(), e.Track().TID)
}

// TestEdgesOfAdd: what Add repairs, at the edge of it.
func TestEdgesOfAdd(t *testing.T) {
	const most = 1<<63 - 1
	for _, c := range []struct {
		row      Row
		dur      int64
		problems string
	}{
		{Row{Start: most - 5, Dur: 5}, 5, ""},
		{Row{Start: most - 5, Dur: 6}, 0, "number_out_of_range:1"},
		{Row{Start: 5, Dur: LongestEvent}, LongestEvent, ""},
		{Row{Start: 5, Dur: LongestEvent + 1}, 0, "number_out_of_range:1"},
		{Row{Start: -5, Dur: LongestEvent}, LongestEvent, ""},
		{Row{Start: -5, Dur: most}, 0, "number_out_of_range:1"},
		{Row{Start: 5, Dur: -1}, 0, "negative_duration:1"},
		{Row{Start: 5, NoDur: true, Cat: CatKernel}, 0, "device_event_without_duration:1"},
		{Row{Start: 5, NoDur: true, Cat: CatGPUMemset}, 0, "device_event_without_duration:1"},
		{Row{Start: 5, NoDur: true, Cat: CatCPUOp}, 0, "missing_duration:1"},
		{Row{Start: 5, NoDur: true, Cat: CatKernel, Phase: Instant}, 0, ""},
		{Row{Start: 5, Cat: CatKernel}, 0, ""},
	} {
		b := NewBuilder()
		if c.row.Offset = -1; c.row.Phase == 0 {
			c.row.Phase = Complete
		}
		c.row.Track = b.Track(0, 0)
		b.Add(&c.row)
		if got := b.Build(); got.Event(0).Dur() != c.dur || codes(got) != c.problems {
			t.Errorf("%+v: %d, %q", c.row, got.Event(0).Dur(), codes(got))
		}
	}
}
