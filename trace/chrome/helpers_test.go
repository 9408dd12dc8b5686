package chrome

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// readAll reads text with every argument kept.
func readAll(tb testing.TB, text string) []*trace.Trace {
	tb.Helper()
	traces, err := Read(strings.NewReader(text), Options{KeepArgs: true})
	if err != nil {
		tb.Fatalf("%q: %v", clip(text), err)
	}
	return traces
}

func clip(s string) string { return s[:min(len(s), 200)] }

// readOne reads text that holds one trace.
func readOne(tb testing.TB, text string) *trace.Trace {
	tb.Helper()
	traces := readAll(tb, text)
	if len(traces) != 1 {
		tb.Fatalf("%q: %d traces", clip(text), len(traces))
	}
	return traces[0]
}

// dump is a trace as text: one line an event, in the order of the rows.
func dump(t *trace.Trace) string {
	var b strings.Builder
	for i := range t.Len() {
		e := t.Event(i)
		fmt.Fprintf(&b, "%c %s %q %s/%s %d+%d", e.Phase(), t.CatName(e.Cat()), e.Name(), e.Track().PID, e.Track().TID, e.Start(), e.Dur())
		if e.Corr() != 0 {
			fmt.Fprintf(&b, " corr=%d", e.Corr())
		}
		if e.External() != 0 {
			fmt.Fprintf(&b, " ext=%d", e.External())
		}
		for _, a := range e.Args() {
			fmt.Fprintf(&b, " %s=%d:%s", t.KeyName(a.Key), a.Kind, e.ArgText(a.Key))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// dumpAll is dump with everything else that a trace holds but its problems.
func dumpAll(t *trace.Trace) string {
	m := *t.Meta()
	m.EventsInFile = 0
	tracks := ""
	for _, track := range t.Tracks() {
		tracks += fmt.Sprintf("%+v\n", track)
	}
	devices := fmt.Sprintf("%+v %+v", m.Devices, m.Distributed)
	if m.Distributed != nil {
		devices = fmt.Sprintf("%+v %+v", m.Devices, *m.Distributed)
	}
	m.Distributed = nil
	return dump(t) + tracks + devices + fmt.Sprintf("%+v", m)
}

// problems is the problems of a trace as text: code, count and place.
func problems(t *trace.Trace) string {
	var list []string
	for _, p := range t.Problems() {
		list = append(list, fmt.Sprintf("%s:%d@%d", p.Code, p.Count, p.Offset))
	}
	return strings.Join(list, " ")
}

// sharedTrace opens a file of the shared traces, which stand beside the module
// and are not part of it; the test is skipped where they are absent.
func sharedTrace(tb testing.TB, name string) io.Reader {
	tb.Helper()
	file, err := os.Open(filepath.Join(sharedDir(tb), name))
	if err != nil {
		tb.Skipf("the shared traces are not here: %v", err)
	}
	tb.Cleanup(func() { file.Close() })
	z, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	return z
}

// sharedDir is where the shared traces stand, if they are here.
func sharedDir(tb testing.TB) string {
	tb.Helper()
	root, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, "..", "shared", "traces")
		}
		if root == filepath.Dir(root) {
			tb.Fatal("no go.mod above the test")
		}
		root = filepath.Dir(root)
	}
}
