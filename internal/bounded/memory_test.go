package bounded

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

type inner struct {
	Name  string           `json:"name"`
	Count *int64           `json:"count"`
	Many  []int64          `json:"many"`
	Of    map[string]int64 `json:"of"`
}

type own struct{ list []float64 }

func (o *own) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &o.list) }

type outer struct {
	inner
	List  []inner   `json:"list"`
	Table [][]int64 `json:"table"`
	Any   any       `json:"any"`
	Own   own       `json:"own"`
	Plain string
}

// bodies are texts that take as much memory as there is for their length, each repeated.
var bodies = []struct{ name, head, body, tail string }{
	{"objects", `{"list":[{}`, `,{}`, `]}`},
	{"folded keys", `{"LIST":[{}`, `,{}`, `]}`},
	{"escaped keys", `{"\u006cist":[{}`, `,{}`, `]}`},
	{"numbers", `{"many":[1`, `,1`, `]}`},
	{"lists", `{"table":[[]`, `,[]`, `]}`},
	{"lists of one", `{"table":[[1]`, `,[1]`, `]}`},
	{"pointers", `{"list":[{}`, `,{"count":1}`, `]}`},
	{"strings", `{"list":[{}`, `,{"name":"0123456789"}`, `]}`},
	{"lists in lists", `{"list":[{}`, `,{"many":[1,2,3]}`, `]}`},
	{"anything", `{"any":[1`, `,1`, `]}`},
	{"objects of anything", `{"any":[1`, `,{}`, `]}`},
	{"entries of anything", `{"any":[1`, `,{"a":1}`, `]}`},
	{"own", `{"own":[1`, `,1`, `]}`},
	{"a long string", `{"Plain":"`, `0123456789`, `"}`},
	{"unknown", `{"unknown":[1`, `,{"list":[1,2,3]}`, `]}`},
	{"space", `{`, ` `, `}`},
}

// What decoding really allocates and keeps is never more than was said, and mostly not
// much less.
func TestMemory(t *testing.T) {
	for _, b := range bodies {
		text := []byte(b.head + strings.Repeat(b.body, 400_000/len(b.body)) + b.tail)
		need, err := Memory(text, new(outer), 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		into := new(outer)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		runtime.KeepAlive(into)
		runtime.KeepAlive(text)
		if kept > need+50_000 || need > 10*max(kept, 100_000) {
			t.Errorf("%s: %d bytes were expected, %d are kept", b.name, need, kept)
		}
	}
}

func TestMemoryOfMaps(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"of":{"":0`)
	for i := range 100_000 {
		fmt.Fprintf(&b, `,"%d":1`, i)
	}
	text := b.String() + `}}`
	need, err := Memory([]byte(text), new(outer), 1<<40)
	if err != nil || need < 6_000_000 || need > 20_000_000 {
		t.Errorf("%d bytes, %v", need, err)
	}
}

// What takes too much is told at the place where it does, and not decoded.
func TestUnmarshalTooMuch(t *testing.T) {
	text := []byte(`{"Plain": "x", "list":[{}` + strings.Repeat(",{}", 1000) + "]}")
	var into outer
	var much *TooMuch
	err := Unmarshal(text, &into, 10_000)
	if !errors.As(err, &much) || much.Offset < 100 || much.Offset > 400 || into.Plain != "" {
		t.Errorf("%v, %+v", err, into)
	}
	if err := Unmarshal(text, &into, 1_000_000); err != nil || len(into.List) != 1001 || into.Plain != "x" {
		t.Errorf("%v, %d elements", err, len(into.List))
	}
}

// FuzzMemory: whatever the text, the estimate ends, and is no less than what valid text
// keeps of its strings and numbers.
// A string ends at the first quote that no backslash stands before.
func TestEndOfString(t *testing.T) {
	parts := []string{`a`, `\`, `"`, ` `}
	for n := range 1 << 14 {
		var b strings.Builder
		for k := range 7 {
			b.WriteString(parts[n>>(2*k)&3])
		}
		text, want := b.String(), 1
		for want < len(text) && text[want] != '"' {
			if text[want] == '\\' {
				want++
			}
			want++
		}
		if got := endOfString([]byte(text), 1); got != min(want, len(text)) {
			t.Fatalf("%s: ends at %d, want %d", text, got, want)
		}
	}
	long := []byte(strings.Repeat(`\n`, 1<<22)) // in time that grows with its length
	if got := endOfString(long, 0); got != len(long) {
		t.Errorf("%d", got)
	}
}

func FuzzMemory(f *testing.F) {
	for _, b := range bodies {
		f.Add([]byte(b.head + b.body + b.tail))
	}
	f.Add([]byte(strings.Repeat("[", 300) + strings.Repeat("]", 300)))
	f.Add([]byte(`{"list":[{"name":"\"`))
	f.Add([]byte("{\"plain\":\"\xf9\",\"of\":{\"\xf9\":1}}")) // no UTF-8: U+FFFD, three bytes
	f.Add([]byte(`}]}],",","`))
	f.Fuzz(func(t *testing.T, text []byte) {
		need, err := Memory(text, new(outer), 1<<40)
		var into outer
		if err != nil || json.Unmarshal(text, &into) != nil {
			return
		}
		least := len(into.Plain) + len(into.Name) + 8*len(into.Many) + 24*len(into.Table) + 8*len(into.Of)
		for i := range into.List {
			least += len(into.List[i].Name) + 8*len(into.List[i].Many) + 50
		}
		if need < int64(least) {
			t.Errorf("%s: %d bytes, at least %d", text, need, least)
		}
	})
}
