package template

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// padded is text with the padding that comparisons rely on.
func padded(text string) []byte { return append([]byte(text), make([]byte, 32)...) }

// TestPattern: a text stands where all of its bytes do, whichever of them is another.
func TestPattern(t *testing.T) {
	for n := 1; n <= MaxField; n++ {
		text := strings.Repeat("abcdefghijklmnopqrstuvwxyz", 6)[:n]
		p := newPattern(text)
		if b := padded("x" + text); p.Len() != n || !p.Stands(b, 1) || p.Stands(b, 0) {
			t.Fatalf("%d bytes do not stand where they do", n)
		}
		for i := range n {
			b := padded(text)
			if b[i] = '#'; p.Stands(b, 0) {
				t.Errorf("%d bytes stand in spite of the one at %d", n, i)
			}
		}
		if p.Stands(padded(text)[:max(n-1, ends)], 0) && n > ends {
			t.Errorf("%d bytes stand behind the end", n)
		}
	}
}

// TestTable: the field that followed is found again, the usual one first, and the same
// text at another place is another field.
func TestTable(t *testing.T) {
	var table Table
	table.Forget(0)
	names := table.Learn(table.Opening, &Field{Goal: OwnValue, Key: KeyName}, `"name":`, 1)
	times := table.Learn(table.Opening, &Field{Goal: OwnValue, Key: KeyTs}, `"ts":`, 2)
	if names.Value != NameValue || times.Value != StartValue || table.Len() != 2 {
		t.Errorf("%d fields, of kinds %d and %d", table.Len(), names.Value, times.Value)
	}
	b := padded(`"ts":"name":`)
	if table.Opening.Follow(b, 5) != names || table.Opening.Usual() != names {
		t.Error("the first is not found")
	}
	if table.Opening.Follow(b, 0) != times || table.Opening.Usual() != times || table.Opening.Follow(b, 1) != nil {
		t.Error("the second is not found, or more than is there")
	}
	if again := table.Learn(names.After, &Field{Goal: OwnValue, Key: KeyTs}, `"ts":`, 3); again != times {
		t.Error("an event that begins the same is another one behind another event")
	}
	if behind := table.Learn(names, &Field{Goal: OwnValue, Key: KeyTs}, `"ts":`, 3); behind == times {
		t.Error("the same text behind a name is the same field")
	}
}

// TestTableIsBounded: a table that is full is left as it is for a while, and then starts
// anew.
func TestTableIsBounded(t *testing.T) {
	var table Table
	table.Forget(0)
	at := table.Learn(table.Opening, &Field{Goal: OwnValue}, `x`, 0)
	for i := range MaxFields {
		table.Learn(at, &Field{Goal: OwnValue}, fmt.Sprint(i), 1)
	}
	if table.Len() != MaxFields || table.Learn(at, &Field{}, "more", fewEvents-1) != nil {
		t.Errorf("%d fields, and more", table.Len())
	}
	if table.Learn(at, &Field{}, "more", fewEvents) == nil || table.Len() != 1 {
		t.Errorf("%d fields when learning starts anew", table.Len())
	}
}

// TestStore: arguments are stored where equal ones were, others elsewhere.
func TestStore(t *testing.T) {
	b := trace.NewBuilder()
	e := &Event{}
	seven, eight := []trace.Arg{{Key: trace.KeyStream, Num: 7}}, []trace.Arg{{Key: trace.KeyStream, Num: 8}}
	first := e.Store(seven, b, 0)
	if e.Store(seven, b, 0) != first {
		t.Error("equal arguments are stored twice")
	}
	if e.Store(eight, b, 1) == e.Store(seven, b, 1) {
		t.Error("other arguments are stored at the same place")
	}
}

// TestValues: a value is known where it is the value of the same key, and expected where
// it stood before.
func TestValues(t *testing.T) {
	values := NewValues()
	b := padded(`[1, 2][1, 3]`)
	arg := trace.Arg{Key: trace.KeyInputDims, Kind: trace.JSON, Str: 5}
	values.Remember(b, 0, 6, arg, 1)
	if v := values.Recall(b, 0, trace.KeyInputDims, 1); v == nil || v.Len() != 6 || v.Arg() != arg {
		t.Error("it is not recalled")
	}
	if values.Recall(b, 0, trace.KeyBytes, 1) != nil || values.Recall(b, 6, trace.KeyInputDims, 1) != nil {
		t.Error("it is recalled as another")
	}
	if values.Find(b, 0, 6, trace.KeyInputDims, 2) == nil || values.Recall(b, 0, trace.KeyInputDims, 2) == nil {
		t.Error("in an event of another name it is not found")
	}
	long := padded(strings.Repeat("9", maxValue+1))
	values.Remember(long, 0, maxValue+1, arg, 1)
	if values.Len() != 1 || values.TextLen() != 6 {
		t.Errorf("%d values of %d bytes", values.Len(), values.TextLen())
	}
}

// TestNames: a name is read the same whether it is known or not, and only a plain one.
func TestNames(t *testing.T) {
	b := trace.NewBuilder()
	var names Names
	text := padded(strings.Repeat(`"aten::add"`, 3) + `"aten::mul"` + strings.Repeat(" ", 20))
	for k, want := range []string{"aten::add", "aten::add", "aten::add", "aten::mul"} {
		id, next, ok := names.Read(text, len(text)-32, 11*k, b)
		if !ok || next != 11*(k+1) || b.String(id) != want {
			t.Errorf("name %d: %q to %d, %v", k, b.String(id), next, ok)
		}
	}
	if names.Len() != 1 {
		t.Errorf("%d names are known, of one that came again", names.Len())
	}
	for _, in := range []string{`7`, `"a\n"`, "\"a\xff\"", `"open`} {
		if _, _, ok := names.Read(padded(in+strings.Repeat(" ", 20)), len(in)+20, 0, b); ok {
			t.Errorf("%s is a plain name", in)
		}
	}
	if _, _, ok := names.Read(padded(`"short"`), 7, 0, b); ok {
		t.Error("a name is read at the end of the text, where more may follow")
	}
}

// TestGap: what stood between two events is told from all else.
func TestGap(t *testing.T) {
	var g Gap
	b := padded("},\n  {},  \n{")
	if g.Stands(b, 1) {
		t.Error("the zero value stands")
	}
	g.Learn(b, 1, 5)
	if !g.Stands(b, 1) || g.Len() != 4 || g.Stands(b, 7) {
		t.Errorf("a gap of %d bytes", g.Len())
	}
}
