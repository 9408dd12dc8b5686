package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lossyRounds is how many damaged runs are made of each sample.
const lossyRounds = 9

// A recording may have lost anything: launches, kernels, whole threads, arguments, the truth of
// its times. Whatever is left of it, analysis and replay end with an answer or a refusal.
func TestLossyTraces(t *testing.T) {
	rounds := lossyRounds
	if testing.Short() {
		rounds = 1
	}
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--device", "cpu", "--reduce-scatter", "step", "--world-size", "2", "--max-steps", "3"},
		{"--device", "sim:h100", "--sharding", "full", "--layers", "2", "--world-size", "2", "--max-steps", "2"},
	} {
		out := filepath.Join(dir, strings.ReplaceAll(args[1], ":", "-"))
		if code, _, stderr := runWith("", append([]string{"train", "-q", "-o", out}, args...)...); code != exitOK {
			t.Fatal(stderr)
		}
	}
	samples := [][]string{
		{"../../traces/reduce-scatter-in-step.json"},
		{"../../analyze/rules/testdata/h100/current.json.gz"},
	}
	for _, run := range []string{"cpu", "sim-h100"} {
		run = filepath.Join(dir, run)
		samples = append(samples, []string{filepath.Join(run, "rank0.json.gz"), filepath.Join(run, "rank1.json.gz")})
	}
	for i, files := range samples {
		var docs []document
		for _, file := range files {
			docs = append(docs, readDocument(t, file))
		}
		rng := rand.New(rand.NewPCG(uint64(i), 18))
		for range rounds {
			lossyRound(t, rng, dir, docs)
		}
	}
}

// lossyRound analyzes and replays a run that has lost something.
func lossyRound(t *testing.T, rng *rand.Rand, dir string, docs []document) {
	var paths []string
	var text []byte
	lost := losses[rng.IntN(len(losses))]
	share := []float64{0.02, 0.1, 0.5, 1}[rng.IntN(4)]
	for i, d := range docs {
		path := filepath.Join(dir, "lossy"+string(rune('0'+i))+".json")
		text = lost.from(rng, d, share).bytes(t)
		must(t, os.WriteFile(path, text, 0o666))
		paths = append(paths, path)
	}
	for _, command := range [][]string{
		{"analyze", "-q", "--format", "json"},
		{"whatif", "-q"},
		{"whatif", "-q", "--edit", "hoist-reduce-scatter", "-o", filepath.Join(dir, "predicted.json"), "--force"},
	} {
		code, _, stderr := runWith("", append(command, paths...)...)
		if code == exitBug || strings.Contains(stderr, "goroutine ") {
			t.Errorf("%s after the loss of %s, share %g: exit %d\n%s", command[0], lost.name, share, code, stderr)
			return
		}
	}
}

// document is a trace as JSON has it.
type document struct {
	rest   map[string]any
	events []map[string]any
}

func readDocument(t *testing.T, path string) document {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(text))
		must(t, err)
		text, err = io.ReadAll(z)
		must(t, err)
	}
	var d document
	must(t, json.Unmarshal(text, &d.rest))
	for _, e := range d.rest["traceEvents"].([]any) {
		d.events = append(d.events, e.(map[string]any))
	}
	return d
}

func (d document) bytes(t *testing.T) []byte {
	d.rest = maps.Clone(d.rest)
	d.rest["traceEvents"] = d.events
	text, err := json.Marshal(d.rest)
	must(t, err)
	return text
}

// any of the events with a duration.
func (d document) any(rng *rand.Rand) map[string]any {
	for {
		if e := d.events[rng.IntN(len(d.events))]; e["ph"] == "X" {
			return e
		}
	}
}

// without is a document without the share of those events that are so.
func (d document) without(rng *rand.Rand, share float64, so func(e map[string]any) bool) document {
	d.events = slices.DeleteFunc(slices.Clone(d.events), func(e map[string]any) bool {
		return so(e) && rng.Float64() < share
	})
	return d
}

// edited is a document with copies of the share of events that have a duration, changed.
func (d document) edited(rng *rand.Rand, share float64, change func(e map[string]any)) document {
	d.events = slices.Clone(d.events)
	for i, e := range d.events {
		if e["ph"] == "X" && rng.Float64() < share {
			d.events[i] = maps.Clone(e)
			change(d.events[i])
		}
	}
	return d
}

// losses are what may happen to a recording.
var losses = []struct {
	name string
	from func(rng *rand.Rand, d document, share float64) document
}{
	{"any event", func(rng *rand.Rand, d document, share float64) document {
		return d.without(rng, share/2, func(map[string]any) bool { return true })
	}},
	{"a category", lostAlike("cat")},
	{"a name", lostAlike("name")},
	{"a process", lostAlike("pid")},
	{"a thread", lostAlike("tid")},
	{"all before an instant", func(rng *rand.Rand, d document, _ float64) document {
		at := d.any(rng)["ts"].(float64)
		return d.without(rng, 1, func(e map[string]any) bool { ts, ok := e["ts"].(float64); return ok && ts < at })
	}},
	{"all after an instant", func(rng *rand.Rand, d document, _ float64) document {
		at := d.any(rng)["ts"].(float64)
		return d.without(rng, 1, func(e map[string]any) bool { ts, ok := e["ts"].(float64); return ok && ts > at })
	}},
	{"true times", func(rng *rand.Rand, d document, share float64) document {
		return d.edited(rng, share/5, func(e map[string]any) {
			key := []string{"ts", "dur"}[rng.IntN(2)]
			e[key] = []any{0, 1e6, e["ts"], -5, 9e15}[rng.IntN(5)]
		})
	}},
	{"an argument", func(rng *rand.Rand, d document, share float64) document {
		args, _ := d.any(rng)["args"].(map[string]any)
		keys := slices.Sorted(maps.Keys(args))
		if len(keys) == 0 {
			return d
		}
		key := keys[rng.IntN(len(keys))]
		return d.edited(rng, share, func(e map[string]any) {
			old, _ := e["args"].(map[string]any)
			if _, ok := old[key]; !ok {
				return
			}
			args := maps.Clone(old)
			if args[key] = []any{0, -1, "x", 1 << 62, []any{}, nil}[rng.IntN(6)]; args[key] == nil {
				delete(args, key)
			}
			e["args"] = args
		})
	}},
}

// lostAlike loses events that have the same of something as one of them.
func lostAlike(key string) func(*rand.Rand, document, float64) document {
	return func(rng *rand.Rand, d document, share float64) document {
		value := d.any(rng)[key]
		return d.without(rng, share, func(e map[string]any) bool { return e[key] == value })
	}
}
