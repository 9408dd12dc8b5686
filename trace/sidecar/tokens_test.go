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
		{"csv", "rank,step,micro_batch,tokens\n0,0,0,59\n1,0,0,12\n", "[{0 0 0 59} {1 0 0 12}]"},
		{"csv, other order, spaces, no rank", "tokens, step\n7, 3\n", "[{5 3 -1 7}]"},
		{"csv with a byte-order mark", "\ufeffstep,tokens\n1,2\n", "[{5 1 -1 2}]"},
		{"torchtitan", `{"step": 1, "loss": 2.5, "local_valid_tokens": 100, "global_valid_tokens": 180}` + "\n" + `{"event": "checkpoint"}` + "\n\n",
			"[{5 1 -1 100}]"},
		{"json lines with ranks", `{"rank": 2, "step": 0, "micro_batch": 3, "tokens": 6}`, "[{2 0 3 6}]"},
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
		{"negative", "step,tokens\n0,-1\n", "-1 tokens", 0},
		{"too few cells", "step,tokens\n0\n", "wrong number of fields", 12},
		{"broken json", `{"step": 1, "tokens": 5}` + "\n{oops\n", "invalid character", 25},
		{"a fraction", `{"step": 1, "tokens": 5.5}`, "cannot unmarshal", 0},
		{"json about other things", `{"loss": 1}`, "without a single count", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadTokens(strings.NewReader(test.log), "log", 0)
			var format *trace.FormatError
			if !errors.As(err, &format) || !strings.Contains(format.Reason, test.reason) || format.Offset != test.offset || format.File != "log" {
				t.Errorf("%v, want %s at %d", err, test.reason, test.offset)
			}
		})
	}
}

func FuzzReadTokens(f *testing.F) {
	for _, seed := range []string{"rank,step,micro_batch,tokens\n0,0,0,59\n", `{"step": 1, "tokens": 5}`, "", "\"", "{"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		list, err := ReadTokens(strings.NewReader(log), "log", 0)
		if (err == nil) == (len(list) == 0) {
			t.Errorf("%d counts, error %v", len(list), err)
		}
	})
}
