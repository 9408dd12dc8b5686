package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// shared is the folder of real traces that are not part of the project.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared", "traces"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIP: real traces are not here: %v", err)
	}
	return path
}

// analyse reads files and runs all rules, without a rank from the file name.
func analyse(t *testing.T, files ...string) *report.Report {
	t.Helper()
	var inputs []analyze.Input
	for _, file := range files {
		traces, err := tracefile.Read(file, tracefile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range traces {
			inputs = append(inputs, analyze.Input{File: file, Trace: tr})
		}
	}
	r := analyze.Run(inputs, analyze.Options{Rules: rules.All()})
	checkReport(t, r)
	return r
}

// checkReport holds what is true of every report.
func checkReport(t *testing.T, r *report.Report) {
	t.Helper()
	claimed := int64(0)
	for _, f := range r.Findings {
		if f.Cost == nil {
			continue
		}
		claimed += *f.Cost
		if s := f.Saving; s != nil && (s.High > *f.Cost || s.Low > s.High || s.Low < 0) {
			t.Errorf("%s: saving %+v of a cost of %d", f.Rule, *s, *f.Cost)
		}
	}
	var longest int64
	for _, s := range r.Steps {
		if s.Ledger == nil {
			longest = max(longest, s.HostDuration)
			continue
		}
		l := s.Ledger
		communication := l.ReduceScatter + l.AllGather + l.AllReduce + l.OtherComm
		if sum := l.Compute + l.Memory + communication + l.Idle; sum != *s.Duration {
			t.Errorf("rank %d step %d: ledger %d, duration %d", s.Rank, s.Index, sum, *s.Duration)
		}
		longest = max(longest, *s.Duration)
	}
	if claimed > longest {
		t.Errorf("findings cost %d ns a step, the longest step lasts %d", claimed, longest)
	}
}

// figures prints the facts that the tests compare.
func figures(r *report.Report) string {
	var b strings.Builder
	for _, d := range r.Health.DeviceEvents {
		fmt.Fprintf(&b, "events %d unlinked %d\n", d.Count, d.Unlinked)
	}
	for _, c := range r.Collectives {
		fmt.Fprintf(&b, "%s %d: %d / %d / %d\n", c.Kind, c.Count, c.Busy, c.Overlapped, c.WithMemory)
		if c.Kind == "reduce_scatter" {
			for _, s := range c.Sites {
				fmt.Fprintf(&b, "  %s %s %d\n", s.Site, s.Name, s.Count)
			}
		}
	}
	for _, c := range r.Communication {
		fmt.Fprintf(&b, "communication %d: %d / %d / %d\n", c.Count, c.Busy, c.Overlapped, c.WithMemory)
	}
	for _, s := range r.Steps {
		names := make([]string, len(s.Optimizers))
		for i, o := range s.Optimizers {
			names[i] = o.Name
		}
		fmt.Fprintf(&b, "step %d %s %s complete=%v linked=%d: %d = %d %d %d %d %d\n", s.Index, s.Kind,
			strings.Join(names, "+"), s.Complete, s.LinkedEvents, *s.Duration, s.Ledger.Compute, s.Ledger.Memory,
			s.Ledger.ReduceScatter, s.Ledger.AllGather, s.Ledger.Idle)
	}
	return b.String()
}

const currentFigures = `events 4761 unlinked 983
reduce_scatter 38: 15111422 / 4398035 / 5923154
  optimizer_step NorMuon 16
  optimizer_step DistAdam 12
  unknown  10
all_gather 38: 8753057 / 2273093 / 3772581
communication 76: 23864479 / 6671128 / 9695735
step 0 A NorMuon complete=true linked=909: 59479682 = 55994498 901136 1211003 310343 1062702
step 1 B DistAdam+NorMuon complete=true linked=980: 62414202 = 56517443 964923 2362924 1440281 1128631
step 2 A NorMuon complete=true linked=909: 59603844 = 55538008 913073 1785858 292998 1073907
step 3 B DistAdam+NorMuon complete=true linked=980: 62521179 = 57293637 968275 1641243 1471963 1146061
`

const hookFigures = `events 4768 unlinked 990
reduce_scatter 38: 14873071 / 5285603 / 6775489
  optimizer_step NorMuon 16
  backward_hook  12
  unknown  10
all_gather 38: 8881127 / 2735775 / 4259876
communication 76: 23754198 / 8021378 / 11035365
step 0 A NorMuon complete=true linked=909: 59476452 = 55453847 918686 1722053 310332 1071534
step 1 B DistAdam+NorMuon complete=true linked=980: 61453957 = 56571813 964350 1461987 1314048 1141759
step 2 A NorMuon complete=true linked=909: 59100484 = 55644444 919423 1164102 299139 1073376
step 3 B DistAdam+NorMuon complete=true linked=980: 61733253 = 56252348 977474 2008478 1334273 1160680
`

func TestNanogptFigures(t *testing.T) {
	for file, want := range map[string]string{
		"nanogpt-current.json.gz": currentFigures,
		"nanogpt-hook.json.gz":    hookFigures,
	} {
		if got := figures(analyse(t, shared(t, "gpu", file))); got != want {
			t.Errorf("%s:\n%swant:\n%s", file, got, want)
		}
	}
}

// adamBlocks prints overlap and first overlap, in percent, of the groups of six
// reduce-scatters.
func adamBlocks(r *report.Report) string {
	var parts []string
	for _, g := range r.Groups {
		if g.Kind == "reduce_scatter" && g.Count == 6 {
			dtypes := ""
			for _, k := range g.Kernels {
				dtypes += map[bool]string{true: "f", false: "b"}[strings.Contains(k, "_f32_")]
			}
			parts = append(parts, fmt.Sprintf("%s %.2f/%.1f inferred=%v", dtypes, 100**g.Ratio,
				100*float64(g.FirstOver)/float64(g.FirstBusy), g.Inferred))
		}
	}
	return strings.Join(parts, ", ")
}

func TestNanogptAdamGroups(t *testing.T) {
	for file, want := range map[string]string{
		"nanogpt-current.json.gz": "fbbbbb 17.36/0.0 inferred=true, " +
			"fbbbbb 16.32/0.0 inferred=false, fbbbbb 23.96/0.0 inferred=false",
		"nanogpt-hook.json.gz": "bbbfbb 32.16/43.0 inferred=true, " +
			"bbbfbb 37.52/64.9 inferred=false, bbbfbb 29.06/37.1 inferred=false",
	} {
		if got := adamBlocks(analyse(t, shared(t, "gpu", file))); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// wantFindings is rule and severity of every finding in the real GPU traces. Each
// line was checked in the trace.
var wantFindings = map[string][]string{
	"nanogpt-current": {
		// All 28 linked reduce-scatters lie under Optimizer.step# spans and leave 1.75 of 61.0 ms a step
		// without compute or copies: 2.9 %.
		"OV004 warn",
		// The 4 to 10 all-gathers of updated parameters per step, all under Optimizer.step#, leave 0.88 of 61.0 ms.
		"OV009 note",
		// The device is 65 ms behind the host, so the 983 events of the step before have no launch; all
		// come before the first linked one.
		"TH004 note",
	},
	"nanogpt-hook": {
		// The 16 reduce-scatters of NorMuon still lie under Optimizer.step#NorMuon.step: 0.83 of 60.5 ms, 1.4 %.
		"OV004 warn",
		// The 12 from AccumulateGrad hooks end after backward does: 1.51 of 61.6 ms in the steps that run
		// DistAdam, 2.5 %.
		"OV001 warn",
		"OV009 note", // 0.81 of 60.4 ms, as before
		// 990 events of the step before the recording, all before the first linked one.
		"TH004 note",
	},
	// In all eight ranks 12 reduce-scatters come from hooks and 16 from NorMuon's step, and all unlinked
	// events come first. What differs is how long a rank waits inside its kernels for the slowest, which is
	// rank 1: its own exposed time is the least. 4.32 of 43.9 ms a step of hooked reduce-scatter has no
	// compute beside it: 9.8 %; NorMuon's 4.0 %. In the first NorMuon step the device has caught up with
	// the host: its kernels start 8 to 14 us behind their launches, with 52 gaps of 20 to 321 us between
	// them, 4.08 of 7.19 ms, but 0.6 %, 0.3 % and 1.4 % of the other three: no OP001. All 38
	// all-gathers are NorMuon's and DistAdam's own, of what they have updated: 5.04 of 42.0 ms, 6.0 on
	// ranks 3 to 7.
	"normuon-rank0": {"OV001 warn", "OV004 warn", "OV009 note", "TH004 note"},
	// Rank 1 arrives last, so it waits least: 1.4 % and 1.4 %. Its host takes 11 to 15 ms to launch the 196
	// events of a NorMuon step (8.4 ms on rank 3); in three of the four the device has caught up, starts
	// each 7 to 10 us behind its launch and idles for 2.6 to 7.6 ms. Launch-bound 6.44 ms a step in three
	// of four, 3.42 of them inside NorMuon, which idles 0, 71, 67 and 47 %.
	"normuon-rank1": {"ID004 warn", "OP001 warn", "OV001 warn", "OV004 warn", "OV009 note", "TH004 note"},
	// 9.5 % and 3.6 %.
	"normuon-rank2": {"OV001 warn", "OV004 warn", "OV009 note", "TH004 note"},
	// 6.10 of 44.7 ms, 13.7 %: the first kernel of each hooked block lasts 5 to 6 ms, the next of the same
	// size 0.4: mostly waiting.
	"normuon-rank3": {"OV001 error", "OV004 warn", "OV009 note", "TH004 note"},
	// 13.8 % and 4.0 %.
	"normuon-rank4": {"OV001 error", "OV004 warn", "OV009 note", "TH004 note"},
	// 13.7 % and 4.2 %.
	"normuon-rank5": {"OV001 error", "OV004 warn", "OV009 note", "TH004 note"},
	// 13.7 % and 4.4 %.
	"normuon-rank6": {"OV001 error", "OV004 warn", "OV009 note", "TH004 note"},
	// 13.7 % and 4.5 %.
	"normuon-rank7": {"OV001 error", "OV004 warn", "OV009 note", "TH004 note"},
}

// What is said of recordings in which devices are idle, beside each other the official pair
// before and after num_workers. Shares are of the median step.
func TestIdleOfRealTraces(t *testing.T) {
	for name, want := range map[string][]string{
		"resnet50-loader-in-main": {
			"ID001 error data loading leaves the device idle 47.28 ms/step (26.9 % of 175.6 ms)",
			"ID004 warn launch-bound: the device waits for launches 14.29 ms/step (8.1 % of 175.6 ms)",
			"ID002 warn synchronization leaves the device idle 1.92 ms/step (1.1 % of 175.6 ms)",
		},
		"resnet50-loader-4-workers": {
			"ID004 error launch-bound: the device waits for launches 23.17 ms/step (18.1 % of 128.0 ms)",
			"ID002 warn synchronization leaves the device idle 3.18 ms/step (2.5 % of 128.0 ms)",
			"ID005 warn the host stalls and leaves the device idle 2.38 ms/step (1.9 % of 128.0 ms)",
		},
		"linear-param": {
			"ID004 error launch-bound: the device waits for launches 14.82 ms/step (60.1 % of 24.7 ms)",
			"ID005 warn the host stalls and leaves the device idle 0.91 ms/step (3.7 % of 24.7 ms)",
		},
	} {
		var got []string
		for _, f := range analyse(t, shared(t, "idle", name+".json.gz")).Findings {
			if f.Severity.AtLeast(report.Warn) {
				got = append(got, f.Rule+" "+string(f.Severity)+" "+f.Message)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s\nwant %s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestFindingsOfRealTraces(t *testing.T) {
	for name, want := range wantFindings {
		t.Run(name, func(t *testing.T) {
			r := analyse(t, shared(t, "gpu", name+".json.gz"))
			var got []string
			for _, f := range r.Findings {
				cost := ""
				if f.Share != nil {
					cost = fmt.Sprintf(" %.4f", *f.Share)
				}
				t.Log(f.Rule, f.Severity, f.Message, cost)
				got = append(got, f.Rule+" "+string(f.Severity))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
