package event

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/template"
)

// told is everything that a trace says of its events, and its problems.
func told(tr *trace.Trace) string {
	var s strings.Builder
	for i := range tr.Len() {
		e := tr.Event(i)
		fmt.Fprintf(&s, "%c %s %q %s/%s %d+%d %d %d", e.Phase(), tr.CatName(e.Cat()), e.Name(), e.Track().PID,
			e.Track().TID,
			e.Start(), e.Dur(), e.Corr(), e.External())
		for _, a := range e.Args() {
			fmt.Fprintf(&s, " %s=%d:%s", tr.KeyName(a.Key), a.Kind, e.TextOf(a))
		}
		s.WriteByte('\n')
	}
	for _, p := range tr.Problems() {
		fmt.Fprintf(&s, "%s %d@%d %s\n", p.Code, p.Count, p.Offset, p.Detail)
	}
	return s.String()
}

// sameByRules reads text by what is learned of it and by the rules alone, and wants the same.
func sameByRules(t *testing.T, text string, o Options) (r *Reader, got string) {
	t.Helper()
	r, tr := readEventsBy(t, text, o)
	got = told(tr)
	o.RulesOnly = true
	if _, plain := readEventsBy(t, text, o); told(plain) != got {
		t.Fatalf("%.3000s\nis read as\n%.3000s\nby the rules as\n%.3000s", text, got, told(plain))
	}
	return r, got
}

// generatedList is the event list of a synthetic trace.
func generatedList(t *testing.T, shape tracegen.Shape, size int64) string {
	t.Helper()
	var b bytes.Buffer
	if err := tracegen.Write(&b, tracegen.Options{Shape: shape, Size: size, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(b.String(), `"traceEvents"`)
	return list[strings.Index(list, "[")+1:strings.LastIndex(list, "]")] + ",{}"
}

// TestMostIsRecalled: of traces as they are written only the first few events of a kind are
// read by the rules, and only values that are new. What is allowed here is what it takes
// today; whoever needs more makes reading slow, which no result tells.
func TestMostIsRecalled(t *testing.T) {
	for _, c := range []struct {
		shape           tracegen.Shape
		events, byRules int64
		most            slow
	}{
		{tracegen.AsIs, 1028, 31, slow{lessons: 148, reads: 1016, scans: 59, gaps: 2}},
		{tracegen.Stacks, 1028, 31, slow{lessons: 150, reads: 1256, scans: 59, gaps: 2}},
		{tracegen.Compact, 1538, 31, slow{lessons: 148, reads: 1475, scans: 58, gaps: 2}},
		{tracegen.Indented, 1028, 31, slow{lessons: 148, reads: 1028, scans: 70, gaps: 2}},
		{tracegen.Names, 1028, 31, slow{lessons: 148, reads: 2027, scans: 1128, gaps: 2}},
		{tracegen.Shuffled, 1028, 53, slow{lessons: 249, reads: 1075, scans: 59, gaps: 2}},
	} {
		r, _ := sameByRules(t, generatedList(t, c.shape, 300_000), Options{})
		if r.Counts.Events != c.events || r.Counts.ByRules > c.byRules || r.Counts.ByRules == 0 ||
			r.Counts.Others != 0 {
			t.Errorf("%s: %+v, of %d events %d by the rules are enough", c.shape, r.Counts, c.events, c.byRules)
		}
		got := r.learned.slow
		if got.lessons > c.most.lessons || got.reads > c.most.reads || got.scans > c.most.scans ||
			got.gaps > c.most.gaps {
			t.Errorf("%s: %+v, %+v are enough", c.shape, got, c.most)
		}
		if got.lessons == 0 || got.reads == 0 || got.scans == 0 || got.gaps == 0 {
			t.Errorf("%s: %+v, and something must be read for the first time", c.shape, got)
		}
	}
}

// layouts are events that differ in all of their bytes but the values, in which %d stands for
// a number that varies.
var layouts = []string{
	`{"ph":"X","cat":"cpu_op","name":"n%d","pid":1,"tid":2,"ts":%d.000,"dur":3}`,
	`{"ph": "X", "cat": "kernel", "name": "n%d", "pid":0, "tid":7, "ts": %d.500, "dur": 0.250,"args": {"device": 0}}`,
	`{"name":"n%d","ts":%d,"ph":"i","s":"t","pid":"main","tid":"loop"}`,
	`{"ts":%d.25,"name":"n%d","ph":"i","pid":2}`,
	`{"ph":"s","id":%d,"pid":1,"tid":2,"ts":%d.125,"cat":"ac2g","name":"ac2g"}`,
	`{ "ph":"f","id":%d,"pid":0,"tid":7,"ts":%d.125,"cat":"ac2g","name":"ac2g","bp":"e"}`,
	`{"pid":1,"tid":3,"ph":"X","name":"n%d","ts":%d.001,"dur":0,"args":{"correlation":%[1]d,"External id":%[2]d}}`,
	`{"tid":4,"pid":1,"ph":"X","name":"n%d","ts":%d.001,"dur":7,"args":{"Input Dims":[[%[1]d, 2], []],"Ev Idx":%[2]d}}`,
	`{"cat":"mine,too","ph":"X","name":"n%d","pid":1,"tid":2,"ts":%d.000,"dur":12.5}`,
	`{"args":{"dtype":"float","bytes":%d},"ph":"X","name":"a","pid":1,"tid":2,"ts":%d.000,"dur":3}`,
	`{"odd":[%d],"ph":"X","name":"b","pid":1,"tid":2,"ts":%d.000,"dur":3}`,
	`{"dur":%d.000,"ts":%d.000,"ph":"X","name":"c","tid":9,"pid":9}`,
	`{"bp":"e","ph":"X","name":"d%d","pid":1,"tid":2,"ts":%d.000}`,
	`{"id":%d,"ts":%d.000,"ph":"X","name":"e","pid":1,"tid":2,"dur":1,"args":{}}`,
}

// rounds is the layouts one after another, so many times.
func rounds(n int, which []string) string {
	var s strings.Builder
	for round := range n {
		for k, layout := range which {
			fmt.Fprintf(&s, layout+",", 10+round%7, 1000+round*len(which)+k)
			if strings.Count(layout, "%")-strings.Count(layout, "%%") < 2 {
				panic(layout)
			}
		}
	}
	return s.String() + "{}" + strings.Repeat(" ", 40)
}

// TestTurns: events of more layouts than may begin alike, in turn, are known by the one before
// them.
func TestTurns(t *testing.T) {
	const turns = 40
	r, _ := sameByRules(t, rounds(turns, layouts), Options{})
	most := int64(3*len(layouts)) + turns*int64(byRules(layouts)) // the third round follows a known one
	if r.Counts.Events != turns*int64(len(layouts)) || r.Counts.ByRules > most {
		t.Errorf("%+v: %d by the rules are enough", r.Counts, most)
	}
	sameByRules(t, rounds(5, layouts), Options{KeepArgs: true})
}

// byRules is how many of some layouts have a time with other than three decimals.
func byRules(which []string) (n int) {
	for _, layout := range which {
		if strings.Contains(layout, ".25,") || strings.Contains(layout, "12.5}") {
			n++
		}
	}
	return n
}

// TestEachLayout: an event is read the same whether it was seen before or not.
func TestEachLayout(t *testing.T) {
	for _, layout := range layouts {
		r, _ := sameByRules(t, rounds(9, []string{layout}), Options{KeepArgs: true})
		if most := int64(3 + 9*byRules([]string{layout})); r.Counts.ByRules > most {
			t.Errorf("%s: %+v", layout, r.Counts)
		}
	}
}

// TestKeysTwice: a key that stands twice is told, and the last one counts, also where all but
// the second one was seen before.
func TestKeysTwice(t *testing.T) {
	const plain = `{"ph":"X","cat":"cpu_op","id":3,"name":"n","pid":1,"tid":2,"ts":5.000,"dur":3.000,` +
		`"args":{"bytes":1,"stream":7,"q":1}}`
	for key, values := range map[string]string{
		"ph": `"i"`, "cat": `"kernel"`, "id": `4`, "name": `"other"`, "pid": `8`, "tid": `9`,
		"ts": `6.000`, "dur": `4.000`, "args": `{"bytes":2}`, "id2": `5`,
	} {
		member := `"` + key + `":` + values
		for _, twice := range []string{
			plain[:len(plain)-1] + "," + member + "}",
			"{" + member + "," + plain[1:],
			strings.Replace(plain, `"name"`, member+`,"name"`, 1),
		} {
			text := strings.Repeat(plain+",", 3) + twice + "," + plain + "," + twice + "," + plain
			_, got := sameByRules(t, text, Options{})
			if !strings.Contains(got, "duplicate_key 2@") || strings.Count(got, "\n") != 8 {
				t.Errorf("%s:\n%s", twice, got)
			}
		}
	}
	for _, arg := range []string{`"bytes":3`, `"stream":8`, `"q":2`} {
		twice := strings.Replace(plain, `}}`, ","+arg+"}}", 1)
		_, got := sameByRules(t, strings.Repeat(plain+",", 3)+twice+","+plain+","+twice, Options{KeepArgs: true})
		if !strings.Contains(got, "duplicate_key 2@") {
			t.Errorf("%s:\n%s", twice, got)
		}
	}
}

// TestWhatIsRemembered: lists, and texts that somebody asks for; neither numbers, nor what
// nobody asks for, nor what is damaged.
func TestWhatIsRemembered(t *testing.T) {
	for _, c := range []struct {
		args string
		keep bool
		want int
	}{
		{`"bytes":1.5,"stream":2.5,"q":1e9,"dtype":null,"Seq":true`, true, 0},
		{`"q":"text","r":"another"`, false, 0},
		{`"q":"text","dtype":"float"`, false, 1},
		{`"q":"text","dtype":"float"`, true, 2},
		{`"q":[1],"r":{"a":1},"Input Dims":[2]`, false, 3},
		{`"":"x"`, true, 0},
		{`"Input Dims":[1,NaN],"q":[NaN],"dtype":"a` + "\n" + `b"`, true, 0},
	} {
		event := `{"ph":"X","name":"n","pid":1,"tid":2,"ts":5.000,"dur":3.000,"args":{` + c.args + `}}`
		text := strings.Repeat(event+",", 5) + event
		r, _ := sameByRules(t, text, Options{KeepArgs: c.keep})
		if got := r.learned.values.Len(); got != c.want {
			t.Errorf("%s: %d values are remembered, want %d", c.args, got, c.want)
		}
	}
}

// TestWindowIsTold: the profiler's own window is told of each time, however often it repeats.
func TestWindowIsTold(t *testing.T) {
	var spans [][2]int64
	o := Options{Window: func(start, end int64) { spans = append(spans, [2]int64{start, end}) }}
	var text strings.Builder
	for i := range 6 {
		const span = `{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"p","ts":%d.000,`
		fmt.Fprintf(&text, span+`"dur":2.000},`, i)
		fmt.Fprintf(&text, `{"ph":"i","cat":"Trace","name":"Iteration Start","pid":"Traces","tid":"t","ts":%d.000},`, i)
	}
	readEventsBy(t, text.String()+"{}", o)
	if len(spans) != 6 || spans[5] != [2]int64{5000, 7000} {
		t.Errorf("%d spans: %v", len(spans), spans)
	}
}

// TestNeverPlain: names of processes and threads, events without a time and entries that are
// none are what they are however often they repeat.
func TestNeverPlain(t *testing.T) {
	const plain = `{"ph":"X","name":"n","pid":1,"tid":2,"ts":5.000,"dur":3.000}`
	for _, c := range []struct{ event, want string }{
		{`{"ph":"M","name":"thread_name","pid":1,"tid":2,"ts":0.000,"args":{"name":"main"}}`, ""},
		{`{"ph":"X","name":"n","pid":1,"tid":2}`, "event_without_time 5@"},
		{`{"ph":"X","name":"n","pid":1,"tid":2,"ts":null}`, "event_without_time 5@"},
		{`{"name":"n","pid":1,"tid":2,"ts":1.000}`, "not_an_event 5@"},
		{`{"ph":"X","name":"n","pid":1,"tid":2,"ts":1.000,"dur":-4.000}`, "negative_duration 5@"},
		{`{"ph":"X","name":"n","pid":1,"tid":2,"ts":1.000}`, "missing_duration 5@"},
		{`{"ph":"X","name":"n","pid":1,"tid":2,"ts":1.000,"dur":NaN}`, "non_finite_number 5@"},
	} {
		_, got := sameByRules(t, strings.Repeat(c.event+","+plain+",", 5)+"{}", Options{})
		if strings.Count(got, "X  \"n\" 1/2 5000+3000 0 0\n") != 5 || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n%s", c.event, got)
		}
	}
	const named = `{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"main"}},`
	r, tr := readEvents(t, strings.Repeat(named, 3)+plain)
	if track := tr.Event(0).Track(); track.ThreadName != "main" || r.Counts.Events != 4 {
		t.Errorf("%+v, %+v", track, r.Counts)
	}
}

// TestLongStretches: a stretch of more bytes than a field holds is read by the rules each time,
// one of as many is learned.
func TestLongStretches(t *testing.T) {
	const before, behind = `{"name":"n","cat":"`, `","ph":"X","ts":`
	for n, want := range map[int]int64{-1: 3, 0: 3, 1: 10} {
		fill := strings.Repeat("c", template.MaxField-len(`,"cat":"`)-len(behind)+n)
		r, _ := sameByRules(t, strings.Repeat(before+fill+behind+`5.000},`, 9)+"{}", Options{})
		if r.Counts.ByRules != want {
			t.Errorf("%d bytes more: %+v", n, r.Counts)
		}
	}
}

// TestArgsTwice: of arguments that stand twice the last ones count, whole.
func TestArgsTwice(t *testing.T) {
	const event = `{"ph":"X","name":"n","ts":5.000,"dur":3.000,"args":{"bytes":1,"stream":7,"correlation":4,` +
		`"External id":5},` +
		`"args":{"bytes":2,"dtype":"float"}},`
	_, got := sameByRules(t, strings.Repeat(event, 3)+"{}", Options{})
	want := strings.Repeat("X  \"n\" / 5000+3000 0 0 bytes=0:2 dtype=1:float\n", 3) + "duplicate_key 3@"
	if !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// TestWhatIsLearned: nothing where there is nothing to learn from: by the rules alone, of an entry
// that was repaired, and behind a stretch that is not learned itself. Keys with escapes are.
func TestWhatIsLearned(t *testing.T) {
	const plain = `{"ph":"X","name":"n","pid":1,"tid":2,"ts":5.000,"dur":3.000,"args":{"stream":7,"bytes":3}},`
	tooLong := strings.Replace(plain, `"X"`, `"X","cat":"`+strings.Repeat("c", template.MaxField)+`"`, 1)
	for _, c := range []struct {
		text   string
		o      Options
		fields int
	}{
		{strings.Repeat(plain, 5), Options{}, 5},
		{strings.Repeat(plain, 5), Options{RulesOnly: true}, 0},
		{strings.Repeat(strings.Replace(plain, "},", ",},", 1), 5), Options{}, 4}, // up to the damage
		{strings.Repeat(tooLong, 5), Options{}, 0},
		{strings.Repeat(strings.ReplaceAll(plain, "a", `\u0061`), 5), Options{}, 5},
	} {
		r, _ := readEventsBy(t, c.text+"7", c.o)
		if got := r.learned.fields.Len(); got != c.fields {
			t.Errorf("%.100s: %d fields, want %d", c.text, got, c.fields)
		}
		sameByRules(t, c.text+"7", Options{})
	}
}
