package main

import (
	"strings"
	"testing"
	"time"
)

// clock is a clock that the test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func testProgress(plain bool, files ...string) (*progress, *clock, *strings.Builder) {
	var out strings.Builder
	c := &clock{time.Unix(0, 0)}
	line := statusLine{w: &out, plain: plain, now: c.now, start: c.t, shown: c.t}
	p := &progress{line: line, files: make(map[string]*fileProgress), left: len(files)}
	for _, file := range files {
		p.files[file] = new(fileProgress)
	}
	return p, c, &out
}

func TestProgressOnTerminal(t *testing.T) {
	p, c, out := testProgress(false, "a\x1b.json", "b.json")
	p.files["b.json"].total = 1e6
	read := func(done, total int64) { p.Read("a\x1b.json", done, total) }
	read(1, 1e6) // too early to be shown
	c.t = c.t.Add(time.Second)
	read(500e3, 1e6)
	c.t = c.t.Add(time.Second)
	read(1e6, 1e6)
	p.done()
	want := "\r\x1b[Kreading a\\x1b.json: 500.0 kB of 2.0 MB, 0 of 2 files, 3s left" +
		"\r\x1b[Kreading a\\x1b.json: 1.0 MB of 2.0 MB, 1 of 2 files, 2s left\r\x1b[K"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

func TestProgressPlain(t *testing.T) {
	p, c, out := testProgress(true, "a.json", "-")
	p.Read("a.json", 10, 10)
	p.Read("a.json", 10, 10) // the end is shown once
	p.Read("-", 1, 0)
	c.t = c.t.Add(time.Minute)
	p.Read("-", 2500, 0) // nobody knows how much is left
	p.done()
	want := "gaprof: read a.json, 10 B (1 of 2)\ngaprof: reading -: 2.5 kB, 1 of 2 files\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// Several files are read at once, and one of them is left out half-way.
func TestProgressOfSeveral(t *testing.T) {
	p, c, out := testProgress(false, "a", "b", "c", "d")
	for _, file := range p.files {
		file.total = 1e6
	}
	c.t = c.t.Add(time.Second)
	p.Read("a", 500e3, 1e6)
	c.t = c.t.Add(time.Second)
	p.Read("b", 500e3, 1e6)
	p.LeaveOut("b")
	p.LeaveOut("b")         // once
	p.Read("b", 700e3, 1e6) // nothing more is shown for it
	p.LeaveOut("c")         // before it was begun
	c.t = c.t.Add(time.Second)
	p.Read("d", 500e3, 1e6)
	p.done()
	want := "\r\x1b[Kreading a: 500.0 kB of 4.0 MB, 0 of 4 files, 7s left" +
		"\r\x1b[Kreading b: 1.0 MB of 4.0 MB, 0 of 4 files, 6s left" +
		"\r\x1b[Kreading d: 3.0 MB of 4.0 MB, 2 of 4 files, 1s left\r\x1b[K"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}
}

func TestNoProgress(t *testing.T) {
	for _, f := range []inputFlags{{progress: "auto"}, {progress: "off"}, {progress: "plain", quiet: true}} {
		p := startProgress(&strings.Builder{}, f, []string{"a"})
		if p != nil {
			t.Errorf("%+v: progress is shown", f)
		}
		p.Read("a", 1, 2)
		p.LeaveOut("a")
		p.done()
	}
}
