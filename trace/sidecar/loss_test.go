package sidecar

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

func TestReadLosses(t *testing.T) {
	for _, test := range []struct{ name, log, want string }{
		{
			"micro-batch",
			`{"step":0,"rank":1,"micro_batch":2,"loss_sum":208.3,"local_valid_tokens":59}`,
			"[{1 0 2 208.3 59}] []",
		},
		{"without tokens", `{"step":0,"micro_batch":0,"loss_sum":2}`, "[{5 0 0 2 -1}] []"},
		{"mean", `{"step":0,"rank":0,"micro_batch":0,"loss_mean":2,"local_valid_tokens":3}`, "[{0 0 0 6 3}] []"},
		{
			"mean of nothing",
			`{"step":0,"rank":0,"micro_batch":0,"loss_mean":NaN,"local_valid_tokens":0}`,
			"[{0 0 0 0 0}] []",
		},
		{
			"step",
			`{"step":3,"rank":0,"logged_loss":2.5,"optimized_loss":2.25}` + "\n" + `{"other":1}` + "\r\n\n",
			"[] [{0 3 2.5 2.25}]",
		},
		{
			"torchtitan",
			`{"step": 1, "loss": 2.5, "local_valid_tokens": 100, "global_valid_tokens": 180}`,
			"[] [{5 1 2.5 NaN}]",
		},
		{
			"what is not finite says nothing",
			`{"step": 1, "logged_loss": -Infinity, "note": "NaN: x"}` + "\n" + `{"step": 2, "logged_loss": 1}`,
			"[] [{5 2 1 NaN}]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, err := ReadLosses(strings.NewReader(test.log), "log", 5)
			if err != nil || fmt.Sprint(log.Micro, log.Steps) != test.want {
				t.Errorf("%v %v, want %s", log, err, test.want)
			}
		})
	}
}

func TestBadLosses(t *testing.T) {
	for _, test := range []struct {
		name, log, reason string
		offset            int64
	}{
		{"empty", "", "without a single loss", 0},
		{"other things", `{"step":1}`, "without a single loss", 0},
		{"broken", `{"step":0,"loss":1}` + "\n" + `{"step":1,"loss":}`, "line 2: invalid character", 20},
		{"text", `{"step":0,"loss":"2.5"}`, "line 1: json: cannot unmarshal string", 0},
		{"negative tokens", `{"step":0,"micro_batch":0,"loss_sum":1,"local_valid_tokens":-4}`, "-4 tokens", 0},
		{"no such step", `{"step":-2,"loss":1}`, "no rank 0, step -2", 0},
		{
			"endless line",
			`{"step":0,"loss":1}` + "\n" + strings.Repeat(" ", maxLine+1),
			"line 2: has more than 1048576 bytes",
			20,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadLosses(strings.NewReader(test.log), "log", 0)
			var format *trace.FormatError
			if !errors.As(err, &format) {
				t.Fatal(err)
			}
			if !strings.Contains(format.Reason, test.reason) || format.Offset != test.offset {
				t.Errorf("%v, want %s at %d", err, test.reason, test.offset)
			}
		})
	}
}

func TestWriteLosses(t *testing.T) {
	nan := math.NaN()
	log := &LossLog{[]MicroLoss{{0, 0, 1, 0.1, 3}, {1, 0, 0, nan, -1}, {1, 0, 1, nan, 5}},
		[]StepLoss{{0, 0, 1e-300, nan}}, []BadLoss{{1, 0, 1, "-Infinity"}}}
	var b strings.Builder
	if err := WriteLosses(&b, log); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLosses(strings.NewReader(b.String()), "log", 0)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(log) {
		t.Errorf("%s%v %v", b.String(), got, err)
	}
}

func FuzzReadLosses(f *testing.F) {
	f.Add(`{"step":0,"rank":1,"micro_batch":2,"loss_sum":208.3,"local_valid_tokens":59}`)
	f.Add(`{"step":1,"loss":NaN}`)
	f.Fuzz(func(t *testing.T, text string) {
		log, err := ReadLosses(strings.NewReader(text), "log", 0)
		if (err == nil) != (log != nil) || log != nil && len(log.Micro)+len(log.Steps)+len(log.Bad) == 0 {
			t.Errorf("%v %v", log, err)
		}
	})
}

// A loss that is no number is known, however it is written; one that is unknown, or a mean over
// nothing, is not taken for one.
func TestBadLossesAreKept(t *testing.T) {
	for line, want := range map[string]string{
		`{"step": 3, "rank": 1, "micro_batch": 2, "loss_sum": NaN, "local_valid_tokens": 7}`: "[{1 3 2 NaN}]",
		`{"step": 3, "micro_batch": 2, "loss_mean": -Infinity}`:                              "[{5 3 2 -Infinity}]",
		`{"step": 3, "loss": NaN, "grad_norm": Infinity}`:                                    "[{5 3 -1 NaN}]",
		`{"step": 3, "loss": 1.5, "grad_norm": NaN}`:                                         "[]",
		`{"step": 3, "micro_batch": 0, "local_valid_tokens": 7, "not_finite": "NaN"}`:        "[{5 3 0 NaN}]",
		`{"step": 3, "micro_batch": 0, "local_valid_tokens": 7, "not_finite": "soon"}`:       "[]",
		`{"step": 3, "micro_batch": 0, "loss_mean": NaN, "local_valid_tokens": 0}`:           "[]",
		`{"step": 3, "micro_batch": 0, "local_valid_tokens": 7}`:                             "[]",
	} {
		log, err := ReadLosses(strings.NewReader(line), "log", 5)
		if err != nil || fmt.Sprint(log.Bad) != want {
			t.Errorf("%s: %v, %v", line, log, err)
		}
	}
}
