package tracefile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A tiny file takes little: there may be a hundred thousand of them.
func TestSmallFilesTakeLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: the race detector forgets buffers on purpose")
	}
	file := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(file, []byte(`{"traceEvents":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(n int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			if _, err := Measure(file); err != nil {
				t.Fatal(err)
			}
			if traces, err := Read(file, Options{}); err != nil || len(traces) != 1 {
				t.Fatal(traces, err)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	read(10)
	if each := read(200); each > 40e3 {
		t.Errorf("%d bytes for each file", each)
	}
}

// What a file held is not seen in the next one, whatever came before it.
func TestBuffersAreNotShared(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a": `{"traceEvents":[{"ph":"X","name":"long name of a kernel","ts":1,"dur":2,"pid":1,"tid":2}]}`,
		"b": `{"traceEvents":[`, "c": `{"traceEvents":[]}`, "d": ` `,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		for name, want := range map[string]int{"a": 1, "b": 0, "c": 0, "d": -1} {
			traces, err := Read(filepath.Join(dir, name), Options{})
			got := -1
			if err == nil {
				got = traces[0].Len()
			}
			if got != want {
				t.Fatalf("%s has %d events, %v", name, got, err)
			}
			if want == 1 && traces[0].Event(0).Name() != "long name of a kernel" {
				t.Fatalf("its event is %q", traces[0].Event(0).Name())
			}
		}
	}
}
