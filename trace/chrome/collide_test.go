package chrome

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/trace"
)

// colliding returns a trace of n events whose names, categories, ids of threads and
// arguments all stand in the same few slots of the tables that know them: the first
// sixteen bytes of names and values are the same, ids are multiples of the number of
// slots, categories have the same ends. Where apart is true they spread.
func colliding(n int, apart bool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"traceEvents":[`)
	for i := range n {
		name, tid, cat, value := nameThatCollides(i), 4096*(i%500), fmt.Sprintf("category%08dcategory", i%1000), fmt.Sprintf("[[1234567890123456], [%d]]", i%3000)
		if apart {
			name, tid, cat, value = fmt.Sprintf("%d %s", i, name), i%500, fmt.Sprintf("%dcategory%d", i%1000, i%1000), fmt.Sprintf("[[%d], [1234567890123456]]", i%3000)
		}
		fmt.Fprintf(&b, `{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":%d,"ts":%d,"dur":1,"args":{"Input Dims":%s}},`+"\n", cat, name, tid, i, value)
	}
	b.WriteString(`{"ph":"X","cat":"last","name":"last","pid":1,"tid":1,"ts":0,"dur":1}]}`)
	return b.Bytes()
}

func nameThatCollides(i int) string {
	return fmt.Sprintf("sixteen bytes that are the same %d", i%70_000)
}

// Names that meet in one slot are told apart, by one reader and by a pool of workers.
func TestCollidingNames(t *testing.T) {
	const n = 100_000
	in := colliding(n, false)
	for _, o := range []Options{{}, {At: bytes.NewReader(in), Size: int64(len(in)), chunk: 1 << 20}} {
		traces, err := Read(bytes.NewReader(in), o)
		if err != nil || traces[0].Len() != n+1 || len(traces[0].Problems()) > 0 {
			t.Fatalf("%d events, %v, error %v", traces[0].Len(), traces[0].Problems(), err)
		}
		for row := range traces[0].Len() {
			checkColliding(t, traces[0], traces[0].Event(row))
		}
	}
}

func checkColliding(t *testing.T, tr *trace.Trace, e trace.Event) {
	t.Helper()
	i := int(e.Start() / 1000)
	if e.Name() == "last" {
		return
	}
	got := fmt.Sprint(e.Name(), " ", e.Track().TID, " ", tr.CatName(e.Cat()), " ", e.ArgText(trace.KeyInputDims))
	want := fmt.Sprintf("%s %d category%08dcategory [[1234567890123456],[%d]]", nameThatCollides(i), 4096*(i%500), i%1000, i%3000)
	if strings.ReplaceAll(got, ", ", ",") != want {
		t.Fatalf("event %d: %s, want %s", i, got, want)
	}
}

// Nor does it take the square of their number: ten times what as many take that do not
// meet would be a hundredth of that.
func TestCollidingNamesAreLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: measures time")
	}
	took := func(apart bool) time.Duration {
		in := colliding(100_000, apart)
		start := time.Now()
		if _, err := Read(bytes.NewReader(in), Options{}); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	for range 3 { // others use the machine as well
		if meeting, apart := took(false), took(true); meeting < 10*apart {
			return
		}
	}
	t.Error("names that meet in one slot take ten times as long as others")
}
