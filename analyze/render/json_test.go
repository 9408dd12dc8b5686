package render

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestIndented: the result is that of json.Indent, whatever strings hold.
func TestIndented(t *testing.T) {
	for _, value := range []any{
		[]any{}, map[string]any{}, nil, 1.5, "", `"`, `\`, `\\"`, "a:b,c{d}e[f]",
		[]any{[]any{}, map[string]any{}, []any{nil}},
		map[string]any{
			`k"\`: []any{`\"`, `\\`, "é<\u2028>", -1, true},
			"{":   map[string]any{"]": []any{[]any{[]any{}}}},
		},
	} {
		compact, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var got, want bytes.Buffer
		if n, err := (indented{&got}).Write(append(compact, '\n')); err != nil || n != len(compact)+1 {
			t.Errorf("%s: wrote %d, %v", compact, n, err)
		}
		_ = json.Indent(&want, append(compact, '\n'), "", " ")
		if got.String() != want.String() {
			t.Errorf("%s: got\n%swant\n%s", compact, &got, &want)
		}
	}
}
