package event

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

const (
	one     = `{"ph":"X","name":"a","pid":1,"tid":2,"ts":1.000,"dur":2.000}`
	another = `{"ph":"X","name":"b","pid":1,"tid":2,"ts":3.000,"dur":1.000}`
	oneRow  = "X  \"a\" 1/2 1000+2000 0 0\n"
)

// long is an event of so many bytes.
func long(n int) string {
	return `{"ph":"X","pid":1,"tid":2,"ts":5.000,"dur":1.000,"q":"` + strings.Repeat("x", n) + `","name":"long"}`
}

// TestLongEvents: an event of more bytes than a window holds is read once, wherever it begins, by
// each of those who read events; one beyond their reach is left.
func TestLongEvents(t *testing.T) {
	event := long(2 * input.WindowSize)
	for _, before := range []int{0, 7, input.WindowSize - 100} {
		text := strings.Repeat(" ", before) + event + "," + one
		end := int64(before + len(event))

		r, to := begun(text, Options{})
		next := r.Strict(before)
		if next < 0 || r.At(next) != end || r.Counts.Events != 1 || to.Len() != 1 {
			t.Errorf("strict: to %d of %d, %+v", r.At(next), end, r.Counts)
		}
		got := told(to.Build())
		if !strings.HasPrefix(got, "X  \"long\" 1/2 5000+1000") || strings.Count(got, "\n") != 1 {
			t.Errorf("strict: %s", got)
		}

		r, to = begun(text, Options{})
		start, next, ok := r.Entry(before)
		if !ok || r.At(start) != int64(before) || r.At(next) != end || r.Counts.Events != 1 || to.Len() != 1 {
			t.Errorf("entry: %d to %d of %d, %v", r.At(start), r.At(next), end, ok)
		}

		r, to = begun(text, Options{})
		found, at, stop := r.Try(before)
		if !found || r.At(at) != int64(before) || r.At(stop) != end || to.Len() != 0 || r.Counts.Events != 0 {
			t.Errorf("try: %v from %d to %d of %d", found, r.At(at), r.At(stop), end)
		}

		r, _ = begun(text, Options{})
		r.Reach = input.WindowSize
		if next := r.Strict(before); next >= 0 {
			t.Errorf("beyond its reach it is read to %d", r.At(next))
		}
	}
}

// TestStrictBreaks: what breaks a rule is left with the place where it does, and nothing is
// added.
func TestStrictBreaks(t *testing.T) {
	r, to := begun(`{"ph":"X","ts":1,"dur":!}`+strings.Repeat(" ", 2*token.Lookahead), Options{})
	if next := r.Strict(0); next != ^23 || to.Len() != 0 || r.Counts.Events != 0 {
		t.Errorf("%d, %d rows", next, to.Len())
	}
}

// TestCarefulOnce: the careful rules are for the entry that needs them; what follows is read by
// the strict ones, and recalled.
func TestCarefulOnce(t *testing.T) {
	broken := `{"ph":"X","name":"f("x")","pid":1,"tid":2,"ts":1.000,"dur":2.000}`
	list := `{"ph":"X","name":"l","pid":1,"tid":2,"ts":1.000,"dur":2.000,"args":{"Input Dims":[1, 2]}},`
	for _, entry := range []string{broken, one, `{"ph":!}`, "7", "nul"} {
		r, _ := begun(entry+","+one, Options{})
		_, _, _ = r.Entry(0)
		if r.Mode != token.Strict || len(r.Notes) > 0 {
			t.Errorf("after %s: mode %d, %d notes", entry, r.Mode, len(r.Notes))
		}
	}
	r, tr := readEvents(t, list+list+broken+","+strings.Repeat(list, 5)+"{}")
	if got := told(tr); r.Counts.ByRules > 4 || !strings.Contains(got, "unescaped_quote 2@") {
		t.Errorf("%+v\n%s", r.Counts, got)
	}
	if r.learned.slow.scans > 2 {
		t.Errorf("%+v", r.learned.slow)
	}
}

// TestEntryBroken: where neither rules will do the entry is left with the place of the damage.
func TestEntryBroken(t *testing.T) {
	for _, c := range []struct {
		text string
		next int
	}{{`{"ph":"X","ts":!}`, 15}, {`!`, 0}, {`[1,!]`, 3}} {
		r, to := begun(c.text+strings.Repeat(" ", token.Lookahead), Options{})
		start, next, ok := r.Entry(0)
		if ok || start != 0 || next != c.next || to.Len() != 0 || r.Counts != (Counts{}) {
			t.Errorf("%s: %d to %d, %v, %+v", c.text, start, next, ok, r.Counts)
		}
	}
}

// TestOthers: what is no event is counted, but not the empty object that some writers end with.
func TestOthers(t *testing.T) {
	for text, want := range map[string]Counts{
		"{}":                               {ByRules: 1},
		"{ \n}":                            {ByRules: 1},
		`{"a":1}`:                          {Others: 1, ByRules: 1},
		"7":                                {Others: 1, ByRules: 1},
		"[]":                               {Others: 1, ByRules: 1},
		`{"ph":""}`:                        {Others: 1, ByRules: 1},
		`{"ph":"M"}`:                       {Events: 1, ByRules: 1},
		`{"ph":"X"}`:                       {Events: 1, ByRules: 1},
		`{"ph":"XX"}`:                      {Others: 1, ByRules: 1},
		`{"ph":"\u0058","cat":"kernel"}`:   {Events: 1, ByRules: 1, Kineto: true},
		`{"ph":"X","cat":"mine","ts":1.0}`: {Events: 1, ByRules: 1},
	} {
		r, _ := begun(text, Options{})
		if _, next, ok := r.Entry(0); !ok || next != len(text) || r.Counts != want {
			t.Errorf("%s: to %d, %v, %+v", text, next, ok, r.Counts)
		}
	}
}

// TestCounts: those of a list are the sums of those of its stretches.
func TestCounts(t *testing.T) {
	sum := Counts{Events: 1, Others: 2, ByRules: 3}
	sum.Add(Counts{Events: 10, Others: 20, ByRules: 30, Kineto: true})
	sum.Add(Counts{Events: 100, Others: 200, ByRules: 300})
	if sum != (Counts{111, 222, 333, true}) {
		t.Errorf("%+v", sum)
	}
}

// TestTry: only a whole event with a phase and a time is found; nothing is added or noted.
func TestTry(t *testing.T) {
	for _, c := range []struct {
		text  string
		found bool
		end   int
	}{
		{one, true, len(one)},
		{`{"ph":"i","ts":0}`, true, 17},
		{`{"ph":"M"}`, true, 10},
		{`{"ph":"X"}`, false, 10},
		{`{"ts":1}`, false, 8},
		{`{"ph":"X","ts":null}`, false, 20},
		{`{}`, false, 0},
		{`{ 7}`, false, 0},
		{`{"ph":"X","ts":1,!`, false, 17},
		{`{"ph":"X","ts":1e99,"ph":"i"}`, false, 29},
		{"{ \"ph\":\"i\",\"ts\":1}", true, 18},
	} {
		r, to := begun(c.text+strings.Repeat(" ", 3*token.Lookahead), Options{})
		found, at, end := r.Try(0)
		if found != c.found || at != 0 || end != c.end || to.Len() != 0 || len(r.Notes) > 0 ||
			len(to.Build().Problems()) > 0 {
			t.Errorf("%s: %v from %d to %d, %d notes", c.text, found, at, end, len(r.Notes))
		}
	}
}

// TestStops: the loop stops before an event at the limit or behind it, before one that is not
// plain, and where no other one follows.
func TestStops(t *testing.T) {
	n := len(one) + 1
	plain := strings.Repeat(one+",", 6)
	for _, c := range []struct {
		text  string
		limit int
		next  int
		at    Stop
	}{
		{plain + one + "]", math.MaxInt32, 7*n - 1, Behind},
		{plain + one + " \n", math.MaxInt32, 7*n + 1, Behind},
		{plain + "]", math.MaxInt32, 6 * n, AtComma},
		{plain + `{"a":1}`, math.MaxInt32, 6 * n, AtEvent},
		{plain + "  " + one, math.MaxInt32, 7*n + 1, Behind},
		{plain + one, 5*n + 1, 6 * n, AtComma},
		{plain + one, 5 * n, 5 * n, AtComma},
		{plain + one, 5*n - 1, 5 * n, AtComma},
		{plain + " " + one, 6*n + 1, 6*n + 1, AtComma},
		{plain + " " + one, 6*n + 2, 7 * n, Behind},
	} {
		r, _ := begun(c.text, Options{})
		_, i, _ := r.Entry(0)
		next, at := r.Repeats(i+1, int64(c.limit))
		if at == AtEvent && next == n { // known from the second one on
			_, i, _ = r.Entry(next)
			next, at = r.Repeats(i+1, int64(c.limit))
		}
		if next != c.next || at != c.at {
			t.Errorf("...%s to %d: at %d, %d, want %d, %d", c.text[len(plain):], c.limit, next, at, c.next, c.at)
		}
	}
}

// TestRoomIsLeft: before an event that may not be whole in the window the loop stops.
func TestRoomIsLeft(t *testing.T) {
	text := strings.Repeat(one+",", 2*input.WindowSize/len(one))
	r, _ := begun(text, Options{})
	_, i, _ := r.Entry(0)
	next, at := r.Repeats(i+1, math.MaxInt64)
	if at == AtEvent {
		_, i, _ = r.Entry(next)
		next, at = r.Repeats(i+1, math.MaxInt64)
	}
	if at != AtComma || r.N-next >= Room || r.N-next < Room-len(one)-1 || r.Buf[next] != '{' {
		t.Errorf("stops at %d with %d bytes left: %d", next, r.N-next, at)
	}
}

// TestCut: each part has the rows, the counts and the problems since the last cut, and the same
// of arguments and names; put together they are the whole.
func TestCut(t *testing.T) {
	text := rounds(12, layouts)
	_, whole := readEvents(t, text)
	to := trace.NewBuilder()
	r, _ := begun(text, Options{})
	r.Begin(trace.NewPartBuilder(), Options{})
	var part trace.Part
	var counts Counts
	broken := 0
	for i := 0; r.Buf[i] == '{'; {
		next, at := r.Repeats(i, r.At(i)+500)
		if i = next; at == AtEvent {
			_, i, _ = r.Entry(next)
		}
		if i < r.N && r.Buf[i] == ',' {
			i++
		}
		r.Notes = append(r.Notes, token.Note{Code: trace.BrokenEvent, At: -1})
		r.Flush(r.ev.row.Name)
		some := r.Cut(&part)
		if r.Counts != (Counts{}) || some.Events != int64(part.Len()) {
			t.Fatalf("%+v left, %+v of %d rows", r.Counts, some, part.Len())
		}
		counts.Add(some)
		to.Append(&part)
		broken++
	}
	got := told(to.Build())
	if want := told(whole); !strings.HasPrefix(got, want[:strings.LastIndex(want, " 0\n")]) ||
		counts.Events != int64(whole.Len()) {
		t.Errorf("%+v\n%.2000s\nwant\n%.2000s", counts, got, want)
	}
	if !strings.Contains(got, fmt.Sprintf("broken_event %d@-1 ", broken)) {
		t.Errorf("not %d problems", broken)
	}
}

// TestFirstIsNamed: the first problem of a kind names its event, cut to what a line holds.
func TestFirstIsNamed(t *testing.T) {
	for name, want := range map[string]string{
		"short": "short", strings.Repeat("xy", 60): strings.Repeat("xy", 40),
		strings.Repeat("é", 60):       strings.Repeat("é", 40),
		"x" + strings.Repeat("é", 60): "x" + strings.Repeat("é", 39),
	} {
		event := `{"ph":"i","name":"` + name + `","ts":1.000,"q":NaN},`
		_, tr := readEvents(t, event+strings.Replace(event, name, "another", 1)+"{}")
		if p := tr.Problems(); len(p) != 1 || p[0].Count != 2 || p[0].Detail != want {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// heap is how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBytes: what a reader is said to take is about what it takes, of fields, values and names.
func TestBytes(t *testing.T) {
	for what, event := range map[string]string{
		"fields": `{"ph":"X","name":"n","pid":1,"tid":1,"ts":1.000,"dur":1.000,"args":{"a key of its own %d":1}},`,
		"values": `{"ph":"X","name":"n","pid":1,"tid":1,"ts":1.000,"dur":1.000,"args":{"q":[%[1]d, %[1]d, 100000]}},`,
		"names":  `{"ph":"X","name":"%d is the name of an operator","pid":1,"tid":1,"ts":1.000,"dur":1.000},`,
	} {
		var text strings.Builder
		for i := range 4000 {
			fmt.Fprintf(&text, event, i%1500+i/3000)
		}
		r, to := begun(text.String()+text.String()+"{}", Options{})
		if r.Bytes() != int64(len(r.Buf))*3/2 {
			t.Errorf("a reader that knows nothing takes %d bytes", r.Bytes())
		}
		before, said := heap(), r.Bytes()+to.Bytes()
		for i := 0; i < r.N; {
			if r.N-i < Room && !r.EOF {
				r.Slide(i)
				i = 0
			}
			next, at := r.Repeats(i, math.MaxInt64)
			if i = next; at == AtEvent {
				_, i, _ = r.Entry(next)
			}
			if r.Buf[i] == ',' {
				i++
			}
		}
		took, told := heap()-before, r.Bytes()+to.Bytes()-said
		if told < took*2/3 || told > took*3/2 {
			t.Errorf("%s: %d bytes are said to be %d: %d fields, %d values, %d names", what, took, told,
				r.learned.fields.Len(), r.learned.values.Len(), r.learned.names.Len())
		}
		runtime.KeepAlive(r)
		runtime.KeepAlive(to)
	}
}
