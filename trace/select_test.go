package trace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

const selectSource = `process 1 name=python
1/1 0 +100 cpu_op outer
1/1 10 +50 cpu_op middle dtype=float
1/1 20 +5 cpu_op inner "In msg nelems"=7 dtype=float
1/2 5 +9 cpu_op other
2/7 30 +4 kernel k corr=9 device=0
`

func TestSelect(t *testing.T) {
	whole := readText(t, selectSource)
	if whole.Len() != 5 {
		t.Fatalf("%d rows", whole.Len())
	}
	for _, test := range []struct{ rows, want string }{
		{"", ""},
		{"0 1 2 3 4", "outer<- middle<outer inner<middle other<- k<-"},
		{"0 2", "outer<- inner<outer"}, // the parent is the innermost that is left
		{"2 4", "inner<- k<-"},
		{"3", "other<-"},
	} {
		var rows []int32
		for _, word := range strings.Fields(test.rows) {
			var row int32
			fmt.Sscan(word, &row)
			rows = append(rows, row)
		}
		part := whole.Select(rows)
		var got []string
		for i, row := range rows {
			e, was := part.Event(i), whole.Event(int(row))
			parent := "-"
			if p, ok := e.Parent(); ok {
				parent = p.Name()
			}
			got = append(got, e.Name()+"<"+parent)
			if describeEvent(part, e) != describeEvent(whole, was) {
				t.Errorf("rows %q: got %s, want %s", test.rows, describeEvent(part, e), describeEvent(whole, was))
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("rows %q: %v, want %s", test.rows, got, test.want)
		}
		checkTracks(t, part)
	}
}

// describeEvent is everything that an event says but its parent and arguments.
func describeEvent(tr *trace.Trace, e trace.Event) string {
	track := e.Track()
	return fmt.Sprint(e.Name(), e.Start(), e.Dur(), tr.CatName(e.Cat()), e.Phase(), e.Corr(), e.External(),
		track.PID, track.TID, track.ProcessName)
}

// checkTracks holds what is true of the tracks of every trace.
func checkTracks(t *testing.T, tr *trace.Trace) {
	t.Helper()
	rows := 0
	for id, track := range tr.Tracks() {
		for i := track.First; i < track.First+track.N; i++ {
			if tr.Columns().Track[i] != trace.TrackID(id) {
				t.Errorf("row %d is not on track %d", i, id)
			}
		}
		rows += track.N
	}
	if rows != tr.Len() {
		t.Errorf("%d rows on tracks, %d in all", rows, tr.Len())
	}
}

// Nothing of the rows that were left out stays, what is said of the whole does.
func TestSelectLetsGo(t *testing.T) {
	whole := readText(t, selectSource)
	part := whole.Select([]int32{2})
	var texts []string
	for id := range part.NumStrings() {
		texts = append(texts, part.String(trace.StringID(id)))
	}
	if want := []string{"", "inner"}; !slices.Equal(texts, want) || len(part.Event(0).Args()) > 0 {
		t.Errorf("strings %q, want %q; arguments %v", texts, want, part.Event(0).Args())
	}
	if len(part.Tracks()) != len(whole.Tracks()) || part.Meta().Format != whole.Meta().Format {
		t.Error("tracks or meta are lost")
	}
}

func readText(t *testing.T, source string) *trace.Trace {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
