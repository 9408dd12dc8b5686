package drawing

import (
	"fmt"
	"strings"
	"testing"
)

// A span is named after its longest piece, cut to the window; phases and the ledger have no names, nor has
// the exposed part, which is drawn on what it is a part of.
func TestNames(t *testing.T) {
	long := strings.Repeat("é", 60)
	_, drawn := draw(t, streamsOfStep+`
0/7 1000 +100 kernel first corr=1
0/7 1101 +500 kernel second corr=2
0/7 1602 +90 kernel third corr=3
0/20 30000 +900 kernel ncclDevKernel_ReduceScatter_`+long+` corr=3
0/7 40000 +1000 kernel first corr=4`)
	got := ""
	for _, s := range drawn.Strips {
		if s.Names != nil {
			got += fmt.Sprintf("%s %s %d spans %v\n", s.Row, s.Class, len(s.Spans), s.Names)
		}
	}
	got += strings.Join(drawn.Names, "\n")
	want := "stream 7 compute 2 spans [3 1]\nstream 20 reduce_scatter 1 spans [2]\n" +
		"first\nncclDevKernel_ReduceScatter_" + strings.Repeat("é", 26) + "...\nsecond"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Names beyond the most are those that take least time; equal ones stand by name.
func TestMostNames(t *testing.T) {
	source := streamsOfStep
	for i := range mostNames + 2 {
		source += fmt.Sprintf("\n0/7 %d +%d kernel k%03d corr=2", 1000*(i+1), 500-i, i)
	}
	_, drawn := draw(t, source)
	if n := len(drawn.Names); n != mostNames || drawn.Names[0] != "k000" || drawn.Names[n-1] != "k062" {
		t.Fatalf("%d names: %v", n, drawn.Names)
	}
	for _, s := range drawn.Strips {
		if n := len(s.Names); n > 0 && (s.Names[0] != 1 || s.Names[n-1] != 0 || n != len(s.Spans)) {
			t.Errorf("%s: %v of %d spans", s.Row, s.Names, len(s.Spans))
		}
	}
}
