package chrome

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace"
)

// notSyntax are the problems that text can have which is valid JSON and UTF-8:
// what it says is damaged, not how.
var notSyntax = map[trace.Code]bool{
	trace.LoneSurrogate: true, trace.NumberRange: true, trace.NotAnEvent: true, trace.NoTimestamp: true,
	trace.NegativeDuration: true, trace.MissingDuration: true, trace.UnreadDuration: true, trace.UnpairedBegin: true,
	trace.LongString: true, trace.DeepNesting: true, trace.DuplicateKey: true, trace.DroppedDevice: true, trace.TooManyCategories: true,
	trace.LineDelimited: true, // one event alone is JSON
}

// otherForms are problems that say that the text is no JSON although nothing in
// it is damaged.
var otherForms = map[trace.Code]bool{trace.ByteOrderMark: true, trace.LineDelimited: true, trace.SeveralDocuments: true}

// verdict reports whether Read finds damage in how text is written; refused tells
// that it finds no trace in it at all.
func verdict(text []byte) (damaged, otherForm, refused bool) {
	traces, err := Read(bytes.NewReader(text), Options{})
	if err != nil {
		return false, false, true
	}
	for _, t := range traces {
		for _, p := range t.Problems() {
			damaged = damaged || p.Code.Info().Strict && !notSyntax[p.Code]
			otherForm = otherForm || otherForms[p.Code]
		}
	}
	return damaged, otherForm, false
}

// checkVerdict compares Read with the two validators of the standard library.
func checkVerdict(t *testing.T, text []byte) {
	t.Helper()
	valid := json.Valid(text) && utf8.Valid(text)
	damaged, otherForm, refused := verdict(text)
	switch {
	case refused:
	case valid && damaged:
		t.Errorf("valid text is read with damage: %s", describe(text))
	case !valid && !damaged && !otherForm:
		t.Errorf("damaged text is read without a word: %s", describe(text))
	}
}

// describe shows what Read says of a text and the place that it says it of.
func describe(text []byte) string {
	traces, _ := Read(bytes.NewReader(text), Options{})
	out := ""
	for _, t := range traces {
		for _, p := range t.Problems() {
			at := int(max(p.Offset, 0))
			out += fmt.Sprintf("%s at %q; ", p.Code, text[max(at-60, 0):min(at+600, len(text))])
		}
	}
	return out + fmt.Sprintf("in %.400q", text)
}

// seeds are texts of every form and damage that this package's tests know.
func seeds() []string {
	return []string{
		"[" + ev + "," + next + "]", `{"traceEvents":[` + ev + `],"a":{"b":[1,2.5e3,null,true]}}`, ev + "\n" + next,
		"[" + ev + ",]", "[" + ev, `[{"ph":"X","ts":1,"na`, within(`"name":"C:\q"`), within("\"name\":\"\xff\n\""), within(`"name":"f("a", "b")"`),
		within(`"name":"\ud83d\ude00\ud83d"`), `[{"ph":"B","ts":1},{"ph":"E","ts":NaN},{"ph":"E","ts":3}]`,
		`[{"args":{"correlation":"7","External id":3,"Input Dims":[[1,2],[]],"q":-inf},"ph":"s","id":"0x1f","ts":"1e3","dur":-1}]`,
		"[" + ev + "][" + next + "]", mark + "[]", `{"traceEvents":[{"ph":"M","name":"thread_name","args":{"name":5}},{}]}`, `{"a":!,"traceEvents":[` + ev + `]}`,
	}
}

// FuzzRead: whatever the input, Read ends, and says the same twice.
func FuzzRead(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := Read(bytes.NewReader(text), Options{KeepArgs: true})
		if err != nil {
			var format *trace.FormatError
			if !errors.As(err, &format) || format.Offset < 0 || format.Offset > int64(len(text)) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := Read(&stutter{r: bytes.NewReader(text), n: 3}, Options{KeepArgs: true})
		if err != nil || len(again) != len(first) {
			t.Fatalf("%q: read again: %d traces, %v", text, len(again), err)
		}
		for i := range first {
			if dumpAll(first[i]) != dumpAll(again[i]) || problems(first[i]) != problems(again[i]) {
				t.Fatalf("%q: read again: another result", text)
			}
			for _, p := range first[i].Problems() {
				if p.Offset > int64(len(text)) || p.Code.Info().Level == trace.Error {
					t.Fatalf("%q: problem %+v", text, p)
				}
			}
			checkRoundTrip(t, first[i])
		}
	})
}

// FuzzDifferential: Read and the validators of the standard library agree on what
// is valid.
func FuzzDifferential(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(checkVerdict)
}

// TestMutants: the same on many texts that differ from a good one in one to three
// bytes, where a fuzzer seldom goes.
func TestMutants(t *testing.T) {
	count, size := 1_500, int64(20_000)
	if n, err := strconv.Atoi(os.Getenv("GAPROF_MUTANTS")); err == nil {
		count, size = n, 75_000 // for a long run by hand
	}
	good := generated(t, tracegen.AsIs, size)
	checkVerdict(t, good)
	if damaged, _, refused := verdict(good); damaged || refused {
		t.Fatal("the good text is damaged")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range count {
		text := bytes.Clone(good)
		for range 1 + rng.IntN(3) {
			text = mutate(rng, text)
		}
		checkVerdict(t, text)
		if t.Failed() {
			return
		}
	}
}

// mutate changes, inserts or removes one byte.
func mutate(rng *rand.Rand, text []byte) []byte {
	const telling = "\"\\{}[],:0123456789.-+eEtfnull \n\t\x00\x1f\x80\xff"
	i, c := rng.IntN(len(text)), telling[rng.IntN(len(telling))]
	switch rng.IntN(3) {
	case 0:
		text[i] = c
		return text
	case 1:
		return append(text[:i], text[i+1:]...)
	}
	return append(text[:i], append([]byte{c}, text[i:]...)...)
}
