package tracegen

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

func TestWriteShapes(t *testing.T) {
	sizes := map[Shape]int{}
	for _, shape := range Shapes() {
		var first, second bytes.Buffer
		if err := Write(&first, Options{Shape: shape, Size: 200_000, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		if err := Write(&second, Options{Shape: shape, Size: 200_000, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: two runs differ", shape)
		}
		var doc struct {
			TraceEvents []struct{ Ph, Cat, Name string }
		}
		if err := json.Unmarshal(first.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %v", shape, err)
		}
		if first.Len() < 200_000 || len(doc.TraceEvents) < 200 {
			t.Errorf("%s: %d bytes, %d events", shape, first.Len(), len(doc.TraceEvents))
		}
		sizes[shape] = first.Len() / len(doc.TraceEvents)
	}
	if sizes[AsIs] < 250 || sizes[AsIs] > 400 {
		t.Errorf("as-is has %d bytes an event, real files have 324", sizes[AsIs])
	}
	if sizes[Compact] >= sizes[AsIs] || sizes[Indented] <= sizes[AsIs] || sizes[Stacks] <= sizes[AsIs] {
		t.Errorf("bytes an event: %v", sizes)
	}
}

func TestWriteReportsError(t *testing.T) {
	want := errors.New("full")
	if err := Write(failing{want}, Options{Size: 1 << 20}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
