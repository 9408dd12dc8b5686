package trace

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestArgs(t *testing.T) {
	b := NewBuilder()
	str := func(s string) StringID { return b.Intern([]byte(s)) }
	track := b.Track(0, 0)
	mine := b.Key([]byte("mine"))
	lists := [][]Arg{
		nil,
		{{Key: KeyBytes, Num: 5}},
		{},
		{
			{Key: KeyBytes, Num: 5}, {Key: mine, Kind: Text, Str: str("x")},
			{Key: KeyInputDims, Kind: JSON, Str: str("[[1]]")},
		},
		{{Key: KeyBytes, Num: 5}}, // as before: stored once
		{{Key: KeyBytes, Num: int64(str("x"))}},
		{{Key: KeyBytes, Kind: Text, Str: str("x")}}, // the same bits, another kind
		{{Key: KeyBytes, Num: 5}, {Key: KeyBytes, Num: 6}},
	}
	for i, args := range lists {
		b.Add(&Row{Start: int64(i), Track: track, Offset: -1, Args: args})
	}
	if n := len(b.t.args.chunks[0].keys); n != 8 {
		t.Errorf("%d arguments are stored", n)
	}
	got := b.Build()
	for i, want := range lists {
		args := got.Event(i).Args()
		if len(want) == 0 && args == nil {
			continue
		}
		if !reflect.DeepEqual(args, want) {
			t.Errorf("row %d: %v, want %v", i, args, want)
		}
	}
	e := got.Event(3)
	if v, ok := e.ArgInt(KeyBytes); v != 5 || !ok {
		t.Errorf("bytes %d %v", v, ok)
	}
	if _, ok := e.ArgInt(mine); ok {
		t.Error("a text is an integer")
	}
	if _, ok := e.Arg(KeyStream); ok {
		t.Error("an argument that is not there")
	}
	texts := e.ArgText(KeyBytes) + e.ArgText(mine) + e.ArgText(KeyInputDims) + e.ArgText(KeyStream)
	if texts += got.Event(0).ArgText(mine); texts != "5x[[1]]" {
		t.Errorf("texts %q", texts)
	}
	if got.KeyName(mine) != "mine" || got.KeyName(9999) != "" {
		t.Error("names of keys")
	}
}

// TestManyArgs: lists that cross from chunk to chunk.
func TestManyArgs(t *testing.T) {
	b := NewBuilder()
	const rows = 3*chunkLen/7 + 5
	for i := range int64(rows) {
		var args []Arg
		for k := range i%7 + 1 {
			args = append(args, Arg{Key: KeyDevice + Key(k), Num: i*10 + k})
		}
		b.Add(&Row{Start: i, Offset: -1, Track: b.Track(0, 0), Args: args})
	}
	got := b.Build()
	for i := range int64(rows) {
		args := got.Event(int(i)).Args()
		if int64(len(args)) != i%7+1 {
			t.Fatalf("row %d has %d arguments", i, len(args))
		}
		for k, a := range args {
			if a.Num != i*10+int64(k) {
				t.Fatalf("row %d: %v", i, args)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	b := NewBuilder()
	if k, ok := FixedKey([]byte("stream")); !ok || k != KeyStream || b.Key([]byte("stream")) != KeyStream {
		t.Error("stream")
	}
	if _, ok := FixedKey([]byte("nothing")); ok {
		t.Error("nothing is a fixed key")
	}
	if _, ok := FixedKey(nil); ok {
		t.Error("the empty name is a fixed key")
	}
	for i := range 70_000 {
		b.Key(fmt.Appendf(nil, "key%d", i))
	}
	if b.Key([]byte("key0")) == KeyNone || b.Key([]byte("one too many")) != KeyNone {
		t.Error("the limit of keys")
	}
}

func TestIntern(t *testing.T) {
	b := NewBuilder()
	if b.Intern(nil) != 0 || b.Intern([]byte("")) != 0 || b.String(0) != "" {
		t.Error("the empty string is not 0")
	}
	const n = 20_000 // the table grows many times
	ids := make([]StringID, n)
	buf := []byte{}
	for i := range n {
		buf = fmt.Appendf(buf[:0], "name %d", i)
		ids[i] = b.Intern(buf)
		buf[0] = 'X' // the table must have its own copy
	}
	for i := range n {
		want := fmt.Sprintf("name %d", i)
		if b.Intern([]byte(want)) != ids[i] || b.String(ids[i]) != want || int(ids[i]) != i+1 {
			t.Fatalf("%s: %d, %q", want, ids[i], b.String(ids[i]))
		}
	}
	got := b.Build()
	if got.NumStrings() != n+1 || got.String(n+5) != "" {
		t.Errorf("%d strings", got.NumStrings())
	}
}

func TestCategories(t *testing.T) {
	b := NewBuilder()
	for name, want := range map[string]Cat{
		"": CatNone, "kernel": CatKernel, "Kernel": CatKernel,
		"async_gpu": CatLaunchFlow, "hip_runtime": CatCUDARuntime,
	} {
		if got := b.Cat([]byte(name)); got != want {
			t.Errorf("%s is %d", name, got)
		}
		if got, ok := KnownCat([]byte(name)); got != want || !ok {
			t.Errorf("KnownCat(%s) is %d, %v", name, got, ok)
		}
	}
	if _, ok := KnownCat([]byte("mine")); ok {
		t.Error("mine is known")
	}
	mine := b.Cat([]byte("mine"))
	if mine < numFixedCats || b.Cat([]byte("mine")) != mine {
		t.Errorf("mine is %d", mine)
	}
	for i := range maxCats {
		b.Cat(fmt.Append(nil, i))
	}
	got := b.Build()
	if got.CatName(mine) != "mine" || got.CatName(CatKernel) != "kernel" || got.CatName(60_000) != "" {
		t.Error("names of categories")
	}
	if !strings.HasPrefix(codes(got), "too_many_categories:") {
		t.Errorf("problems %q", codes(got))
	}
	activity := []Cat{CatKernel, CatGPUMemcpy, CatGPUMemset}
	for c := range numFixedCats {
		if want := c == activity[0] || c == activity[1] || c == activity[2]; c.IsActivity() != want {
			t.Errorf("%s: activity %v", got.CatName(c), c.IsActivity())
		}
	}
	if !CatCUDADriver.IsRuntime() || CatCPUOp.IsRuntime() || CatCUDASync.IsRuntime() {
		t.Error("runtime categories")
	}
}

func TestReserve(t *testing.T) {
	a := newAdder().add('X', "a", 1, 1)
	a.Reserve(1000)
	a.Reserve(10)
	if a.Len() != 1 || cap(a.t.col.Start) < 1000 || cap(a.t.col.Phase) < 1000 {
		t.Error("no room")
	}
	if got := tree(a.add('X', "b", 2, 1).Build()); got != "a[1,2) b[2,3)" {
		t.Error(got)
	}
}

func TestProblems(t *testing.T) {
	b := NewBuilder()
	b.Problem(BadUTF8, 7, "first")
	b.Problem(BrokenEvent, -1, "")
	b.Problem(BadUTF8, 9, "second")
	list := b.Build().Problems()
	if len(list) != 2 || list[0] != (Problem{BadUTF8, 2, 7, "first"}) || list[1].Count != 1 {
		t.Errorf("%+v", list)
	}
	if m := list[0].Message(); !strings.HasSuffix(m, ": first") || strings.Contains(list[1].Message(), ": ") {
		t.Errorf("messages %q, %q", m, list[1].Message())
	}
}

// TestProblemTable: every code is explained in full, and no other is.
func TestProblemTable(t *testing.T) {
	for _, c := range Codes() {
		info := c.Info()
		if info.Level != Note && info.Level != Warn && info.Level != Error || info.Meaning == "" || info.Action == "" {
			t.Errorf("%s: %+v", c, info)
		}
		if strings.HasSuffix(info.Meaning, ".") || strings.ToLower(string(c)) != string(c) {
			t.Errorf("%s: %q", c, info.Meaning)
		}
	}
	if Code("no such").Info().Level != Error {
		t.Error("an undocumented code is no error")
	}
}

func TestFormatError(t *testing.T) {
	var err error = &FormatError{File: "a.json", Offset: 5, Reason: "x"}
	var format *FormatError
	if err.Error() != "a.json: byte 5: x" || !errors.As(err, &format) {
		t.Error(err)
	}
	if s := (&FormatError{Offset: 5, Reason: "x"}).Error(); s != "byte 5: x" {
		t.Error(s)
	}
}

func TestZeroTrace(t *testing.T) {
	var z Trace
	if z.Len() != 0 || z.NumStrings() != 0 || z.String(3) != "" || z.CatName(1) != "" ||
		len(z.Tracks()) != 0 || z.Meta() == nil {
		t.Error("the zero trace is not an empty one")
	}
}
