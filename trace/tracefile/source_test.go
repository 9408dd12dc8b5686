package tracefile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// sourceOf opens the source of a file for one test.
func sourceOf(t *testing.T, r io.Reader, size int64) *Source {
	t.Helper()
	c := &counter{r: r, total: size}
	in, err := unpack(c)
	if err != nil {
		t.Fatal(err)
	}
	s := newSource("x", in, c, Options{})
	t.Cleanup(s.close)
	return s
}

// TestSource: a file gives its text at any place wherever it has that, on one core too; a
// compressed one gives it once more from its beginning, and a stream only once.
func TestSource(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	small, large := oneEvent, oneEvent+strings.Repeat(" ", leastMapped)
	for _, cores := range []int{1, 2} {
		runtime.GOMAXPROCS(cores)
		for _, c := range []struct {
			name, content, text string
			at, mapped, again   bool
		}{
			{"small", small, small, true, false, false},
			{"large", large, large, true, runtime.GOOS == "linux", false},
			{"gzip", gz(small), small, false, false, true},
			{"gzip, large", gz(large), large, false, false, true},
			{"zstd in gzip", gz(zst(small)), small, false, false, true},
		} {
			f, err := os.Open(file(t, "x", c.content))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			s := sourceOf(t, f, int64(len(c.content)))
			at, size := s.At()
			mapped, again := s.Mapped() != nil, s.Again() != nil
			wrongSize := at != nil && size != int64(len(c.text))
			if (at != nil) != c.at || wrongSize || mapped != c.mapped || again != c.again {
				t.Fatalf("%s on %d cores: at %v, %d bytes, mapped %v, again %v", c.name, cores, at, size, s.Mapped(),
					again)
			}
			if at != nil {
				read, err := io.ReadAll(io.NewSectionReader(at, 0, size))
				same(t, c.name+" at any place", string(read), c.text, err)
			}
			if c.mapped {
				text, unmap := s.Mapped().Map(5, size-100, 32)
				same(t, c.name+" mapped", string(text), c.text[5:size-100]+strings.Repeat("\x00", 32), nil)
				unmap(10)
				if text, _ := s.Mapped().Map(5, size, 32); text != nil {
					t.Errorf("%s: zeros behind the end of the file", c.name)
				}
			}
			if c.again {
				read, err := io.ReadAll(io.LimitReader(s, 10))
				same(t, c.name+" begun", string(read), c.text[:10], err)
				r, err := s.Again()()
				if err != nil {
					t.Fatal(err)
				}
				read, err = io.ReadAll(r)
				same(t, c.name+" again", string(read), c.text, err)
				continue
			}
			read, err := io.ReadAll(s)
			same(t, c.name, string(read), c.text, err)
		}
		for name, content := range map[string]string{"stream": small, "gzip stream": gz(small)} {
			s := sourceOf(t, iotest.OneByteReader(strings.NewReader(content)), 0)
			if at, _ := s.At(); at != nil || s.Mapped() != nil || s.Again() != nil {
				t.Errorf("%s on %d cores: more than a stream", name, cores)
			}
			read, err := io.ReadAll(s)
			same(t, name, string(read), small, err)
		}
	}
}

func same(t *testing.T, what, got, want string, err error) {
	t.Helper()
	if got != want || err != nil {
		t.Errorf("%s: %d bytes, want %d, error %v", what, len(got), len(want), err)
	}
}

// Reading at any place counts as progress of the file, never more than there is of it.
func TestSourceProgress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, bytes.Repeat([]byte(" "), 1000), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := sourceOf(t, f, 1000)
	last := int64(0)
	s.counter.progress = func(done, total int64) {
		if done < last || done > total || total != 1000 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	at, _ := s.At()
	for range 5 {
		if _, err := at.ReadAt(make([]byte, 400), 300); err != nil {
			t.Fatal(err)
		}
	}
	if last != 1000 {
		t.Errorf("%d bytes at the end", last)
	}
}

// A file that somebody cuts while it is read is read as it is then, mapped or not.
func TestFileShrinks(t *testing.T) {
	var text bytes.Buffer
	if err := tracegen.Write(&text, tracegen.Options{Size: 8 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	const rest = 5 << 20
	for _, alone := range []bool{true, false} {
		path := file(t, "x", text.String())
		var once sync.Once
		o := Options{Alone: alone, Progress: func(done, total int64) {
			if done > 2<<20 {
				once.Do(func() {
					if err := os.Truncate(path, rest); err != nil {
						t.Error(err)
					}
				})
			}
		}}
		got := account(t, path, o)
		want := account(t, file(t, "x", text.String()[:rest]), Options{Alone: true})
		if alone && got != want {
			t.Errorf("%d bytes, want %d: %.300s", len(got), len(want), got[max(0, len(got)-300):])
		}
		if strings.HasPrefix(got, "error") {
			t.Errorf("alone %v: %s", alone, got)
		}
	}
}
