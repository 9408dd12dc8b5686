package tracefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile/readertest"
)

// conformance says how each reader of the table of formats is tested: what its format
// lacks of the canonical trace, and what it does with damage. A new format adds a row here
// and its file to readertest/testdata.
var conformance = map[string]readertest.Reader{
	"chrome": {Damage: []readertest.Damage{
		{
			Name: "escape", Old: `"cudaDeviceSynchronize"`, New: `"cudaDevice\qSynchronize"`,
			Code: trace.BadEscape, Event: "cudaDevice",
		},
		{
			Name: "comma", Old: `"cat": "gpu_user_annotation", `, New: `"cat": "gpu_user_annotation" `,
			Code: trace.MissingComma,
		},
		{Name: "number", Old: `"Total": 1.5`, New: `"Total": NaN`, Code: trace.NonFiniteNumber, Event: "[memory]"},
		{Name: "duration", Old: `"dur": 315.073`, New: `"dur": -315.073`, Code: trace.NegativeDuration, Event: step},
		{Name: "no duration", Old: `, "dur": 315.073`, New: ``, Code: trace.MissingDuration, Event: step},
		{
			Name: "no time", Old: `"ts": 9322354330209.767, "dur": 315.073`, New: `"dur": 315.073`,
			Code: trace.NoTimestamp, Event: step,
		},
		{Name: "no phase", Old: `"ph": "C", `, New: ``, Code: trace.NotAnEvent, Event: "queue"},
		{
			Name: "no end", Old: `"ph": "E", `, New: `"ph": "M", "name": "other", `,
			Code: trace.UnpairedBegin, Event: readertest.PairedName,
		},
	}},
	"text": {NoEnd: true, Damage: []readertest.Damage{
		{Name: "unit", Old: "+315073ns", New: "+315073xs"},
		{Name: "word", Old: `"length"=3`, New: `"length"=3 more`},
		{Name: "quote", Old: `"stream 20"`, New: `"stream 20`},
		{Name: "duration", Old: "+315073ns", New: "+-315073ns", Code: trace.NegativeDuration, Event: step},
		{Name: "no duration", Old: "+315073ns", New: "X", Code: trace.MissingDuration, Event: step},
	}},
}

// step is the event whose duration is damaged.
const step = "ProfilerStep#0"

// TestConformance: each reader reads the canonical trace from a file as users have it.
func TestConformance(t *testing.T) {
	for _, f := range formats {
		if f.read == nil {
			continue
		}
		r, ok := conformance[f.name]
		if !ok {
			t.Errorf("the reader of %s is not tested: it needs a row in conformance", f.name)
			continue
		}
		r.Format, r.Read = f.name, readFile(t.TempDir())
		t.Run(f.name, func(t *testing.T) { readertest.Test(t, r) })
	}
}

// readFile reads content from a file in dir.
func readFile(dir string) func(string, []byte, bool) ([]*trace.Trace, error) {
	return func(name string, content []byte, strict bool) ([]*trace.Trace, error) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			return nil, err
		}
		return Read(path, Options{KeepArgs: true, Strict: strict})
	}
}
