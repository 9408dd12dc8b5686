package chrome

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// What is learned while reading - field and event templates, names, values, times - must never say
// anything that the rules do not say. So all of it is compared with a reader that
// learns nothing.

// checkRules compares what is learned with the rules.
func checkRules(t *testing.T, text []byte, keep bool) {
	t.Helper()
	traces, err := Read(bytes.NewReader(text), Options{KeepArgs: keep, rules: true})
	want := account(t, traces, err)
	traces, err = Read(bytes.NewReader(text), Options{KeepArgs: keep})
	if got := account(t, traces, err); got != want {
		t.Fatalf("%.2000q\nis read as\n%.2000s\nby the rules as\n%.2000s", text, got, want)
	}
}

// TestRules: texts of every shape, whole and with a few bytes changed.
func TestRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, shape := range tracegen.Shapes() {
		good := generated(t, shape, 40_000)
		checkRules(t, good, true)
		for range 60 {
			text := bytes.Clone(good)
			for range 1 + rng.IntN(8) {
				text = mutate(rng, text)
			}
			checkRules(t, text, rng.IntN(2) == 0)
		}
	}
	if testing.Short() {
		return
	}
	for _, name := range []string{"gpu/nanogpt-hook", "gpu/normuon-rank3", "torch-cpu/single-accum1-scale"} {
		text, err := io.ReadAll(sharedTrace(t, name+".json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		checkRules(t, text, false)
	}
}

// TestRulesOfNumbers: numbers of every form, each behind a plain one at the same place
// and before one more.
func TestRulesOfNumbers(t *testing.T) {
	numbers := []string{
		"0", "-0", "00", "01", "-1", "7", "12345678", "123456789012345", "1234567890123456", "9223372036854775807", "9223372036854775808", "1e3", "1E+2", "12e", "1.", "1.5",
		".5", "0.5", "1.23", "1.2345", "12.345", "123.456", "1234.567", "12345.678", "01.234", "1234.56a", "1.2.3", "1.234.5", "3924272799580.509", "3924272799580.5099",
		"3924272799580,509", "39242727995805.509", "3924272799580.50", "3924272799a80.509", "3924272799580.50:", "0000000099580.509", "1234.567e2", "NaN", "null", `"5"`, `""`, "[1]", "{}", "", " 5", "5 ", "true", "5x",
	}
	const plain = "3924272799580.123"
	for _, key := range []string{`"ts":`, `"dur":`, `"id":`, `"args":{"correlation":`, `"args":{"External id":`, `"args":{"Ev Idx":`, `"args":{"bytes":`, `"args":{"stream":`, `"pid":`, `"odd":`} {
		for _, first := range []string{"5", plain, "12.345"} {
			for _, n := range numbers {
				text := "["
				for k, v := range []string{first, first, n, first, n} {
					event := `{"ph":"X","cat":"kernel","name":"k","tid":7`
					if key != `"ts":` {
						event += `,"ts":` + plain
					}
					event += "," + key + v
					if bytes.Contains([]byte(key), []byte("{")) {
						event += "}"
					}
					if k > 0 {
						text += ","
					}
					text += event + "}"
				}
				checkRules(t, []byte(text+"]"), false)
			}
		}
	}
}

// FuzzRules: three events one after another, over and over, so that the way through
// them is known.
func FuzzRules(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), []byte(ev), []byte(next))
		f.Add([]byte(ev), []byte(s), []byte(ev))
	}
	f.Add([]byte(ev), []byte(next), []byte(`{"ph":"X","ts":1.5,"dur":"2","name":"a\u0041","args":{"bytes":1e3,"Input Dims":[[1],[]]}}`))
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		text := []byte("[")
		for k, event := range slices.Concat(slices.Repeat([][]byte{a, b}, 3), slices.Repeat([][]byte{a, b, c}, 2)) {
			if k > 0 {
				text = append(text, ',')
			}
			text = append(text, event...)
		}
		checkRules(t, append(text, ']'), len(a)%2 == 0)
	})
}
