package gradients

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

// TestEachStepped: each row within spans of optimizers is visited once, for the innermost
// that has a name, however they overlap.
func TestEachStepped(t *testing.T) {
	for _, c := range []struct {
		what string
		text string
		want string
	}{
		{"one", stepSpan("10us +90us", "A") + "1/1 5us +1us cpu_op before\n1/1 20us +1us cpu_op x\n" +
			"1/1 100us +1us cpu_op behind\n", "x:A"},
		{"partly overlapping", stepSpan("10us +90us", "A") + stepSpan("90us +60us", "D") +
			stepSpan("95us +15us", "E") + "1/1 105us +1us cpu_op x\n1/1 120us +1us cpu_op y\n",
			"Optimizer.step#D.step:A Optimizer.step#E.step:D x:E y:D"},
		{"nested, without a name", stepSpan("10us +90us", "A") + stepSpan("20us +60us", "") +
			"1/1 30us +1us cpu_op x\n", "Optimizer.step#.step:A x:A"},
		{"without a name alone", stepSpan("20us +60us", "") + "1/1 30us +1us cpu_op x\n", ""},
		{"no length", stepSpan("20us +0us", "A") + "1/1 20us +0us cpu_op x\n", ""},
		{"two threads", stepSpan("10us +20us", "A") + "1/1 15us +1us cpu_op x\n1/2 15us +1us cpu_op y\n" +
			"1/2 20us +9us user_annotation Optimizer.step#B.step\n1/2 21us +1us cpu_op z\n", "x:A z:B"},
	} {
		tr, err := text.Read(strings.NewReader(c.text), "test")
		if err != nil {
			t.Fatal(c.what, err)
		}
		var tracks []trace.TrackID
		for id := range tr.Tracks() {
			tracks = append(tracks, trace.TrackID(id))
		}
		var got []string
		x := &timeline.Rank{Rows: timeline.New(tr).Rows, Host: tracks}
		eachStepped(x, func(row int32, optimizer string) { got = append(got, tr.Event(int(row)).Name()+":"+optimizer) })
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.what, strings.Join(got, " "), c.want)
		}
	}
}

// stepSpan is a span of an optimizer.
func stepSpan(when, name string) string {
	return "1/1 " + when + " user_annotation Optimizer.step#" + name + ".step\n"
}
