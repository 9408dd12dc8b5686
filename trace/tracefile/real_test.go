package tracefile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

const shared = "../../../shared/traces"

// readShared reads a real trace, or skips the test where there are none.
func readShared(t *testing.T, name string) *trace.Trace {
	t.Helper()
	if _, err := os.Stat(shared); err != nil {
		t.Skip("skipping: the shared traces are not here")
	}
	traces, err := Read(filepath.Join(shared, name), Options{KeepArgs: true})
	if err != nil || len(traces) != 1 {
		t.Fatalf("%d traces, error %v", len(traces), err)
	}
	return traces[0]
}

// A directory gives the real traces in it and below it, and not what describes them.
// It may hold any number of others.
func TestSharedDirectory(t *testing.T) {
	if _, err := os.Stat(shared); err != nil {
		t.Skip("skipping: the shared traces are not here")
	}
	for _, dir := range []string{"", "gpu", "damaged", "torch-cpu"} {
		files, err := Expand([]string{filepath.Join(shared, dir)})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		for name, want := range map[string]bool{
			"gpu/nanogpt-hook.json.gz":                     true,
			"gpu/normuon-rank7.json.gz":                    true,
			"damaged/gzip-named-json.json":                 true,
			"damaged/metadata-only.json.gz":                true,
			"damaged/truncated-gzip.json.gz":               true,
			"torch-cpu/single-accum4-scale.json.gz":        true,
			"torch-cpu/single-accum4-scale.native.json.gz": true,
			"torch-cpu/single-accum4-scale.truth.json":     false,
			"README.md": false,
		} {
			below := dir == "" || strings.HasPrefix(name, dir+"/")
			if got := slices.Contains(files, filepath.Join(shared, name)); got != (want && below) {
				t.Errorf("%q gives %s: %v", dir, name, got)
			}
		}
	}
}

// Real traces survive being written in every format that is read.
func TestRealRoundTrip(t *testing.T) {
	for _, name := range []string{
		"gpu/nanogpt-current.json.gz", "torch-cpu/single-accum4-scale.native.json.gz", "damaged/gpu-only.json.gz",
		"damaged/bad-escape.json.gz", "damaged/truncated-gzip.json.gz",
	} {
		tr := readShared(t, name)
		for _, f := range formats {
			if f.read == nil || f.write == nil {
				continue
			}
			var out bytes.Buffer
			if err := f.write(&out, tr); err != nil {
				t.Fatal(err)
			}
			back, err := Read(Stdin, Options{KeepArgs: true, Stdin: &out})
			if err != nil || len(back) != 1 {
				t.Errorf("%s as %s: %d traces, error %v", name, f.name, len(back), err)
				continue
			}
			if diff := difference(tr, back[0]); diff != "" {
				t.Errorf("%s as %s: %s", name, f.name, diff)
			}
		}
	}
}

// difference says in what two traces differ first, by tracks and events.
func difference(a, b *trace.Trace) string {
	if a.Len() != b.Len() || len(a.Tracks()) != len(b.Tracks()) {
		return fmt.Sprintf("%d events on %d tracks, then %d on %d", a.Len(), len(a.Tracks()), b.Len(), len(b.Tracks()))
	}
	for i := range a.Tracks() {
		if x, y := a.Tracks()[i], b.Tracks()[i]; x != y {
			return fmt.Sprintf("track %+v, then %+v", x, y)
		}
	}
	for i := range a.Len() {
		if x, y := describe(a, i), describe(b, i); x != y {
			return fmt.Sprintf("event %d: %s, then %s", i, x, y)
		}
	}
	return ""
}

func describe(t *trace.Trace, i int) string {
	e := t.Event(i)
	c := t.Columns()
	s := fmt.Sprint(e.Start(), e.Dur(), t.CatName(e.Cat()), e.Name(), e.Phase(), e.Corr(), e.External(), c.Parent[i],
		c.Track[i])
	for _, a := range e.Args() {
		s += fmt.Sprintf(" %s=%s", t.KeyName(a.Key), e.ArgText(a.Key))
	}
	return s
}
