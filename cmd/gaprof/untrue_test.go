package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// untrue are things that happen to a recording and that leave all of it readable, and words of what
// the gate must say of them. Against the baseline none of them is green.
var untrue = []struct {
	name   string
	damage func(*damagedRun)
	words  string // "" for nothing: it passes
}{
	{"nothing", func(*damagedRun) {}, ""},

	{"a clock that jumps ahead by an hour", afterHalf(3600e6), "nothing is recorded for much longer"},
	{"a clock that jumps ahead by a minute", afterHalf(60e6), "nothing is recorded for much longer"},
	{"a clock that jumps back by 50 ms", afterHalf(-50e3), "unhealthy data"},
	{"a device 50 ms ahead", later(onDevice, 50e3), "the clocks of host and device disagree"},
	{"a device 5 ms ahead", later(onDevice, 5e3), "the clocks of host and device disagree"},
	{"a device 50 ms late", later(onDevice, -50e3), "starts before its launch"},

	{"rank 0 once more as rank 1", func(d *damagedRun) {
		text, _ := json.Marshal(d.ranks[0])
		d.ranks[1] = nil
		_ = json.Unmarshal(text, &d.ranks[1])
		d.ranks[1]["distributedInfo"].(map[string]any)["rank"] = 1
	}, "two ranks have the same recording"},
	{"ranks that say the other's number", func(d *damagedRun) {
		for i, r := range d.ranks {
			r["distributedInfo"].(map[string]any)["rank"] = 1 - i
		}
	}, "another rank than its messages"},

	{"a quarter of the kernels lost, and their launches", loseLaunched(4, isKernel, false), "are missing together"},
	{"and their arrows", loseLaunched(4, isKernel, true), "are missing together"},
	{"a tenth of them", loseLaunched(10, isKernel, true), "are missing together"},
	{"some of the collectives", loseLaunched(5, isComm, true), "are missing together"},
	{"a quarter of the operators", func(d *damagedRun) {
		n := 0
		d.events(func(e map[string]any) bool {
			n++
			return e["cat"] != "cpu_op" || n%4 != 0
		})
	}, "operators are missing"},
	{"a step as if it had never been", loseStep(3), "operators are missing"},
	{"a thread for all of the host", func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			if e["cat"] == "cpu_op" && strings.Contains(e["name"].(string), "evaluate_function") {
				e["dur"] = e["dur"].(float64) + 5000
			}
			return true
		})
	}, "without one holding the other"},

	{"kernels twice as long", longer(2), "device event"},
	{"kernels longer by a quarter", longer(1.25), "kernels of one stream run at the same time"},
	{"ids of the launch before", func(d *damagedRun) {
		for _, r := range d.ranks {
			last := any(float64(0))
			for _, e := range byTime(r, isWork) {
				args := e["args"].(map[string]any)
				last, args["correlation"] = args["correlation"], last
			}
		}
	}, "correlation ids are wrong"},
}

func isWork(e map[string]any) bool {
	return isKernel(e) || e["cat"] == "gpu_memcpy" || e["cat"] == "gpu_memset"
}

// onDevice is what stands on the rows of devices.
func onDevice(e map[string]any) bool {
	return isWork(e) || e["cat"] == "gpu_user_annotation" || e["cat"] == "ac2g" && e["ph"] == "f"
}

// start is when an event begins, in us.
func start(e map[string]any) float64 {
	at, _ := e["ts"].(float64)
	return at
}

// byTime are some events of a rank by their start.
func byTime(rank map[string]any, of func(map[string]any) bool) []map[string]any {
	var list []map[string]any
	for _, e := range rank["traceEvents"].([]any) {
		if e := e.(map[string]any); of(e) {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b map[string]any) int { return int(1000*start(a)) - int(1000*start(b)) })
	return list
}

// afterHalf moves in time, by us, what begins in the second half of the launches.
func afterHalf(by float64) func(*damagedRun) {
	return func(d *damagedRun) {
		for i, r := range d.ranks {
			launches := byTime(r, isLaunch)
			half := start(launches[len(launches)/2])
			later(func(e map[string]any) bool { return e["ph"] != "M" && start(e) >= half }, by)(&damagedRun{
				ranks: d.ranks[i : i+1],
			})
		}
	}
}

// longer multiplies the durations of device events.
func longer(by float64) func(*damagedRun) {
	return func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			if isWork(e) {
				e["dur"] = e["dur"].(float64) * by
			}
			return true
		})
	}
}

// loseLaunched loses each n-th event of a device, the call that launched it, and the arrow between them.
func loseLaunched(n int, of func(map[string]any) bool, arrows bool) func(*damagedRun) {
	return func(d *damagedRun) {
		for i := range d.ranks {
			lost := make(map[int]bool)
			seen := 0
			for _, e := range byTime(d.ranks[i], of) {
				seen++
				lost[corr(e)] = seen%n == 0
			}
			d.events(func(e map[string]any) bool {
				id, _ := e["id"].(float64)
				return !lost[corr(e)] && !(arrows && e["cat"] == "ac2g" && lost[int(id)])
			}, i)
		}
	}
}

// loseStep loses all between two updates, as if it had been filtered by time and launch.
func loseStep(step int) func(*damagedRun) {
	return func(d *damagedRun) {
		for i, r := range d.ranks {
			updates := byTime(r, func(e map[string]any) bool { return isUpdate(e) && e["cat"] == "user_annotation" })
			from, to := start(updates[step-1])+updates[step-1]["dur"].(float64), start(updates[step])
			within := func(e map[string]any) bool { return start(e) >= from && start(e) < to }
			launched := make(map[int]bool)
			for _, e := range byTime(r, isLaunch) {
				launched[corr(e)] = within(e)
			}
			d.events(func(e map[string]any) bool {
				return e["ph"] == "M" || isWork(e) && !launched[corr(e)] || !isWork(e) && !within(e)
			}, i)
		}
	}
}

// trainedRun trains a small model on two ranks and unpacks the traces.
func trainedRun(t *testing.T, dir string) string {
	t.Helper()
	const small = "--layers 1 --width 16 --heads 2 --sequence-length 32 --local-batch-size 2 --global-batch-size 8 " +
		"--max-steps 6"
	train := append([]string{"train", "-q", "-o", dir}, strings.Fields(small)...)
	if code, _, stderr := runWith("", train...); code != exitOK {
		t.Fatal(stderr)
	}
	for rank := range 2 {
		f, err := os.Open(filepath.Join(dir, fmt.Sprintf("rank%d.json.gz", rank)))
		must(t, err)
		z, err := gzip.NewReader(f)
		must(t, err)
		var r any
		must(t, json.NewDecoder(z).Decode(&r))
		must(t, f.Close())
		text, err := json.Marshal(r)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.json", rank)), text, 0o666))
		must(t, os.Remove(f.Name()))
	}
	return dir
}

// TestNeverGreenOnUntrueData: a recording that can be read, and that cannot be what happened, is not
// green against a baseline.
func TestNeverGreenOnUntrueData(t *testing.T) {
	dir := t.TempDir()
	healthy := trainedRun(t, filepath.Join(dir, "healthy"))
	base, recommended := reportOf(t, healthy), preset(t, dir, "recommended")
	for i, test := range untrue {
		folder := filepath.Join(dir, fmt.Sprint(i))
		damage(t, healthy, folder, test.damage)
		code, said := checked(folder, "--config", recommended, "--baseline", base)
		want := exitInconclusive
		if test.words == "" {
			want = exitOK
		}
		if code != want || !strings.Contains(said, test.words) {
			t.Errorf("%s: exit %d, want %d and %q\n%s", test.name, code, want, test.words, said)
		}
	}
	healthyProblems(t, healthy)
}

// healthyProblems: nothing above a note is wrong with the trainer's own traces.
func healthyProblems(t *testing.T, folder string) {
	t.Helper()
	found := make(map[string]string)
	text, err := os.ReadFile(folder + ".json")
	must(t, err)
	var r report.Report
	must(t, json.Unmarshal(text, &r))
	for _, p := range r.Health.Problems {
		if p.Severity != "note" {
			found[p.Code] = p.Message
		}
	}
	if len(found) > 0 {
		t.Errorf("a healthy run has %v", slices.Collect(maps.Values(found)))
	}
}
