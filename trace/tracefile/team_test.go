package tracefile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace/chrome"
)

// account is what Read says of a file: the traces as they are written, and their
// problems; or the error.
func account(t *testing.T, path string, o Options) string {
	t.Helper()
	traces, err := Read(path, o)
	if err != nil {
		return "error: " + err.Error()
	}
	var b bytes.Buffer
	for _, tr := range traces {
		if err := chrome.Write(&b, tr); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d events, %+v\n", tr.Meta().EventsInFile, tr.Problems())
	}
	return b.String()
}

// TestCompressedTeam: of a compressed file, whole, cut or damaged, a team reads what one
// reader alone does.
func TestCompressedTeam(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: reads 6 MB of text many times")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.NumCPU())))
	var b bytes.Buffer
	if err := tracegen.Write(&b, tracegen.Options{Size: 6 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	packed := map[string]string{
		"gzip":            gz(text),
		"members":         gz(text[:2_500_000], text[2_500_000:]),
		"twice":           gz(gz(text)),
		"zstd":            zst(text),
		"text at the end": gz(text) + "and more",
	}
	for _, share := range []float64{0.2, 0.5, 0.9} {
		cut := int(share * float64(len(packed["gzip"])))
		packed[fmt.Sprintf("gzip cut at %d", cut)] = packed["gzip"][:cut]
		packed[fmt.Sprintf("gzip damaged at %d", cut)] = packed["gzip"][:cut] + "????????" + packed["gzip"][cut+8:]
		packed[fmt.Sprintf("zstd cut at %d", cut)] = packed["zstd"][:int(share*float64(len(packed["zstd"])))]
		packed[fmt.Sprintf("twice cut at %d", cut)] = packed["twice"][:cut]
	}
	path := filepath.Join(t.TempDir(), "trace")
	for name, data := range packed {
		if err := os.WriteFile(path, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		want := account(t, path, Options{Alone: true})
		if got := account(t, path, Options{}); got != want {
			t.Errorf("%s: %d bytes, %.200s; want %d bytes, %.200s", name, len(got), got[max(len(got)-200, 0):],
				len(want), want[max(len(want)-200, 0):])
		}
		if strings.Contains(name, " at ") != strings.Contains(want, "compressed byte") {
			t.Errorf("%s: %s", name, want[max(len(want)-200, 0):])
		}
	}
}

// TestCompressedGrows: a team reads no further than there is memory for.
func TestCompressedGrows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.NumCPU())))
	path := filepath.Join(t.TempDir(), "trace.gz")
	content := gz(oneEvent[:17], strings.Repeat(" ", 30<<20), oneEvent[17:])
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	last := int64(-1)
	_, err := Read(path, Options{Grow: func(text int64, _ float64) error {
		if text < last {
			t.Errorf("went back from %d to %d", last, text)
		}
		if last = text; text > 12<<20 {
			return errTest
		}
		return nil
	}})
	if err != errTest || last < 12<<20 || last > 14<<20 {
		t.Errorf("stopped at %d: %v", last, err)
	}
}

var errTest = fmt.Errorf("no more memory")
