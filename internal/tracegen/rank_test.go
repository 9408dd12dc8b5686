package tracegen

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// rankTrace is what the tests look at in one trace.
type rankTrace struct {
	DistributedInfo struct {
		Rank  int
		World int `json:"world_size"`
	}
	TraceEvents []struct {
		Ph, Cat, Name string
		Ts, Dur       float64 // µs
		Args          map[string]any
	}
}

func readRank(t *testing.T, o Options) (rankTrace, int) {
	t.Helper()
	var text bytes.Buffer
	if err := Write(&text, o); err != nil {
		t.Fatal(err)
	}
	var doc rankTrace
	if err := json.Unmarshal(text.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, text.Len()
}

// interval is a device event in ns.
type interval struct{ start, end int64 }

func (r *rankTrace) collectives() (list []interval, messages int) {
	for _, e := range r.TraceEvents {
		switch {
		case e.Cat == "kernel" && strings.HasPrefix(e.Name, "nccl"):
			start := int64(math.Round(e.Ts * 1000))
			list = append(list, interval{start, start + int64(math.Round(e.Dur*1000))})
		case e.Name == "record_param_comms" && e.Args["Seq"] != nil:
			messages++
		}
	}
	return list, messages
}

// The ranks of a run enter each collective at different times, the last of them
// always as late as rank.go says, and leave it together.
func TestRanksShareTheSchedule(t *testing.T) {
	const world, steps = 5, 3
	var all [][]interval
	for rank := range world {
		doc, _ := readRank(t, Options{Rank: rank, WorldSize: world, Steps: steps, Seed: 7})
		if d := doc.DistributedInfo; d.Rank != rank || d.World != world {
			t.Errorf("rank %d says that it is %d of %d", rank, d.Rank, d.World)
		}
		list, messages := doc.collectives()
		if want := steps * (layers + 2); len(list) != want || messages != want {
			t.Fatalf("rank %d: %d collectives and %d messages, want %d", rank, len(list), messages, want)
		}
		all = append(all, list)
	}
	last := make([]int, world)
	for k := range all[0] {
		var starts, ends []int64
		for rank := range world {
			starts, ends = append(starts, all[rank][k].start), append(ends, all[rank][k].end)
		}
		first, latest := slices.Min(starts), slices.Max(starts)
		last[slices.Index(starts, latest)]++
		spread, left := latest-first, slices.Min(ends)
		if spread == 0 || spread > mostLate || slices.Max(ends)-left >= endSkew || left <= latest {
			t.Errorf("collective %d: starts %v, ends %v", k, starts, ends)
		}
	}
	for rank, n := range last {
		if n == 0 || n == len(all[0]) {
			t.Errorf("rank %d is last at %d of %d collectives", rank, n, len(all[0]))
		}
	}
}

// Bytes of a rank grow with its steps and hardly with the size of the world.
func TestRanksAreLinear(t *testing.T) {
	_, one := readRank(t, Options{Rank: 1, WorldSize: 1000, Steps: 10})
	_, two := readRank(t, Options{Rank: 1, WorldSize: 1000, Steps: 20})
	_, small := readRank(t, Options{Rank: 1, WorldSize: 8, Steps: 10})
	if ratio := float64(two) / float64(one); ratio < 1.9 || ratio > 2.1 {
		t.Errorf("20 steps have %.2f times the bytes of 10", ratio)
	}
	if ratio := float64(one) / float64(small); ratio > 1.1 {
		t.Errorf("a world of 1000 ranks has %.2f times the bytes of one of 8", ratio)
	}
}

func TestRanksWithoutSeq(t *testing.T) {
	doc, _ := readRank(t, Options{WorldSize: 2, Steps: 1, NoSeq: true})
	if list, messages := doc.collectives(); messages != 0 || len(list) == 0 {
		t.Errorf("%d of %d messages have a sequence number", messages, len(list))
	}
}
