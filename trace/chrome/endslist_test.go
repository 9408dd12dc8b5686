package chrome

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome/input"
)

// TestEndsList: which bracket, in what is left of a damaged list, ends the list: one at the end
// of the document, or before an entry that Kineto writes after its events.
func TestEndsList(t *testing.T) {
	for after, want := range map[string]bool{
		"": true, " \n": true, "}": true, " } ": true, "} x": false, "}}": false, "]": false, "x": false, " 1": false,
		`, "traceName": "a"}`: true, `,"distributedInfo":{}}`: true, `,  "displayTimeUnit": "ms"}`: true,
		`,"metadata":{}}`: true, `,"WARNING":"w"}`: true, `,"name":"a"}`: false, `, "ts": 1`: false,
		`,{"ph":"X"`: false,
		`,`:          false, `,"traceNam`: false, `, 5]`: false,
	} {
		d := &reader{}
		d.Window = input.NewWindow(strings.NewReader("]" + after))
		d.Fill()
		if got := d.endsList(0); got != want {
			t.Errorf("%q: %v", after, got)
		}
	}
}
