package sidecar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/bounded"
)

// Counts that no run has are refused where they stand, so that no sum of counts overflows.
func TestTokenSums(t *testing.T) {
	const most = math.MaxInt64
	line := func(n int64) string { return fmt.Sprintf(`{"step":0,"tokens":%d}`+"\n", n) }
	lossLine := func(n int64) string {
		return fmt.Sprintf(`{"step":0,"micro_batch":0,"loss_sum":1,"local_valid_tokens":%d}`+"\n", n)
	}
	for log, want := range map[string]string{
		line(mostTokens):                         "",
		line(mostTokens) + line(1):               "byte 37: token log: line 2: 1 tokens: with those before it",
		line(most):                               "byte 0: token log: line 1: 9223372036854775807 tokens: with those",
		line(5) + line(most):                     "byte 22: token log: line 2: ",
		"step,tokens\n0,9007199254740992\n":      "",
		"step,tokens\n0,1\n0,9007199254740992\n": "byte 16: token log: line 3: 9007199254740992 tokens: with those",
		"step,tokens,global_valid_tokens\n0,1,9007199254740993\n": "line 2: rank 0 step 0 has 1 tokens of 90071992547",
	} {
		_, err := ReadTokens(strings.NewReader(log), "log", 0)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", log, err)
		}
	}
	if _, err := ReadLosses(strings.NewReader(lossLine(7)+lossLine(most)), "log", 0); err == nil ||
		!strings.Contains(err.Error(), "line 2: 9223372036854775807 tokens: with those before it") {
		t.Errorf("%v", err)
	}
}

// stopped fails after a text as a file does that is too large.
type stopped struct{ text *strings.Reader }

func (s stopped) Read(p []byte) (int, error) {
	if s.text.Len() == 0 {
		return 0, &bounded.Error{File: "log", Offset: 5, Reason: "goes on", Hint: "cut it"}
	}
	return s.text.Read(p)
}

// Where a log is too large the error is that of the file, with what can be done.
func TestLogLimits(t *testing.T) {
	var e *bounded.Error
	for _, text := range []string{"", `{"step":0,"tokens":7}` + "\n", "step,tokens\n0,7\n"} {
		_, err := ReadTokens(stopped{strings.NewReader(text)}, "log", 0)
		if !errors.As(err, &e) || e.Error() != "log: byte 5: goes on" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ReadLosses(stopped{strings.NewReader(`{"step":0,"loss":1}` + "\n")}, "log", 0); !errors.As(err, &e) {
		t.Errorf("%v", err)
	}
	_, err := ReadLosses(strings.NewReader(`{"step":0,"tokens":7}`), "log", 0)
	if !WithoutLosses(err) {
		t.Errorf("a log of tokens: %v", err)
	}
	if _, err = ReadLosses(strings.NewReader(`{"step":0,"loss":1e309}`), "log", 0); err == nil || WithoutLosses(err) {
		t.Errorf("a number beyond all: %v", err)
	}
}

// noHeader counts what is read beyond the length of a header.
type noHeader struct {
	length uint64
	read   int
}

func (r *noHeader) ReadAt(p []byte, off int64) (int, error) {
	if off == 0 {
		return copy(p, binary.LittleEndian.AppendUint64(nil, r.length)), nil
	}
	r.read += len(p)
	return len(p), nil
}

// A header that no model has is not read at all.
func TestHeaderLimit(t *testing.T) {
	r := &noHeader{length: maxHeader + 1}
	_, err := ReadSafetensors(r, 1<<40, "f")
	if err == nil || !strings.Contains(err.Error(), "at most 33554432 can be read") || r.read > 0 {
		t.Errorf("%v, %d bytes were read", err, r.read)
	}
}

// What the files of a run say of its ranks is bounded: tables have a row for each.
func TestMostRanks(t *testing.T) {
	for name, c := range map[string]struct{ meta, want string }{
		"rank0-step0.safetensors":       {"", ""},
		"rank1048575-step0.safetensors": {"", ""},
		"rank1048576-step0.safetensors": {"", "rank 1048576 is more than any run has, 1048575"},
		"a.safetensors":                 {"1048576", "neither"},
		"rank1-step0.safetensors":       {"1048576", ""},
		"rank2-step0.safetensors":       {"1048577", "world_size 1048577 is more than any run has, 1048576"},
	} {
		s := &Safetensors{File: name, Meta: map[string]string{}}
		if c.meta != "" {
			s.Meta["world_size"] = c.meta
		}
		_, err := s.Of()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
