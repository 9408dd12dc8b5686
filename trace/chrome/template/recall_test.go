package template

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// What is recalled needs no builder: a nil one proves that nothing was looked up.
var nobody *trace.Builder

// alike are sixteen bytes that texts have in common which meet in one slot.
const alike = "sixteen bytes al"

// quoted is the names in quotes, one after another, with text behind them.
func quoted(names ...string) (text []byte, n int) {
	s := `"` + strings.Join(names, `""`) + `"` + strings.Repeat(" ", 20)
	return padded(s), len(s)
}

// readNames reads names in turn; those that are recalled are told by capital R.
func readNames(t *testing.T, cache *Names, to *trace.Builder, names ...string) (ways string) {
	t.Helper()
	text, n := quoted(names...)
	i := 0
	for _, name := range names {
		way := "R"
		id, next, ok := recallName(cache, text, n, i)
		if !ok {
			way = "s"
			id, next, ok = cache.Read(text, n, i, to)
		}
		if !ok || next != i+len(name)+2 || to.String(id) != name {
			t.Fatalf("%q is read as %q to %d of %d, %v", name, to.String(id), next-i, len(name)+2, ok)
		}
		i, ways = next, ways+way
	}
	return ways
}

// recallName reads a name without a builder; ok is false where that asks for one.
func recallName(cache *Names, text []byte, n, i int) (id trace.StringID, next int, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return cache.Read(text, n, i, nobody)
}

// TestNamesAreRecalled: a name that came twice is recalled where it comes again, after the
// name before it or after the one that it followed the last time, and else looked up.
func TestNamesAreRecalled(t *testing.T) {
	to := trace.NewBuilder()
	a, b, c := alike+"a", alike+"b", alike+"bc"
	var names Names
	for _, step := range []struct{ names, ways string }{
		{"a", "s"},           // new
		{"a", "s"},           // came again: known from now on
		{"aaa", "RRR"},       // the same again
		{"bb", "ss"},         // b is known
		{"b", "R"},           // the last one
		{"a", "s"},           // neither the last nor the one after it
		{"bababa", "RRRRRR"}, // each follows the other
		{"aa", "RR"},         // a after a as well
		{"b", "s"},           // after a now comes a
		{"cc", "ss"}, {"c", "R"},
		{"a", "s"}, {"bc", "RR"}, // b still follows a, and c b
		{"abcabcabc", "RRRRRRRRR"},
	} {
		var list []string
		for _, letter := range step.names {
			list = append(list, map[rune]string{'a': a, 'b': b, 'c': c}[letter])
		}
		if got := readNames(t, &names, to, list...); got != step.ways {
			t.Errorf("%s: %s, want %s", step.names, got, step.ways)
		}
	}
	if names.Len() != 3 {
		t.Errorf("%d names are known", names.Len())
	}
}

// TestNamesEnd: a name that is known does not stand where the text ends within it, or where
// another one begins as it does.
func TestNamesEnd(t *testing.T) {
	to := trace.NewBuilder()
	var names Names
	long := alike + strings.Repeat("x", 40)
	readNames(t, &names, to, long, long, long)
	text, n := quoted(long)
	for cut := 19; cut < len(long)+1; cut++ { // what is behind the cut is no part of the text
		if _, next, ok := names.Read(padded(string(text[:cut])), cut, 0, nobody); ok && next > cut {
			t.Fatalf("cut at %d it ends at %d", cut, next)
		}
	}
	if id, next, ok := recallName(&names, text, n, 0); !ok || next != len(long)+2 || to.String(id) != long {
		t.Errorf("%q to %d, %v", to.String(id), next, ok)
	}
	readNames(t, &names, to, long+"y", long+"y", long, long[:30], long[:30], long, long+"y")
}

// TestNamesAreBounded: with more names than are kept learning starts anew, and goes on.
func TestNamesAreBounded(t *testing.T) {
	to := trace.NewBuilder()
	var names Names
	for i := range mostNames + 100 {
		name := fmt.Sprint("name of an operator ", i)
		readNames(t, &names, to, name, name)
		if names.Len() > mostNames || i < mostNames && names.Len() != i+1 {
			t.Fatalf("%d names are known of %d", names.Len(), i+1)
		}
		if ways := readNames(t, &names, to, name); ways != "R" {
			t.Fatalf("name %d is not recalled", i)
		}
	}
	if names.Len() != 100 {
		t.Errorf("%d names are known of those since it was full", names.Len())
	}
}

// TestSpread: texts that differ in any one of sixteen bytes have slots of their own, as far as
// drawn ones would.
func TestSpread(t *testing.T) {
	var names [4 * slots]int
	for at := range 16 {
		met := map[uint64]int{}
		for c := range 128 {
			text := []byte(alike + "        ")
			text[at] ^= byte(c)
			met[hash(text, 0)>>54%uint64(len(names))]++
		}
		if len(met) < 90 { // of 128 drawn ones 120 differ
			t.Errorf("byte %d: 128 texts meet in %d slots", at, len(met))
		}
	}
	var values Values
	keys, texts := map[**Value]int{}, map[**Value]int{}
	b := []byte(alike + "        ")
	for k := range 1000 {
		keys[values.any(values.hash(b, 0, trace.Key(k)))]++
		texts[values.named(values.hash(b, 0, 1), trace.StringID(k))]++
	}
	if len(keys) < 700 || len(texts) < 800 { // of 1000 drawn ones 887
		t.Errorf("1000 keys meet in %d slots, 1000 names in %d", len(keys), len(texts))
	}
	cats, eight := map[uint64]int{}, map[uint64]int{}
	for k := range 100 {
		eight[slotOf(fmt.Appendf(nil, "%08d", k*1234567%100_000_000))]++
		cats[slotOf(fmt.Append(nil, k))]++
		cats[slotOf(fmt.Appendf(nil, "%d of a category", k))]++
		cats[slotOf(fmt.Appendf(nil, "category %d", k))]++
	}
	if len(eight) < 60 { // of 100 drawn ones 83
		t.Errorf("100 categories of eight letters meet in %d slots", len(eight))
	}
	if len(cats) < 140 || len(cats) > slots { // of 300 drawn ones 177
		t.Errorf("300 categories meet in %d slots", len(cats))
	}
}

// TestIDs: what a slot holds is answered without asking; what meets in it is told apart.
func TestIDs(t *testing.T) {
	to := trace.NewBuilder()
	rng := rand.New(rand.NewPCG(3, 4))
	var labels Labels
	var cats Cats
	var tracks Tracks
	for range 2000 {
		v := rng.Int64N(5)*slots + rng.Int64N(40) - 20
		text := fmt.Append(nil, v)
		id := labels.Find(v, text, to)
		if to.String(id) != string(text) || labels.Find(v, text, nobody) != id {
			t.Fatalf("%d is %q, and then another", v, to.String(id))
		}
		name := fmt.Append(nil, "category ", rng.IntN(900))
		cat := cats.Find(name, to)
		if to.Cat(name) != cat || cats.Find(name, nobody) != cat {
			t.Fatalf("%s is %d, not %d", name, cat, to.Cat(name))
		}
		pid, tid := to.Intern(fmt.Append(nil, rng.IntN(40))), to.Intern(fmt.Append(nil, rng.IntN(90)))
		track := tracks.Find(pid, tid, to)
		if to.Track(pid, tid) != track || tracks.Find(pid, tid, nobody) != track {
			t.Fatalf("%d/%d is track %d, not %d", pid, tid, track, to.Track(pid, tid))
		}
	}
	few := Tracks{}
	for round := range 2 { // threads of a few processes, all of which have the same
		for id := range trace.StringID(6 * 30) {
			if to = nil; round == 0 {
				to = trace.NewBuilder()
			}
			few.Find(1+id/30, 10+id%30, to)
		}
	}
	to = trace.NewBuilder()
	var zero Labels
	if id := zero.Find(0, []byte("0"), to); to.String(id) != "0" {
		t.Error("the empty table knows 0")
	}
	var none Cats
	if none.Find(nil, to) != trace.CatNone {
		t.Error("the empty name is a category")
	}
	if slotOf([]byte("ab")) == slotOf([]byte("ba")) || slotOf(nil) >= slots {
		t.Error("the order of letters does not count")
	}
}

// TestCatsOfLists: of names separated by commas the first known one counts, else the first.
func TestCatsOfLists(t *testing.T) {
	to := trace.NewBuilder()
	var cats Cats
	for _, c := range []struct{ name, want string }{
		{"kernel", "kernel"}, {"mine", "mine"}, {"mine,kernel", "kernel"}, {"mine , cpu_op,kernel", "cpu_op"},
		{" mine ,yours", "mine"}, {"hip_runtime", "cuda_runtime"}, {",", ""},
	} {
		got := cats.Find([]byte(c.name), to)
		if want := to.Cat([]byte(c.want)); got != want || cats.Find([]byte(c.name), nobody) != want {
			t.Errorf("%s: %d, want %d", c.name, got, want)
		}
	}
}
