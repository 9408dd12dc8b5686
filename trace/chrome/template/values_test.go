package template

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// turn asks for values in turn, as an event called name has them, and remembers what is new.
// It tells of each whether it was recalled (R), found (f) or remembered (n).
func turn(t *testing.T, values *Values, name trace.StringID, texts ...string) (ways string) {
	t.Helper()
	const key = trace.KeyInputDims
	for _, text := range texts {
		b, n := padded(text+" ,"), len(text)
		v, way := values.Recall(b, 0, key, name), "R"
		if v == nil {
			v, way = values.Find(b, 0, n, key, name), "f"
		}
		if v == nil {
			values.Remember(b, 0, n, trace.Arg{Key: key, Kind: trace.JSON, Str: trace.StringID(n)}, name)
			v, way = values.Recall(b, 0, key, name), "n"
		}
		if v == nil || v.Len() != n || v.text != text || v.Arg().Str != trace.StringID(n) {
			t.Fatalf("%s is %+v", text, v)
		}
		ways += way
	}
	return ways
}

// TestValuesAreRecalled: a value is recalled after the one before it, after the one that it
// followed the last time, and where it was the last of all events that begin so.
func TestValuesAreRecalled(t *testing.T) {
	values := NewValues()
	a, b, c, d := "["+alike+"1]", "["+alike+"22]", "["+alike+"333]", "["+alike+"4444]"
	for _, step := range []struct {
		name  trace.StringID
		texts []string
		ways  string
	}{
		{1, []string{a, b, c}, "nnn"},
		{1, []string{c, c}, "RR"},
		{1, []string{a}, "f"}, // neither the last, nor after it, nor the last of all
		{1, []string{b, c, a, b, c, a}, "RRRRRR"},
		{1, []string{a, a, a}, "RRR"},
		{2, []string{a}, "f"},                 // nothing stands there yet, in an event of that name
		{2, []string{a, b, a, b, a}, "RffRR"}, // after a came a
		{1, []string{d, a}, "nf"},
		{2, []string{d, a, d}, "RRR"}, // as in the event of the other name
		{3, []string{b}, "f"},
		{4, []string{d}, "f"},
		{3, []string{d, b, d, b, d}, "RfRRR"}, // d is the last of all, b is not
	} {
		if got := turn(t, &values, step.name, step.texts...); got != step.ways {
			t.Errorf("%s in %d: %s, want %s", step.texts, step.name, got, step.ways)
		}
	}
	if want := len(a) + len(b) + len(c) + len(d); values.Len() != 4 || values.TextLen() != int64(want) {
		t.Errorf("%d values of %d bytes, want 4 of %d", values.Len(), values.TextLen(), want)
	}
}

// TestValuesEnd: a value does not stand where the text ends within it, or under another key.
func TestValuesEnd(t *testing.T) {
	values := NewValues()
	text := "[" + strings.Repeat("1, ", 20) + "1]"
	turn(t, &values, 1, text)
	for cut := range len(text) {
		if b := []byte(text)[:cut]; cut >= 16 && values.Recall(b, 0, trace.KeyInputDims, 1) != nil {
			t.Errorf("it stands in %d bytes", cut)
		}
	}
	if b := []byte(text); values.Recall(b, 0, trace.KeyInputDims, 1) == nil || values.Recall(b, 0, trace.KeyBytes,
		1) != nil {
		t.Error("it does not stand at the very end, or it stands under another key")
	}
}

// TestValuesAreBounded: long values are not remembered, nor more than so many.
func TestValuesAreBounded(t *testing.T) {
	values := NewValues()
	remember := func(text string) bool {
		known := values.Len()
		values.Remember(padded(text), 0, len(text), trace.Arg{Key: trace.KeyBytes}, 1)
		return values.Len() > known
	}
	if !remember(strings.Repeat("9", maxValue)) || remember(strings.Repeat("8", maxValue+1)) {
		t.Error("the limit of length")
	}
	for i := values.Len(); i < MaxValues; i++ {
		if !remember(fmt.Sprintf("[%d, %d, 100000]", i, i)) {
			t.Fatalf("value %d is not remembered", i)
		}
	}
	if remember("[one more than all]") || values.Len() != MaxValues {
		t.Errorf("%d values", values.Len())
	}
}

// TestStoreOnce: arguments that are those of the event before are not stored again; of an
// event that had others once they are stored without a copy; and parts share nothing.
func TestStoreOnce(t *testing.T) {
	to := trace.NewBuilder()
	seven, eight := []trace.Arg{{Key: trace.KeyStream, Num: 7}}, []trace.Arg{{Key: trace.KeyStream, Num: 8}}
	e := &Event{}
	first := e.Store(seven, to, 0)
	if e.Store(seven, nobody, 0) != first {
		t.Error("equal arguments are stored elsewhere")
	}
	part := &Event{}
	part.Store(seven, to, 1)
	other := trace.NewBuilder()
	other.Store(eight)
	if in := part.Store(seven, other, 2); in == first || part.Store(seven, nobody, 2) != in {
		t.Error("in another part they stand at the same place")
	}
	if part.varied {
		t.Error("another part is another list")
	}
	second := e.Store(eight, to, 0)
	if second == first || e.Store(seven, to, 0) != first || e.Store(eight, to, 0) != second {
		t.Error("arguments that vary are mixed up")
	}
	if n := testing.AllocsPerRun(20, func() { e.Store(seven, to, 0); e.Store(eight, to, 0) }); n > 0 {
		t.Errorf("arguments that vary are copied: %v allocations", n)
	}
}
