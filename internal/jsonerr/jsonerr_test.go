package jsonerr

import (
	"encoding/json"
	"io"
	"testing"
)

func TestOffset(t *testing.T) {
	for text, want := range map[string]int64{`{"a": x}`: 7, `{"a": "b"}`: 9} {
		var into struct{ A int }
		if err := json.Unmarshal([]byte(text), &into); Offset(err) != want {
			t.Errorf("%s: %d, want %d: %v", text, Offset(err), want, err)
		}
	}
	if got := Offset(io.EOF); got != 0 {
		t.Errorf("an error of something else: %d", got)
	}
}
