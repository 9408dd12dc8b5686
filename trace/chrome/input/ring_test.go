package input

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
)

// TestRingLends: what is lent stays as it is until it is given back, even where the
// reader needs the room.
func TestRingLends(t *testing.T) { synctest.Test(t, testRingLends) }

func testRingLends(t *testing.T) {
	full := strings.Repeat("a", 100) + strings.Repeat("b", 100) + strings.Repeat("c", 100)
	text := []byte(full + strings.Repeat("d", 30))
	g := newRing(bytes.NewReader(text), 2, 100)
	defer g.close()
	p, n := g.lend(0)
	done := make(chan string)
	go func() {
		var all [400]byte
		n, _ := view{g, theReader}.ReadAt(all[:], 150)
		done <- string(all[:n])
	}()
	synctest.Wait()
	if got := string(p.buf[history : history+n]); got != string(text[:100]) {
		t.Errorf("became %s", got)
	}
	p.release(0)
	if got := <-done; got != string(text[150:]) {
		t.Errorf("the reader has %s", got)
	}
	p, n = g.lend(3) // stood in by b before
	if got := string(p.buf[history : history+n+Padding]); got != string(text[300:])+strings.Repeat("\x00", Padding) {
		t.Errorf("the end is %q", got)
	}
	p.release(0)
	if p, _ := g.lend(4); p != nil {
		t.Error("there is more than all")
	}
}

// TestRingBounded: the source is not read further ahead of the reader than there is room.
func TestRingBounded(t *testing.T) { synctest.Test(t, testRingBounded) }

func testRingBounded(t *testing.T) {
	read := make(chan int, 1000)
	g := newRing(readFunc(func(p []byte) (int, error) { read <- len(p); return len(p), nil }), 3, 100)
	for range 3 {
		<-read
	}
	synctest.Wait()
	if len(read) > 0 {
		t.Error("more was read than there is room for")
	}
	var p [150]byte
	if n, err := (view{g, theReader}).ReadAt(p[:], 320); n != 150 || err != nil { // nobody has the text before any more
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := (view{g, 0}).ReadAt(p[:], 10); n != 0 || err != errGone {
		t.Errorf("a worker: %d bytes, %v", n, err)
	}
	g.close()
	if n, err := (view{g, theReader}).ReadAt(p[:], 400); n != 0 || err != errGone {
		t.Errorf("closed: %d bytes, %v", n, err)
	}
}
