package chrome

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace"
)

// account is everything that Read says of a text: the traces as they are written,
// what else they hold, and their problems; or the error.
func account(t *testing.T, traces []*trace.Trace, err error) string {
	t.Helper()
	if err != nil {
		return "error: " + err.Error()
	}
	var out bytes.Buffer
	for _, tr := range traces {
		if err := Write(&out, tr); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%d events, %d rows, %+v\n%s\n", tr.Meta().EventsInFile, tr.Len(), tr.Problems(), dumpAll(tr))
	}
	return out.String()
}

// readInChunks reads text by a pool of workers, in chunks of so many bytes.
func readInChunks(text []byte, chunk int64, o Options) ([]*trace.Trace, error) {
	o.At, o.Size, o.chunk = bytes.NewReader(text), int64(len(text)), chunk
	return Read(bytes.NewReader(text), o)
}

// inMemory is a text that no file is behind.
type inMemory []byte

func (m inMemory) Map(from, to int64, zeros int) ([]byte, func(int)) {
	if to > int64(len(m)) {
		return nil, nil
	}
	return append(bytes.Clone(m[from:to]), make([]byte, zeros)...), func(int) {}
}

// checkChunks compares reading by a pool of workers, in chunks of each size, with reading alone.
func checkChunks(t *testing.T, text []byte, o Options, chunks ...int64) {
	t.Helper()
	traces, err := Read(bytes.NewReader(text), o)
	want := account(t, traces, err)
	for k := range 2 * len(chunks) {
		chunk := chunks[k/2]
		if o.Map = nil; k%2 == 1 { // the same where it stands
			if len(text) < 128<<10 {
				continue
			}
			o.Map = inMemory(text)
		}
		traces, err := readInChunks(text, chunk, o)
		if got := account(t, traces, err); got != want {
			k := 0
			for k < min(len(got), len(want)) && got[k] == want[k] {
				k++
			}
			t.Fatalf("chunks of %d bytes: got ...%q, want ...%q, in %q", chunk, clip(got[max(k-40, 0):]), clip(want[max(k-40, 0):]), clip(string(text)))
		}
	}
}

// tricky holds what looks like the beginning of an event and is none, and names
// that are given and taken back.
const tricky = `{"schemaVersion":1,"traceEvents":[
 {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"early"}},
 {"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a","args":{"l":[{"a":1},{"ph":"X","ts":5,"dur":1,"name":"false"},{"ph":"X","ts":6}],"s":"},{"}},
 {"ph":"X","ts":2,"dur":1,"pid":1,"tid":2,"name":"},{\"ph\":\"X\",\"ts\":7},{","args":{"x":" } , { ","y":",\"ts\":3"}} ,
 {"ph":"X","cat":"Trace","ts":0,"dur":0,"pid":1,"tid":1,"name":"P"},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"t2"}},
 {"ph":"X","cat":"mine","ts":3,"dur":-4,"pid":"p","tid":"","name":"n","args":{"k":"v","k":"w","z":[1,2]}},{"ph":"i","pid":1},
 {"ph":"X","cat":"Trace","ts":9,"dur":3,"pid":1,"tid":1,"name":"P"},{"ph":"s","id":"x","ts":4,"pid":1,"tid":1,"name":"f"},{},
 {"ph":"B","ts":4,"pid":1,"tid":1,"name":"b"},
 {"ph":"M","name":"process_name","pid":1,"args":{"name":"late"}},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":""}},
 {"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":4}},{"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":-3}},
 {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"GPU 0"}},{"ph":"E","ts":8,"pid":1,"tid":1},7
],"traceName":"x"}`

// upTo returns the numbers from 1 to n.
func upTo(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i + 1)
	}
	return list
}

func TestPoolEveryOffset(t *testing.T) {
	checkChunks(t, []byte(tricky), Options{KeepArgs: true}, upTo(400)...)
	for _, text := range append(seeds(), strings.TrimSuffix(tricky, `,"traceName":"x"}`), tricky+tricky, tricky+"\n"+ev+next) {
		checkChunks(t, []byte(text), Options{KeepArgs: true}, upTo(min(len(text), 30))...)
	}
}

// TestPoolDamage damages and cuts a text at every place.
func TestPoolDamage(t *testing.T) {
	step := 2
	if testing.Short() {
		step = 19
	}
	for i := 0; i < len(tricky); i += step {
		chunk := int64(1 + i*7%300)
		checkChunks(t, []byte(tricky[:i]), Options{}, chunk)
		checkChunks(t, []byte(tricky[:i]+tricky[i+1:]), Options{}, chunk, 97)
		checkChunks(t, []byte(tricky[:i]+`"`+tricky[i:]), Options{}, chunk)
	}
}

func TestPoolShapes(t *testing.T) {
	for _, shape := range tracegen.Shapes() {
		text := generated(t, shape, 600_000)
		checkChunks(t, text, Options{KeepArgs: true}, 1_000, 10_007, 77_777, 250_000, int64(len(text)))
		checkChunks(t, text[:len(text)*2/3], Options{}, 30_011)
		checkChunks(t, bytes.Replace(text, []byte(`"ph": "X"`), []byte(`"ph": "X", "q": NaN`), 500), Options{}, 30_011)
	}
}

// realFiles are shared traces: of GPUs, of a writer that gives no categories, and damaged in
// every way.
var realFiles = []string{
	"gpu/nanogpt-current",
	"gpu/nanogpt-hook",
	"torch-cpu/ddp2-accum4-no-sync-scale-rank0.native",
	"torch-cpu/ddp2-accum4-no-sync-scale-rank1.native",
	"torch-cpu/single-accum1-scale.native",
	"torch-cpu/single-accum4-scale.native",
	"damaged/args-strings",
	"damaged/bad-escape",
	"damaged/bad-utf8",
	"damaged/comm-on-compute-stream",
	"damaged/compact-oneline",
	"damaged/gpu-only",
	"damaged/inf",
	"damaged/metadata-only",
	"damaged/multimember",
	"damaged/nan-inf",
	"damaged/no-distributedInfo",
	"damaged/no-flow",
	"damaged/no-nccl-kernel-metadata",
	"damaged/no-optimizer",
	"damaged/no-profilerstep",
	"damaged/old-categories",
	"damaged/reversed-order",
	"damaged/toplevel-list",
	"damaged/trailing-comma",
	"damaged/truncated-gzip",
	"damaged/ts-in-ns",
	"damaged/unclosed-array",
}

func TestPoolRealFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("real files are read in long runs only")
	}
	for _, name := range realFiles {
		t.Run(name, func(t *testing.T) {
			text, _ := io.ReadAll(sharedTrace(t, name+".json.gz")) // a damaged stream gives what stands before the damage
			checkChunks(t, text, Options{KeepArgs: true}, 50_021, 1<<20)
		})
	}
}

// TestPoolTakesOver: the workers do the work, not only the reader.
func TestPoolTakesOver(t *testing.T) {
	text := generated(t, tracegen.AsIs, 2_000_000)
	d := newReader(bytes.NewReader(text), Options{At: bytes.NewReader(text), Size: int64(len(text)), chunk: 100_000}, maxValue)
	if _, err := d.first(); err != nil {
		t.Fatal(err)
	}
	if alone := len(text) - int(d.taken); alone > 400_000 {
		t.Errorf("the reader read %d of %d bytes by itself", alone, len(text))
	}
}

// TestPoolFullTables: where there is no room for all names, those are kept that one
// reader alone would keep.
func TestPoolFullTables(t *testing.T) {
	var cats, keys strings.Builder
	for i := range 70_000 {
		if i < 6_000 {
			fmt.Fprintf(&cats, `{"ph":"X","ts":%d,"dur":1,"pid":1,"tid":1,"name":"n","cat":"c%d"},`, i, i*7%5_000)
		}
		fmt.Fprintf(&keys, `{"ph":"X","ts":%d,"dur":1,"pid":1,"tid":1,"name":"n","args":{"k%d":%d}},`, i, i, i)
	}
	for _, list := range []string{cats.String(), keys.String()} {
		checkChunks(t, []byte("["+list+ev+"]"), Options{KeepArgs: true}, 50_000)
	}
}

// brokenAt is an input whose bytes from a place on cannot be read.
type brokenAt struct {
	text string
	from int64
}

var errBroken = errors.New("the disk is broken")

func (b brokenAt) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.from {
		return 0, errBroken
	}
	n := copy(p, b.text[off:b.from])
	if n < len(p) {
		return n, errBroken
	}
	return n, nil
}

func TestPoolReadError(t *testing.T) {
	text := string(generated(t, tracegen.AsIs, 1_500_000))
	src := brokenAt{text, 1_200_000}
	all := io.NewSectionReader(src, 0, int64(len(text)))
	traces, err := Read(all, Options{})
	want := account(t, traces, err)
	if !strings.Contains(want, errBroken.Error()) {
		t.Fatal("the error is not told")
	}
	_, _ = all.Seek(0, io.SeekStart)
	traces, err = Read(all, Options{At: src, Size: int64(len(text)), chunk: 70_000})
	if got := account(t, traces, err); got != want {
		t.Error("another result than that of one reader alone")
	}
}

// FuzzSplit: a pool of workers reads whatever there is as one reader does.
func FuzzSplit(f *testing.F) {
	for _, s := range append(seeds(), tricky) {
		f.Add([]byte(s), uint16(len(s)/3))
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk uint16) {
		if int(chunk) < len(text)/64 { // a worker fills its window for each chunk
			chunk = uint16(min(len(text)/64, 1<<16-1))
		}
		checkChunks(t, text, Options{KeepArgs: len(text)%2 == 0}, int64(chunk)+1)
	})
}
