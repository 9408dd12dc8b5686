package sidecar

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

func TestReadTokens(t *testing.T) {
	for _, test := range []struct{ name, log, want string }{
		{"csv", "rank,step,micro_batch,tokens\n0,0,0,59\n1,0,0,12\n", "[{0 0 0 59 -1} {1 0 0 12 -1}]"},
		{"csv, other order, spaces, no rank", "tokens, step\n7, 3\n", "[{5 3 -1 7 -1}]"},
		{"csv with a byte-order mark", "\ufeffstep,tokens\n1,2\n", "[{5 1 -1 2 -1}]"},
		{
			"torchtitan",
			`{"step": 1, "loss": 2.5, "local_valid_tokens": 100, "global_valid_tokens": 180}` + "\n" +
				`{"event": "checkpoint"}` + "\n\n",
			"[{5 1 -1 100 180}]",
		},
		{"json lines with ranks", `{"rank": 2, "step": 0, "micro_batch": 3, "tokens": 6}`, "[{2 0 3 6 -1}]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadTokens(strings.NewReader(test.log), "log", 5)
			if err != nil || fmt.Sprint(got) != test.want {
				t.Errorf("%v %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestBadTokens(t *testing.T) {
	for _, test := range []struct {
		name, log, reason string
		offset            int64
	}{
		{"empty", "", "empty", 0},
		{"no column", "rank,step\n0,1\n", `no column "tokens"`, 0},
		{"no row", "step,tokens\n", "without a single count", 0},
		{"not a number", "step,tokens\n0,1\n0,many\n", "not a whole number", 16},
		{"negative", "step,tokens\n0,-1\n", "line 2: rank 0 step 0 has -1 tokens", 12},
		{"a rank below zero", "rank,step,tokens\n-1,0,1\n", "no rank -1", 17},
		{"more than all", `{"step": 0, "tokens": 9, "global_valid_tokens": 8}`, "9 tokens of 8", 0},
		{"an absurd step", `{"step": 99999999999, "tokens": 9}`, "no rank 0, step 99999999999", 0},
		{"too few cells", "step,tokens\n0\n", "wrong number of fields", 12},
		{"broken json", `{"step": 1, "tokens": 5}` + "\n{oops\n", "line 2: invalid character", 25},
		{
			"broken json behind dos lines",
			`{"step": 1, "tokens": 5}` + "\r\n\r\n{oops\r\n",
			"line 3: invalid character",
			28,
		},
		{"a fraction", `{"step": 1, "tokens": 5.5}`, "cannot unmarshal", 0},
		{"json about other things", `{"loss": 1}`, "without a single count", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadTokens(strings.NewReader(test.log), "log", 0)
			var format *trace.FormatError
			if !errors.As(err, &format) {
				t.Fatal(err)
			}
			if !strings.Contains(format.Reason, test.reason) || format.Offset != test.offset || format.File != "log" {
				t.Errorf("%v, want %s at %d", err, test.reason, test.offset)
			}
		})
	}
}

func TestWriteTokens(t *testing.T) {
	list := []TokenCount{{0, 0, 0, 59, 563}, {1, 0, -1, 0, -1}}
	var b strings.Builder
	if err := WriteTokens(&b, list); err != nil {
		t.Fatal(err)
	}
	const want = `{"step":0,"rank":0,"micro_batch":0,"local_valid_tokens":59,"global_valid_tokens":563}` + "\n" +
		`{"step":0,"rank":1,"local_valid_tokens":0}` + "\n"
	got, err := ReadTokens(strings.NewReader(b.String()), "log", 7)
	if err != nil || b.String() != want || fmt.Sprint(got) != fmt.Sprint(list) {
		t.Errorf("%s%v %v", b.String(), got, err)
	}
}

func FuzzReadTokens(f *testing.F) {
	for _, seed := range []string{
		"rank,step,micro_batch,tokens\n0,0,0,59\n",
		`{"step": 1, "tokens": 5}`,
		"",
		"\"",
		"{",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		list, err := ReadTokens(strings.NewReader(log), "log", 0)
		if (err == nil) == (len(list) == 0) {
			t.Errorf("%d counts, error %v", len(list), err)
		}
	})
}
