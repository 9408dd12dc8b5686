package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/reference/kineto"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome"
)

// simulatedRuns are runs whose ranks do different things with each other.
var simulatedRuns = []struct{ name, flags string }{
	{"ddp", "--world-size 2 --clip-grad-norm 1"},
	{"zero-1", "--world-size 2 --reduce-scatter hook"},
	{"full", "--world-size 2 --sharding full"},
	{"hsdp", "--world-size 4 --sharding full --replicas 2 --activation-checkpoint full"},
	{"straggler", "--world-size 2 --straggler 1=2"},
	{"jitter", "--world-size 4 --sharding full --replicas 2 --set jitter=2%,uneven=1% --seed 7"},
	{"last step", "--world-size 2 --profile-steps last:1 --read-loss micro-batch"},
}

// simulatedFiles are what a run writes, by name, with so many goroutines at a time.
func simulatedFiles(t *testing.T, flags string, cores int) map[string][]byte {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	dir := filepath.Join(t.TempDir(), "run")
	const small = "train --device sim:h100x2 -q --model gpt --layers 2 --width 64 --heads 2 --sequence-length 64 " +
		"--local-batch-size 2 --global-batch-size -1 --max-steps 2 -o "
	code, _, stderr := runWith("", append(strings.Fields(small+dir), strings.Fields(flags)...)...)
	if code != 0 {
		t.Fatalf("%s: %d %s", flags, code, stderr)
	}
	files := make(map[string][]byte)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// A simulated run writes the same bytes however many goroutines run at a time, also where chance makes ranks differ,
// and other bytes with another seed then.
func TestSimulatedSameBytes(t *testing.T) {
	for _, c := range simulatedRuns {
		one, four := simulatedFiles(t, c.flags, 1), simulatedFiles(t, c.flags, 4)
		if len(one) != len(four) || len(one) < 4 {
			t.Errorf("%s: %d and %d files", c.name, len(one), len(four))
		}
		for name := range one {
			if !bytes.Equal(one[name], four[name]) {
				t.Errorf("%s: %s differs", c.name, name)
			}
		}
		if other, found := strings.CutSuffix(c.flags, "--seed 7"); found {
			if bytes.Equal(simulatedFiles(t, other+"--seed 8", 4)["rank1.json.gz"], four["rank1.json.gz"]) {
				t.Errorf("%s: another seed, the same trace", c.name)
			}
		}
	}
}

// slice is a complete event or one end of a flow, as viewers read them.
type slice struct {
	Ph, Cat, Name string
	ID            json.Number
	PID, TID      json.RawMessage
	TS, Dur       json.Number
}

// ns is a time in us with three decimals.
func ns(t *testing.T, us json.Number) int64 {
	t.Helper()
	if us == "" {
		return 0
	}
	n, err := strconv.ParseInt(strings.Replace(us.String(), ".", "", 1), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// slicesOf reads the events of a file by their tracks.
func slicesOf(t *testing.T, file []byte) (tracks map[string][]slice, flows []slice) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ TraceEvents []slice }
	if err := json.NewDecoder(z).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	tracks = make(map[string][]slice)
	for _, e := range doc.TraceEvents {
		switch key := string(e.PID) + "/" + string(e.TID); e.Ph {
		case "X":
			tracks[key] = append(tracks[key], e)
		case "s", "f":
			flows = append(flows, e)
		}
	}
	return tracks, flows
}

// Slices of one track are within each other or apart, operations of a stream are apart, and each flow leads from a call
// of the host to the operation that it launched, which begins later: what Perfetto needs to show them.
func TestSimulatedNests(t *testing.T) {
	for _, c := range simulatedRuns {
		for name, file := range simulatedFiles(t, c.flags, 4) {
			if !strings.HasPrefix(name, "rank") {
				continue
			}
			tracks, flows := slicesOf(t, file)
			for track, list := range tracks {
				nests(t, c.name+" "+name+" "+track, list)
			}
			flowsLead(t, c.name+" "+name, flows, tracks)
			if len(tracks) < 4 || len(flows) < 100 {
				t.Errorf("%s %s: %d tracks, %d ends of flows", c.name, name, len(tracks), len(flows))
			}
		}
	}
}

func nests(t *testing.T, what string, list []slice) {
	t.Helper()
	slices.SortStableFunc(list, func(a, b slice) int {
		return cmp.Or(cmp.Compare(ns(t, a.TS), ns(t, b.TS)), cmp.Compare(ns(t, b.Dur), ns(t, a.Dur)))
	})
	var open []int64
	last := int64(-1 << 62) // when the operation before ends
	for _, e := range list {
		from := ns(t, e.TS)
		to := from + ns(t, e.Dur)
		for len(open) > 0 && open[len(open)-1] <= from {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && to > open[len(open)-1] {
			t.Fatalf("%s: %s at %s ends after what it began in", what, e.Name, e.TS)
		}
		open = append(open, to)
		if slices.Contains([]string{"kernel", "gpu_memcpy", "gpu_memset"}, e.Cat) {
			if from < last {
				t.Fatalf("%s: %s at %s begins before the one before it ends", what, e.Name, e.TS)
			}
			last = to
		}
	}
}

func flowsLead(t *testing.T, what string, flows []slice, tracks map[string][]slice) {
	t.Helper()
	begins := make(map[string]string) // by track and time: categories
	for track, list := range tracks {
		for _, e := range list {
			begins[track+" "+e.TS.String()] += e.Cat + " "
		}
	}
	from := make(map[json.Number]int64)
	for _, f := range flows {
		at := begins[string(f.PID)+"/"+string(f.TID)+" "+f.TS.String()]
		switch {
		case f.Ph == "s" && !strings.Contains(at, "cuda_runtime"):
			t.Fatalf("%s: flow %s begins at no call: %s", what, f.ID, at)
		case f.Ph == "s":
			from[f.ID] = ns(t, f.TS)
		case !strings.Contains(at, "kernel") && !strings.Contains(at, "gpu_mem"):
			t.Fatalf("%s: flow %s ends at no operation: %s", what, f.ID, at)
		}
	}
	for _, f := range flows {
		if begin, ok := from[f.ID]; f.Ph == "f" && (!ok || begin > ns(t, f.TS)) {
			t.Fatalf("%s: flow %s ends before it begins", what, f.ID)
		}
	}
}

// Ranks that differ are written as soon as they are simulated and not kept, and their traces are those of ranks that
// are.
func TestSimulatedWrittenEarly(t *testing.T) {
	const options = "layers=2 width=64 heads=2 sequence-length=64 local-batch-size=2 max-steps=2 dtype=bfloat16 " +
		"bucket-bytes=26214400 world-size=3 straggler=1=2"
	kept := simulated(t, "h100x2", "", options)
	early := map[int][]byte{}
	job := &trainJob{options: kept.job.options, window: kineto.All, backend: kept.job.backend}
	var mu sync.Mutex
	job.recorded = func(run *trained, rank int) {
		text := encodedTrace(t, run.job.ranks[rank].Trace(run.job.run))
		mu.Lock()
		defer mu.Unlock()
		if early[rank] != nil {
			t.Errorf("rank %d is recorded twice", rank)
		}
		early[rank] = text
	}
	run, err := job.train(context.Background())
	if err != nil || len(early) != 3 {
		t.Fatalf("%d ranks, %v", len(early), err)
	}
	for rank := range 3 {
		if !bytes.Equal(early[rank], encodedTrace(t, kept.trace(rank))) {
			t.Errorf("rank %d: another trace", rank)
		}
		if n := run.job.ranks[rank].Len(); n > 0 {
			t.Errorf("rank %d: %d events are kept", rank, n)
		}
	}
}

func encodedTrace(t *testing.T, made *trace.Trace) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := chrome.Write(&text, made); err != nil {
		t.Error(err)
	}
	return text.Bytes()
}
