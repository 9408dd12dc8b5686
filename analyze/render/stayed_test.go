package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/compare"
)

// TestStayedPlaces: a sentence names few of the places that launch as before, whatever a report
// holds, and only what is of the kind that moved.
func TestStayedPlaces(t *testing.T) {
	place := func(i int) compare.Place { return compare.Place{Site: "annotation", Name: fmt.Sprint("p", i)} }
	d := &compare.Diff{Moves: []compare.Move{
		{Collective: "all_reduce", From: place(1), To: place(2), Base: 1, New: 1},
		{Collective: "all_reduce", From: place(3), To: place(4), Base: 1, New: 1},
		{Collective: "all_gather", From: place(5), To: place(5), New: 7},
	}}
	for i := range 20 {
		d.Moves = append(d.Moves, compare.Move{Collective: "all_reduce", From: place(i), To: place(i), New: 2})
	}
	list := moveSentences(d)
	if len(list) != 2 || strings.Contains(list[1].text, "stayed") || strings.Contains(list[0].text, "7 ") ||
		strings.Count(list[0].text, " stayed in ") != 16 ||
		!strings.HasSuffix(list[0].text, "; and those of 4 more places stayed") {
		t.Errorf("%q", list)
	}
}
