package trace

import (
	"fmt"
	"strings"
	"testing"
)

// addSome adds the rows from i to before n, with names and arguments that come back
// and such that do not, to b.
func addSome(b *Builder, i, n int) {
	text := func(format string, v int) StringID { return b.Intern(fmt.Appendf(nil, format, v)) }
	for ; i < n; i++ {
		pid, key := text("%d", i%3), b.Key(fmt.Appendf(nil, "key%d", i%5))
		track := b.Track(pid, text("t%d", i%7))
		args := []Arg{{Key: KeyStream, Num: int64(i % 2)}, {Key: key, Kind: Text, Str: text("v%d", i%11)}}
		b.Add(&Row{
			Start: int64(i), Dur: int64(i%4 - 1), Offset: int64(10 * i), Phase: Complete, Track: track,
			Name: text("name%d", i/2), Cat: b.Cat(fmt.Appendf(nil, "cat%d", i%6)),
			Corr: int64(i), External: int64(2 * i), Args: args[:i%3],
		})
		switch i % 13 {
		case 3:
			b.NameThread(track, fmt.Sprint("thread", i))
			b.SortThread(track, int64(i))
		case 5:
			b.NameProcess(pid, fmt.Sprint("process", i))
			b.TagProcess(pid, fmt.Sprint("tags", i))
			b.SortProcess(pid, int64(i))
		}
	}
}

// tell is everything that a Trace says of its rows, tracks and problems.
func tell(t *Trace) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%+v\n%+v\n", t.Tracks(), t.Problems())
	for i := range t.Len() {
		e := t.Event(i)
		fmt.Fprintln(&s, e.Start(), e.Dur(), e.Name(), t.CatName(e.Cat()), e.Track().TID, e.Corr(), e.External())
		for _, a := range e.Args() {
			fmt.Fprintf(&s, " %s=%s\n", t.KeyName(a.Key), e.ArgText(a.Key))
		}
	}
	return s.String()
}

// TestAppend: rows that two others made, part by part, are those that one makes.
func TestAppend(t *testing.T) {
	const rows, part = 20_000, 900 // more arguments than a chunk holds
	one, all := NewBuilder(), NewBuilder()
	addSome(one, 0, rows)
	hands := []*Builder{NewPartBuilder(), NewPartBuilder()}
	var p Part
	for i, k := 0, 0; i < rows; i, k = i+part, k+1 {
		hand := hands[k%2]
		if k%5 == 4 { // lost: what it knows stays in the hand
			addSome(hand, 7*i, 7*i+part)
			hand.Cut(&p)
		}
		addSome(hand, i, min(i+part, rows))
		hand.Cut(&p)
		all.Append(&p)
	}
	if all.Full() {
		t.Error("the tables are full")
	}
	if got, want := tell(all.Build()), tell(one.Build()); got != want {
		t.Errorf("got %.500s\nwant %.500s", got, want)
	}
}
