package tracefile

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// file writes a file for one test.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMeasure(t *testing.T) {
	long := oneEvent + strings.Repeat(" ", 1000)
	for _, c := range []struct {
		content string
		text    int
		plain   bool
	}{
		{"", 0, true},
		{long, len(long), true},
		{gz(long), len(long), false},
		{zst(long), len(long), false},
		{gz(long)[:60], 60 * typicalRatio, false},
		{gz(gz(long)), len(gz(gz(long))) * typicalRatio, false}, // the inner one is no larger than the outer
	} {
		got, err := Measure(file(t, "x", c.content))
		if want := (Size{int64(len(c.content)), int64(c.text), c.plain, densest()}); err != nil || got != want {
			t.Errorf("%.4q: %+v, %v, want %+v", c.content, got, err, want)
		}
	}
	if got, err := Measure(Stdin); err != nil || got != (Size{Density: densest()}) {
		t.Errorf("stdin: %+v, %v", got, err)
	}
	var gone *Error
	_, err := Measure(filepath.Join(t.TempDir(), "gone"))
	if !errors.As(err, &gone) || gone.Reason != "no such file or directory" {
		t.Errorf("error %v", err)
	}
}

// A format has its own density, also behind compression; the greatest counts where the
// format is not known.
func TestDensity(t *testing.T) {
	defer func(old []format) { formats = old }(formats)
	formats = slices.Clone(formats)
	for i := range formats {
		if formats[i].name == "text" {
			formats[i].density = 7
		}
	}
	const lines = "# a trace\n1/1 1us +2us - a\n"
	for _, c := range []struct {
		content string
		want    float64
	}{
		{oneEvent, 0.5}, {gz(oneEvent), 0.5}, {zst(oneEvent), 0.5},
		{lines, 7}, {gz(lines), 7}, {zst(gz(lines)), 7},
		{"", 7}, {"\x89PNG", 7}, {gz(oneEvent)[:5], 7}, {gz(gz(gz(oneEvent))), 7},
	} {
		if got, err := Measure(file(t, "x", c.content)); err != nil || got.Density != c.want {
			t.Errorf("%.4q: %v, %v, want %v", c.content, got.Density, err, c.want)
		}
	}
	told := 0.0
	_, err := Read(Stdin, Options{
		Stdin: strings.NewReader(lines),
		Grow:  func(_ int64, density float64) error { told = density; return nil },
	})
	if err != nil || told != 7 {
		t.Errorf("stdin: %v, error %v", told, err)
	}
}

// Each format that is read says how dense it is.
func TestFormatsHaveDensity(t *testing.T) {
	for _, f := range formats {
		if (f.density > 0) != (f.read != nil) {
			t.Errorf("%s: density %v", f.name, f.density)
		}
	}
}

// The length in a gzip file is modulo 4 GiB.
func TestGzipTextWraps(t *testing.T) {
	for _, c := range []struct{ stored, text int64 }{
		{20e6, 300e6}, {20e6, 100e6}, {300e6, 4.5e9}, {300e6, 5e9}, {300e6, 6.2e9}, {1e9, 14e9}, {70e6, 1.5e9},
	} {
		var tail [4]byte
		binary.LittleEndian.PutUint32(tail[:], uint32(c.text))
		if got := gzipText(tailAt{string(tail[:]), c.stored}, c.stored); got != c.text {
			t.Errorf("%d bytes stored: %d, want %d", c.stored, got, c.text)
		}
	}
}

// tailAt is a file of size bytes of which only the last are there.
type tailAt struct {
	tail string
	size int64
}

func (f tailAt) ReadAt(p []byte, off int64) (int, error) {
	return copy(p, f.tail[off-(f.size-int64(len(f.tail))):]), nil
}

// A text that outgrows what was expected of it is not read on.
func TestGrow(t *testing.T) {
	stop := errors.New("enough")
	var told int64
	o := Options{Grow: func(text int64, _ float64) error {
		told = text
		if text > 1e6 {
			return stop
		}
		return nil
	}}
	bomb := `{"traceEvents": [` + strings.Repeat(" ", 20e6) + "]}"
	for _, content := range []string{gz(bomb), zst(bomb)} {
		if _, err := Read(file(t, "bomb", content), o); err != stop || told < 1e6 || told > 4e6 {
			t.Errorf("%.4q: error %v after %d bytes", content, err, told)
		}
	}
	if _, err := Read(file(t, "plain", bomb), o); err == stop {
		t.Error("the length of a plain file is known and was asked for")
	}
	o.Stdin = strings.NewReader(bomb)
	if _, err := Read(Stdin, o); err != stop {
		t.Errorf("stdin: error %v", err)
	}
}
