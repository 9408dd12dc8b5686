package main

import (
	"bytes"
	"strings"
	"testing"
)

const passing = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:12: no file here\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestC/sub"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`

func TestLog(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		ok             bool
	}{
		{"nothing", "", "no test ran\n", false},
		{"passed and skipped", passing, "ok  \tp\t0.1s\n\n2 tests in 1 packages, 2 skipped\n" +
			"    1  no file here\n         p TestB\n    1  no reason given\n         p TestC/sub\n", true},
		{"failed", `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`, "    a_test.go:3: wrong\nFAIL\tp\t0.1s\n\n1 tests in 1 packages, 0 skipped\n", false},
		{"does not build", `# p
{"ImportPath":"p","Action":"build-output","Output":"p.go:1: syntax error\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`, "# p\np.go:1: syntax error\n\n0 tests in 1 packages, 0 skipped\n", false},
		{"panicked", `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: here\n"}
{"Action":"fail","Package":"p"}
`, "panic: here\n\n0 tests in 1 packages, 0 skipped\n", false},
		{"killed", passing + `{"Action":"start","Package":"q"}
{"Action":"output","Package":"q","Test":"TestQ","Output":"=== RUN   TestQ\n"}
`, "ok  \tp\t0.1s\nq: did not end\n=== RUN   TestQ\n\n2 tests in 1 packages, 2 skipped\n" +
			"    1  no file here\n         p TestB\n    1  no reason given\n         p TestC/sub\n", false},
	} {
		var out bytes.Buffer
		l := newLog(&out)
		if err := l.read(strings.NewReader(c.in)); err != nil {
			t.Fatal(err)
		}
		if ok := l.finish(); ok != c.ok || out.String() != c.want {
			t.Errorf("%s: %v, %q, want %q", c.name, ok, out.String(), c.want)
		}
	}
}

// TestManySkips: the most frequent reason stands first, and three tests of each are named.
func TestManySkips(t *testing.T) {
	var in strings.Builder
	for _, name := range []string{"D", "A", "C", "B"} {
		in.WriteString(`{"Action":"output","Package":"p","Test":"` + name + `","Output":"a.go:1: SKIP: often\n"}` + "\n")
		in.WriteString(`{"Action":"skip","Package":"p","Test":"` + name + `"}` + "\n")
	}
	in.WriteString(`{"Action":"skip","Package":"p","Test":"E"}` + "\n" + `{"Action":"pass","Package":"p"}`)
	var out bytes.Buffer
	l := newLog(&out)
	if err := l.read(strings.NewReader(in.String())); err != nil || !l.finish() {
		t.Fatal(err)
	}
	const want = "\n5 tests in 1 packages, 5 skipped\n    4  often\n         p A\n         p B\n         p C\n" +
		"         and 1 more\n    1  no reason given\n         p E\n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
}
