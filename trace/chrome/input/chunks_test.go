package input

import (
	"bytes"
	"io"
	"math"
	"testing"
	"testing/synctest"
)

// TestCloseWaits: nobody reads the source when Close returns.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, goOn, closed := make(chan bool), make(chan bool), make(chan bool)
		g := newRing(readFunc(func(p []byte) (int, error) {
			close(asked)
			<-goOn
			return 0, io.EOF
		}), 2, 100)
		<-asked
		go func() { g.close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("it returns while the source is read")
		default:
		}
		close(goOn)
		<-closed
	})
}

// TestProgress: what neither the reader nor a worker needs is given up, and no more.
func TestProgress(t *testing.T) {
	g := newRing(bytes.NewReader(numbered(10_000)), 5, 100)
	defer g.close()
	for _, c := range []struct{ base, chunk, kept int64 }{{250, 1, 100}, {150, 7, 150}, {260, 2, 200}, {10, 0, 200},
		{450, 4, 400}} {
		g.Progress(c.base, c.chunk)
		if g.mu.Lock(); g.kept != c.kept || g.awaited != theReader {
			t.Errorf("%+v: kept from %d on", c, g.kept)
		}
		g.mu.Unlock()
	}
	g.Await(3)
	if g.mu.Lock(); g.awaited != 3 || g.idle {
		t.Errorf("chunk %d is awaited", g.awaited)
	}
	g.mu.Unlock()
	g.Progress(450, 4)
	if g.mu.Lock(); g.awaited != theReader {
		t.Errorf("chunk %d is still awaited", g.awaited)
	}
	g.mu.Unlock()
}

// TestChunksOfStreams: a chunk is lent from somewhat before it on, with what follows it to be
// read on; one that is gone, or will not come, is not.
func TestChunksOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := numbered(1050)
		text := Text{}
		reader := NewWindow(bytes.NewReader(data))
		text.ReadAhead(&reader, 4, 100)
		defer text.Close()
		chunks := text.Chunks(7)
		if chunks.Size() != 100 || chunks.End() != math.MaxInt64 {
			t.Errorf("chunks of %d bytes", chunks.Size())
		}
		chunks.Progress(0, 1)
		w := NewWindow(nil)
		for _, c := range []struct{ chunk, before, from int64 }{{0, 0, 0}, {0, 64, 0}, {1, 64, 36}, {1, 0, 100}, {2,
			300, 0}, {3, 64, 236}} {
			if !chunks.Open(&w, c.chunk, c.before) {
				t.Fatalf("chunk %d is not there", c.chunk)
			}
			shows(t, "chunk", &w, data, c.from, int((c.chunk+1)*100-c.from))
		}
		opened := make(chan bool)
		other := NewWindow(nil)
		go func() { opened <- chunks.Open(&other, 5, 0) }()
		synctest.Wait()
		select {
		case <-opened:
			t.Error("chunk 5 is there before there is room")
		default:
		}
		w.Release()
		chunks.Progress(250, 2)
		if !<-opened {
			t.Error("chunk 5 does not come")
		}
		shows(t, "chunk", &other, data, 500, 100)
		other.Release()
		if chunks.Open(&w, 1, 0) {
			t.Error("chunk 1 is still there")
		}
		go func() { opened <- chunks.Open(&other, 9, 0) }()
		synctest.Wait()
		chunks.Interrupt()
		if <-opened {
			t.Error("chunk 9 is there")
		}
		if chunks.Open(&w, 3, 0) {
			t.Error("a worker that is to come back gets a chunk")
		}
		chunks.Resume()
		if !chunks.Open(&w, 3, 0) {
			t.Error("chunk 3 is gone")
		}
		w.Release()
		if chunks.EndsBefore(11) {
			t.Error("the end is known before it is read")
		}
		chunks.Progress(1000, 10)
		synctest.Wait()
		if !chunks.Open(&w, 10, 64) || chunks.EndsBefore(10) || !chunks.EndsBefore(11) {
			t.Error("the end is not where it is")
		}
		shows(t, "last chunk", &w, data, 936, 114)
		w.Release()
		if chunks.Open(&w, 11, 0) {
			t.Error("there is more than all")
		}
	})
}

// TestAwaitedGivesUp: a worker whose chunk the reader waits for does not wait for room.
func TestAwaitedGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := numbered(1000)
		text := Text{}
		reader := NewWindow(bytes.NewReader(data))
		text.ReadAhead(&reader, 3, 100)
		defer text.Close()
		chunks := text.Chunks(0)
		chunks.Progress(0, 1)
		w := NewWindow(nil)
		chunks.Open(&w, 2, 0)
		read := make(chan int)
		go func() { w.Slide(0); read <- w.N }() // asks for what follows, for which there is no room
		synctest.Wait()
		select {
		case n := <-read:
			t.Errorf("it has %d bytes without room", n)
		default:
		}
		chunks.Await(1)
		synctest.Wait()
		select {
		case n := <-read:
			t.Errorf("it has %d bytes though another one is awaited", n)
		default:
		}
		chunks.Await(2)
		if n := <-read; n != 100 || w.Err != errGone {
			t.Errorf("it has %d bytes: %v", n, w.Err)
		}
		w.Release()
	})
}

// TestEndsBefore: a stream that ends where a chunk would begin ends before it.
func TestEndsBefore(t *testing.T) {
	for n, chunk := range map[int]int64{1000: 10, 999: 10, 1001: 11} {
		g := newRing(bytes.NewReader(numbered(n)), 20, 100)
		g.done.Wait()
		if !g.EndsBefore(chunk) || g.EndsBefore(chunk-1) {
			t.Errorf("%d bytes do not end before chunk %d", n, chunk)
		}
	}
}

// TestSourcePanics: a panic of the source is raised in the reader, after all that was read before it;
// for workers the text ends there.
func TestSourcePanics(t *testing.T) {
	rest := bytes.NewReader(numbered(250))
	g := newRing(readFunc(func(p []byte) (int, error) {
		if rest.Len() == 0 {
			panic("planted")
		}
		return rest.Read(p)
	}), 5, 100)
	g.done.Wait()
	var p [100]byte
	if n, err := (view{g, 1}).ReadAt(p[:], 200); n != 0 && n != 50 || err != io.ErrUnexpectedEOF {
		t.Errorf("a worker: %d bytes, %v", n, err)
	}
	defer func() {
		if got := recover(); got != "planted" {
			t.Errorf("recovered %v", got)
		}
	}()
	_, _ = view{g, theReader}.ReadAt(p[:], 200)
}

// refusing is a file that cannot be mapped.
type refusing struct{}

func (refusing) Map(int64, int64, int) ([]byte, func(int)) { return nil, nil }

// TestCannotMap: what cannot be mapped is read.
func TestCannotMap(t *testing.T) {
	data := numbered(300_000)
	text := Text{At: bytes.NewReader(data), Size: int64(len(data)), Map: refusing{}}
	w := NewWindow(nil)
	if !text.Chunks(10_000).Open(&w, 3, 64) {
		t.Fatal("the chunk is not there")
	}
	shows(t, "chunk", &w, data, 29_936, -1)
	w = NewWindow(bytes.NewReader(data))
	w.Fill()
	text.ReadMapped(&w)
	toTheEnd(t, "mapped", &w, data)
}
