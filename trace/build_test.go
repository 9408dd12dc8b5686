package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// adder makes rows out of few words, so that the tests show what matters.
type adder struct {
	*Builder
	tid string
}

func newAdder() *adder { return &adder{Builder: NewBuilder(), tid: "1"} }

func (a *adder) track() TrackID { return a.Track(a.Intern([]byte("1")), a.Intern([]byte(a.tid))) }

// add adds an event; ph is 'X', 'B', 'E' or any other phase.
func (a *adder) add(ph Phase, name string, start, dur int64) *adder {
	a.Add(&Row{Phase: ph, Name: a.Intern([]byte(name)), Start: start, Dur: dur, Track: a.track(), Offset: -1})
	return a
}

func (a *adder) on(tid string) *adder { a.tid = tid; return a }

// tree shows the rows as name[start,end)<parent.
func tree(t *Trace) string {
	var out []string
	for i := range t.Len() {
		e := t.Event(i)
		s := fmt.Sprintf("%s[%d,%d)", e.Name(), e.Start(), e.End())
		if p, ok := e.Parent(); ok {
			s += "<" + p.Name()
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func codes(t *Trace) string {
	var out []string
	for _, p := range t.Problems() {
		out = append(out, fmt.Sprintf("%s:%d", p.Code, p.Count))
	}
	return strings.Join(out, " ")
}

// TestBuild: order, parents and pairs; odd cases first.
func TestBuild(t *testing.T) {
	for _, c := range []struct {
		what           string
		b              *adder
		tree, problems string
	}{
		{"nothing", newAdder(), "", ""},
		{"one", newAdder().add('X', "a", 5, 2), "a[5,7)", ""},
		{"equal: the first of the file is the parent",
			newAdder().add('X', "a", 5, 2).add('X', "b", 5, 2),
			"a[5,7) b[5,7)<a", ""},
		{"touching: half-open", newAdder().add('X', "a", 0, 5).add('X', "b", 5, 5), "a[0,5) b[5,10)", ""},
		{"no length is no parent", newAdder().add('X', "a", 0, 0).add('X', "b", 0, 0), "a[0,0) b[0,0)", ""},
		{"no length within", newAdder().add('X', "b", 3, 0).add('X', "a", 0, 5), "a[0,5) b[3,3)<a", ""},
		{"no length at the end", newAdder().add('X', "b", 5, 0).add('X', "a", 0, 5), "a[0,5) b[5,5)", ""},
		{"no length at the begin", newAdder().add('X', "b", 0, 0).add('X', "a", 0, 5), "a[0,5) b[0,0)<a", ""},
		{"partly over",
			newAdder().add('X', "a", 0, 5).add('X', "b", 3, 5).add('X', "c", 6, 1),
			"a[0,5) b[3,8)<a c[6,7)<b", ""},
		{"longer first", newAdder().add('X', "a", 0, 5).add('X', "b", 0, 9), "b[0,9) a[0,5)<b", ""},
		{"before zero", newAdder().add('X', "a", -5, 5).add('X', "b", -3, 1), "a[-5,0) b[-3,-2)<a", ""},
		{"an instant has a parent and is none",
			newAdder().add('X', "a", 0, 5).add('i', "b", 2, 0).add('i', "c", 2, 0),
			"a[0,5) b[2,2)<a c[2,2)<a", ""},
		{"tracks apart", newAdder().add('X', "a", 0, 9).on("2").add('X', "b", 1, 1), "a[0,9) b[1,2)", ""},
		{"siblings",
			newAdder().add('X', "a", 0, 9).add('X', "b", 1, 2).add('X', "c", 4, 2),
			"a[0,9) b[1,3)<a c[4,6)<a", ""},

		{"pair", newAdder().add('B', "a", 1, 0).add('E', "", 5, 0), "a[1,5)", ""},
		{"pairs within",
			newAdder().add('B', "a", 1, 0).add('B', "b", 2, 0).add('E', "", 3, 0).add('E', "", 5, 0),
			"a[1,5) b[2,3)<a", ""},
		{"pair in the wrong order", newAdder().add('E', "", 5, 0).add('B', "a", 1, 0), "a[1,5)", ""},
		{"end alone", newAdder().add('E', "x", 5, 0), "", "unpaired_begin_end:1"},
		{"begin alone ends with its track",
			newAdder().add('B', "a", 1, 0).add('X', "b", 2, 7),
			"a[1,9) b[2,9)<a", "unpaired_begin_end:1"},
		{"begin alone, last of all",
			newAdder().add('X', "b", 2, 3).add('B', "a", 9, 0),
			"b[2,5) a[9,9)", "unpaired_begin_end:1"},
		{"end on another track",
			newAdder().add('B', "a", 1, 0).on("2").add('E', "", 5, 0),
			"a[1,1)", "unpaired_begin_end:2"},

		{"pair too far apart",
			newAdder().add('B', "a", math.MinInt64+1, 0).add('E', "", math.MaxInt64, 0),
			fmt.Sprintf("a[%d,%d)", math.MinInt64+1, math.MinInt64+1), "number_out_of_range:1"},
		{"below zero", newAdder().add('X', "a", 5, -2), "a[5,5)", "negative_duration:1"},
		{"end beyond int64",
			newAdder().add('X', "a", math.MaxInt64, 1),
			fmt.Sprintf("a[%d,%d)", math.MaxInt64, math.MaxInt64), "number_out_of_range:1"},
	} {
		got := c.b.Build()
		if s := tree(got); s != c.tree {
			t.Errorf("%s: got %s, want %s", c.what, s, c.tree)
		}
		if s := codes(got); s != c.problems {
			t.Errorf("%s: problems %q, want %q", c.what, s, c.problems)
		}
	}
}

// TestExternalOrder: of two equal events the one with the smaller External id is
// outside, wherever they stand in the file.
func TestExternalOrder(t *testing.T) {
	a := newAdder()
	for _, id := range []int64{3, 1, 2} {
		name := a.Intern(fmt.Append(nil, id))
		a.Add(&Row{Phase: Complete, Dur: 5, External: id, Name: name, Track: a.track(), Offset: -1})
	}
	if got := tree(a.Build()); got != "1[0,5) 2[0,5)<1 3[0,5)<2" {
		t.Error(got)
	}
}

// TestExternalOrderWithoutIDs: rows without an id keep their place between those that have
// one. That is no order in the strict sense, so it depends on how rows are merged.
func TestExternalOrderWithoutIDs(t *testing.T) {
	b := newAdder()
	for _, id := range []int64{9, 0, 9, 3} {
		b.Add(&Row{Phase: 'X', Start: 5, Dur: 2, Track: b.track(), External: id, Offset: -1})
	}
	var got []ID
	if got = b.Build().Columns().External; !slices.Equal(got, []ID{3, 9, 0, 9}) {
		t.Errorf("got %d", got)
	}
}

// TestPairKeepsArguments: of an argument that begin and end both have, the end's counts.
func TestPairKeepsArguments(t *testing.T) {
	a := newAdder()
	add := func(ph Phase, start, bytes int64) {
		row := Row{Phase: ph, Start: start, Track: a.track(), Offset: -1}
		if bytes > 0 {
			row.Args = []Arg{{Key: KeyBytes, Num: bytes}}
		}
		a.Add(&row)
	}
	add('B', 1, 0)
	add('E', 2, 7)
	add('B', 3, 8)
	add('E', 4, 9)
	got := a.Build()
	for i, want := range []int64{7, 9} {
		if v, ok := got.Event(i).ArgInt(KeyBytes); !ok || v != want {
			t.Errorf("row %d: %d, %v, want %d", i, v, ok, want)
		}
	}
}

// TestOrderIsOfTheContent: whatever the order of the file, the rows are the same,
// and every column moves with them.
func TestOrderIsOfTheContent(t *testing.T) {
	type row struct {
		tid               string
		start, dur, n     int64
		cat               string
		external, numArgs int64
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var rows []row
	for i := range int64(500) {
		tid, cat := fmt.Sprint(i%3), fmt.Sprint("cat", i%4)
		rows = append(rows, row{tid, rng.Int64N(100), 1 + rng.Int64N(50), i, cat, i + 1, i % 3})
	}
	build := func() string {
		b := NewBuilder()
		for _, r := range rows {
			out := Row{
				Start: r.start, Dur: r.dur, Phase: Complete,
				Name: b.Intern(fmt.Append(nil, r.n)), Cat: b.Cat([]byte(r.cat)),
				Track: b.Track(b.Intern([]byte("p")), b.Intern([]byte(r.tid))),
				Corr:  -r.n, External: r.external, Offset: -1,
			}
			for k := range r.numArgs {
				out.Args = append(out.Args, Arg{Key: KeyBytes + Key(k), Num: r.n})
			}
			b.Add(&out)
		}
		t := b.Build()
		var s strings.Builder
		for i := range t.Len() {
			e := t.Event(i)
			p, _ := e.Parent()
			parent := "-"
			if p.t != nil {
				parent = p.Name()
			}
			fmt.Fprintln(&s, e.Track().TID, e.Start(), e.Dur(), e.Name(), t.CatName(e.Cat()),
				e.Corr(), e.External(), e.Args(), parent)
		}
		return s.String()
	}
	want := build()
	for range 5 {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if build() != want {
			t.Fatal("another order of the file gives other rows")
		}
	}
	slices.SortFunc(rows, func(x, y row) int { return int(y.start - x.start) })
	if build() != want {
		t.Fatal("the reverse order gives other rows")
	}
}

// TestParentsAgainstDefinition compares with the definition, event by event.
func TestParentsAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		a := newAdder()
		for range rng.IntN(30) {
			start, dur := rng.Int64N(40), rng.Int64N(12)
			if rng.IntN(3) > 0 { // nested, as real ones are
				dur = (dur/2 + 1) * (40 - start) / 40
			}
			a.add('X', "e", start, dur)
		}
		got := a.Build()
		c := got.Columns()
		for i := range got.Len() {
			p := c.Parent[i]
			if p == NoParent {
				continue
			}
			if int(p) >= i || c.Start[p] > c.Start[i] || c.Start[p]+c.Dur[p] <= c.Start[i] {
				t.Fatalf("row %d has parent %d: %s", i, p, tree(got))
			}
		}
	}
}

func TestTracks(t *testing.T) {
	b := NewBuilder()
	id := func(s string) StringID { return b.Intern([]byte(s)) }
	for _, k := range []struct{ pid, tid string }{
		{"Spans", "x"}, {"10", "2"}, {"9", "1"}, {"10", "-1"}, {"", ""}, {"9", "1"}, {"010", "1"},
	} {
		b.Add(&Row{Phase: Complete, Dur: 1, Track: b.Track(id(k.pid), id(k.tid)), Offset: -1, Cat: CatKernel})
	}
	b.NameProcess(id("10"), "late")
	b.TagProcess(id("10"), "GPU 0")
	b.SortProcess(id("10"), 4)
	b.NameThread(b.Track(id("9"), id("1")), "main")
	b.SortThread(b.Track(id("9"), id("1")), -3)
	b.NameThread(b.Track(id("8"), id("1")), "named but empty")
	b.Track(id("7"), id("1"))
	got := b.Build()
	var order []string
	rows := 0
	for _, track := range got.Tracks() {
		order = append(order, track.PID+"/"+track.TID)
		if track.First != rows || track.Activity != (track.N > 0) {
			t.Errorf("track %+v, %d rows before it", track, rows)
		}
		for i := track.First; i < track.First+track.N; i++ {
			if got.Event(i).Track().PID != track.PID {
				t.Errorf("row %d is not on track %+v", i, track)
			}
		}
		rows += track.N
	}
	if s := strings.Join(order, " "); s != "8/1 9/1 010/1 10/-1 10/2 / Spans/x" {
		t.Errorf("order %s", s)
	}
	if tr := got.Tracks()[3]; tr.ProcessName != "late" || tr.ProcessTags != "GPU 0" || tr.ProcessSort != 4 {
		t.Errorf("%+v", tr)
	}
	if tr := got.Tracks()[1]; tr.ThreadName != "main" || tr.ThreadSort != -3 || tr.N != 2 {
		t.Errorf("%+v", tr)
	}
}

func TestRecategorize(t *testing.T) {
	a := newAdder().add('X', "x", 1, 1).add('X', "y", 2, 1)
	a.NameProcess(a.Intern([]byte("1")), "gpu")
	if tracks := a.Tracks(); len(tracks) != 1 || tracks[0].ProcessName != "gpu" {
		t.Errorf("tracks %+v", tracks)
	}
	a.Recategorize(func(r *Row, name string) Cat {
		if name == "y" && r.Start == 2 {
			return CatKernel
		}
		return r.Cat
	})
	got := a.Build()
	if got.Event(0).Cat() != CatNone || got.Event(1).Cat() != CatKernel || !got.Tracks()[0].Activity {
		t.Error(tree(got))
	}
}
