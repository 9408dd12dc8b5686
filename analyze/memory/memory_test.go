package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// rank reads the only rank of a trace in text form.
func rank(t *testing.T, source string) *timeline.Rank {
	t.Helper()
	tr, err := text.Read(strings.NewReader("1/1 0 +1 cpu_op aten::mm\n"+source), "test")
	if err != nil {
		t.Fatal(err)
	}
	return timeline.New(tr).Ranks[0]
}

// Two steps: forward, backward [100,200) and [300,400), then the update [450,500); and
// another with one backward pass over two forward passes, and its update.
var twoSteps = []Window{
	{Start: 0, End: 500, Update: steps.Interval{Start: 450, End: 500},
		Backwards: []gradients.Backward{{Start: 100, End: 200, Forwards: 1}, {Start: 300, End: 400, Forwards: 1}}},
	{Start: 500, End: 1000, Update: steps.Interval{Start: 900, End: 1000},
		Backwards: []gradients.Backward{{Start: 700, End: 800, Forwards: 2}}},
}

func show(list []Device) string {
	var b strings.Builder
	for i := range list {
		d := &list[i]
		fmt.Fprintf(&b, "%s %s %d events", d.Kind, d.Name, d.Events)
		if d.Relative {
			b.WriteString(" relative")
		}
		b.WriteString("\n")
		for _, p := range d.Peaks {
			fmt.Fprintf(&b, "%d: %d of %d at %d %s from %d, held %d of %d, most %d of %d\n", p.Window, p.Allocated,
				p.Reserved, p.At, p.Phase, p.Start, p.AtPeak.Bytes, p.AtPeak.Forwards, p.Most.Bytes, p.Most.Forwards)
		}
	}
	return b.String()
}

// line is a memory event of device 0: an instant, its bytes and address, and the totals
// after it, 0 for one that is not written.
func line(at, bytes, addr, allocated, reserved int) string {
	s := fmt.Sprintf("1/1 %d i cpu_instant_event [memory] size=%d devid=0 devtype=1", at, bytes)
	for _, a := range []struct {
		key   string
		value int
	}{{"addr", addr}, {"allocated", allocated}, {"reserved", reserved}} {
		if a.value != 0 {
			s += fmt.Sprintf(" %s=%d", a.key, a.value)
		}
	}
	return s + "\n"
}

func TestFind(t *testing.T) {
	const other = "cpu_instant_event [memory] devid=-1 devtype=0"
	for _, test := range []struct{ name, source, want string }{
		{"nothing", "", ""},
		{"events without amounts say nothing", "1/1 5 i cpu_instant_event [memory] devid=0 devtype=1 addr=9\n" +
			"1/1 6 i cpu_instant_event [memory] devid=0 devtype=1 size=x\n", ""},
		{"a span of that name is none", "1/1 5 +9 cpu_instant_event [memory] size=10 devid=0 devtype=1\n", ""},
		{
			"what was there before counts; activations are held until their backward pass",
			line(10, 100, 1, 1100, 4000) + line(50, 200, 2, 1300, 4000) + line(120, 50, 3, 1350, 5000) +
				line(150, -200, 2, 1150, 5000) + line(160, -100, 1, 1050, 5000) +
				line(210, 300, 2, 1350, 5000) + line(350, -300, 2, 1050, 5000) + line(460, 100, 9, 1150, 5000),
			`cuda 0 8 events
0: 1350 of 5000 at 120 backward from 1000, held 300 of 1, most 300 of 1
1: 1150 of 5000 at 500 forward from 1150, held 0 of 0, most 0 of 0
`,
		},
		{
			"two forward passes for one backward pass",
			line(510, 100, 1, 100, 500) + line(610, 110, 2, 210, 500) + line(650, 5, 3, 215, 500) +
				line(655, -5, 3, 210, 500) + line(710, 9, 4, 219, 500) + line(720, -110, 2, 109, 500) +
				line(730, -100, 1, 9, 500) + line(810, 300, 5, 309, 600) + line(820, -300, 5, 9, 600),
			`cuda 0 9 events
0: 0 of 500 at 0 forward from 0, held 0 of 0, most 0 of 0
1: 309 of 600 at 810 after_backward from 0, held 0 of 0, most 210 of 2
`,
		},
		{
			"what forward releases again, or a later step, is not held",
			line(10, 100, 1, 100, 0) + line(20, -100, 1, 0, 0) + line(30, 70, 2, 70, 0) + line(750, -70, 2, 0, 0) +
				line(110, 40, 4, 110, 0) + line(160, -40, 4, 70, 0),
			`cuda 0 6 events
0: 110 of -1 at 110 backward from 0, held 0 of 0, most 0 of 0
1: 70 of -1 at 500 forward from 70, held 0 of 0, most 0 of 0
`,
		},
		{
			"two releases to one allocation, an address given away twice, -1 and 0 for addresses",
			line(10, 100, 1, 100, 0) + line(20, 80, 1, 180, 0) + line(25, 10, -1, 190, 0) + line(26, 10, 0, 200, 0) +
				line(120, -80, 1, 120, 0) + line(130, -80, 1, 40, 0) + line(140, -10, -1, 30, 0),
			`cuda 0 7 events
0: 200 of -1 at 26 forward from 0, held 80 of 1, most 80 of 1
1: 30 of -1 at 500 forward from 30, held 0 of 0, most 0 of 0
`,
		},
		{
			"no totals: the lowest level is 0",
			line(10, 100, 0, 0, 0) + line(150, -400, 0, 0, 0) + line(600, 50, 0, 0, 0),
			`cuda 0 3 events relative
0: 400 of -1 at 10 forward from 300, held 0 of 0, most 0 of 0
1: 50 of -1 at 600 forward from 0, held 0 of 0, most 0 of 0
`,
		},
		{
			"a mapped file tells totals of its own",
			"1/1 5 i " + other + " size=30 allocated=130 reserved=0\n" +
				"1/1 6 i " + other + " size=1000 allocated=0 reserved=1000\n" +
				"1/1 7 i " + other + " size=20 allocated=150 reserved=0\n",
			`cpu cpu 3 events relative
0: 1130 of -1 at 6 forward from 100, held 0 of 0, most 0 of 0
1: 150 of -1 at 500 forward from 150, held 0 of 0, most 0 of 0
`,
		},
		{
			"totals in some events only, and starting over",
			line(10, 100, 0, 0, 0) + line(20, 10, 0, 1110, 0) + line(30, 5, 0, 0, 0) + line(600, 7, 0, 7, 0),
			`cuda 0 4 events
0: 1115 of -1 at 30 forward from 1000, held 0 of 0, most 0 of 0
1: 1115 of -1 at 500 forward from 1115, held 0 of 0, most 0 of 0
`,
		},
		{
			"out of order in the file and on two threads",
			"1/2 20 i cpu_instant_event [memory] size=10 devid=0 devtype=1 allocated=20\n" +
				line(30, -10, 0, 10, 0) + line(10, 10, 0, 10, 0),
			`cuda 0 3 events
0: 20 of -1 at 20 forward from 0, held 0 of 0, most 0 of 0
1: 10 of -1 at 500 forward from 10, held 0 of 0, most 0 of 0
`,
		},
		{
			"devices apart, host memory as one; an event that names no kind is of the accelerator",
			line(10, 10, 0, 10, 0) + "1/1 11 i " + other + " size=3\n" +
				"1/1 12 i cpu_instant_event [memory] size=7 devid=1 devtype=1 allocated=70\n" +
				"1/1 13 i cpu_instant_event [memory] size=5 devid=0 allocated=15\n" +
				"1/1 14 i cpu_instant_event [memory] size=4 devid=0 devtype=0\n" +
				"1/1 15 i cpu_instant_event [memory] size=6 devid=3 devtype=77\n" +
				"1/1 16 i cpu_instant_event [memory] size=6\n",
			`unknown unknown 1 events relative
0: 6 of -1 at 16 forward from 0, held 0 of 0, most 0 of 0
1: 6 of -1 at 500 forward from 6, held 0 of 0, most 0 of 0
cpu cpu 2 events relative
0: 7 of -1 at 14 forward from 0, held 0 of 0, most 0 of 0
1: 7 of -1 at 500 forward from 7, held 0 of 0, most 0 of 0
cuda 0 2 events
0: 15 of -1 at 13 forward from 0, held 0 of 0, most 0 of 0
1: 15 of -1 at 500 forward from 15, held 0 of 0, most 0 of 0
cuda 1 1 events
0: 70 of -1 at 12 forward from 63, held 0 of 0, most 0 of 0
1: 70 of -1 at 500 forward from 70, held 0 of 0, most 0 of 0
unknown 3 1 events relative
0: 6 of -1 at 15 forward from 0, held 0 of 0, most 0 of 0
1: 6 of -1 at 500 forward from 6, held 0 of 0, most 0 of 0
`,
		},
		{
			"amounts beyond all numbers",
			line(10, 9223372036854775807, 1, 0, 0) + line(20, 9223372036854775807, 2, 9223372036854775807, 0) +
				line(120, -9223372036854775807, 1, 0, 0),
			`cuda 0 3 events
0: 9223372036854775807 of -1 at 10 forward from 0, held 9223372036854775807 of 1, most 9223372036854775807 of 1
1: 0 of -1 at 500 forward from 0, held 0 of 0, most 0 of 0
`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := show(Find(rank(t, test.source), twoSteps)); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
		})
	}
}

// Without steps there is the peak of the recording, with steps that no optimizer cuts no
// phase of an optimizer.
func TestOtherWindows(t *testing.T) {
	x := rank(t, line(10, 100, 1, 1100, 4000)+line(50, -100, 1, 1000, 4000))
	want := "cuda 0 2 events\n-1: 1100 of 4000 at 10 unknown from 1000, held 0 of 0, most 0 of 0\n"
	if got := show(Find(x, nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if e := Find(x, nil)[0].Peaks[0].Event; e.Name != "[memory]" || e.Start != 10 {
		t.Errorf("event %+v", e)
	}
	w := Window{End: 100, Backwards: []gradients.Backward{{Start: 20, End: 40}}}
	for at, want := range map[int64]Phase{0: Forward, 19: Forward, 20: Backward, 39: Backward, 40: Unknown} {
		if got := w.phase(at); got != want {
			t.Errorf("at %d: %s, want %s", at, got, want)
		}
	}
}

// Made-up ordinals do not make as many devices.
func TestDevicesAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 3 * mostDevices {
		fmt.Fprintf(&b, "1/1 %d i cpu_instant_event [memory] size=1 devid=%d devtype=1\n", i, i)
	}
	list := Find(rank(t, b.String()), twoSteps)
	events := 0
	for i := range list {
		events += list[i].Events
	}
	if len(list) != mostDevices+1 || events != 3*mostDevices || list[0].Name != "unknown" {
		t.Errorf("%d devices of %d events, the first %s", len(list), events, list[0].Name)
	}
}

// A merged file holds several ranks, whose memory is their own.
func TestRanksApart(t *testing.T) {
	tr, err := text.Read(strings.NewReader(`1/1 0 +1 cuda_runtime l corr=1
2/2 0 +1 cuda_runtime l corr=2
1/1 5 i cpu_instant_event [memory] size=10 devid=0 devtype=1 allocated=10
2/2 6 i cpu_instant_event [memory] size=20 devid=0 devtype=1 allocated=20
`), "test")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range timeline.New(tr).Ranks {
		if list := Find(r, nil); len(list) != 1 || list[0].Peaks[0].Allocated != int64(10*(i+1)) {
			t.Errorf("rank %d: %s", i, show(list))
		}
	}
}

// A series keeps the extremes, however many events there are, and ends are those of phases.
func TestDraw(t *testing.T) {
	var b strings.Builder
	level := 0
	for i := range 20000 {
		bytes := 7
		if i%2 == 1 {
			bytes = -7
		}
		if i == 12345 {
			bytes = 5000
		}
		level += bytes
		b.WriteString(line(10+10*i, bytes, i/2+1, level+100, 0))
	}
	w := Window{End: 300_000, Update: steps.Interval{Start: 250_000, End: 300_000}, Backwards: []gradients.Backward{
		{Start: 100_000, End: 120_000, Forwards: 1}, {Start: 120_000, End: 200_000, Forwards: 1}}}
	s := Draw(rank(t, b.String()), &w)[0]
	if n := len(s.At); n > 2*(seriesParts+2) || n < seriesParts/2 || len(s.Allocated) != n || s.Reserved != nil {
		t.Fatalf("%d instants, %d amounts, reserved %v", n, len(s.Allocated), s.Reserved)
	}
	most, last := int64(0), int64(-1)
	for i, a := range s.Allocated {
		most = max(most, a)
		if s.At[i] < last {
			t.Fatalf("instant %d: %d after %d", i, s.At[i], last)
		}
		last = s.At[i]
	}
	if most != 5114 || s.Allocated[0] != 100 {
		t.Errorf("from %d, most %d", s.Allocated[0], most)
	}
	phases := fmt.Sprint(s.Phases)
	if want := "[{{0 100000} forward} {{100000 200000} backward} {{200000 250000} after_backward} " +
		"{{250000 300000} optimizer}]"; phases != want {
		t.Errorf("phases %s, want %s", phases, want)
	}
}

func TestDrawHeld(t *testing.T) {
	s := Draw(rank(t, line(10, 100, 1, 1100, 4000)+line(50, 200, 2, 1300, 4000)+line(150, -200, 2, 1100, 4000)+
		line(160, -100, 1, 1000, 4000)), &twoSteps[0])[0]
	got := fmt.Sprint(s.At, s.Allocated, s.Reserved, s.Held)
	want := "[0 10 50 150 160] [1000 1100 1300 1100 1000] [4000 4000 4000 4000 4000] [0 100 300 100 0]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
