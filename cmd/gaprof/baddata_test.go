package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// badData are things that happen to a recording, and what the gate must say: its exit codes
// under gaprof:strict and under gaprof:recommended with a baseline, and words of why. Where
// only times are in doubt, structure is judged all the same, but not by these.
var badData = []struct {
	name      string
	damage    func(*damagedRun)
	strict    int
	regressed int
	words     string
}{
	{"nothing", func(*damagedRun) {}, 0, 0, "passed: 9 of 9"},

	{"collectives of NaN", duration(isComm, "NaN"), 4, 4, "without a duration that can be read"},
	{"collectives without a duration", duration(isComm, ""), 4, 4, "without a duration that can be read"},
	{"collectives whose duration is text", duration(isComm, "'long'"), 4, 4, "without a duration that can be read"},
	{"collectives of null", duration(isComm, "null"), 4, 4, "without a duration that can be read"},
	{"collectives of true", duration(isComm, "true"), 4, 4, "without a duration that can be read"},
	{"collectives of infinity", duration(isComm, "Infinity"), 4, 4, "without a duration that can be read"},
	{"collectives of negative length", duration(isComm, "-5"), 4, 4, "negative duration"},
	{"collectives of no length", duration(isComm, "0"), 4, 4, "last no time"},
	{"collectives of 1 ns", duration(isComm, "0.001"), 4, 4, "last no time"},
	{"kernels of 1 ns", duration(isKernel, "0.001"), 4, 4, "last no time"},
	{"collectives without an end", duration(isComm, "1e300"), 4, 4, "beyond what its field can hold"},
	{"all kernels NaN", duration(isKernel, "NaN"), 4, 4, "without a duration that can be read"},
	{"all kernels null", duration(isKernel, "null"), 4, 4, "without a duration that can be read"},
	{"all kernels of no length", duration(isKernel, "0"), 4, 4, "last no time"},
	{"updates of NaN", duration(isUpdate, "NaN"), 4, 4, "without a duration"},
	{"updates without a duration", duration(isUpdate, ""), 4, 4, "without a duration"},
	{"launches of null", duration(isLaunch, "null"), 4, 4, "without a duration"},

	{"half of the kernels lost", lose(odd(isKernel)), 4, 4, "kernels were launched that are not in the recording"},
	{"half of the kernels and launches lost", lose(odd(isDevice)), 4, 4, ""},
	{"the compute stream lost", lose(func(e map[string]any) bool { return isKernel(e) && !isComm(e) }), 4, 4,
		"kernels were launched"},
	{"the communication stream lost", lose(isComm), 4, 4, "kernels were launched"},
	{"the collectives of one rank lost", lose(isComm, 1), 4, 4, "kernels were launched"},
	{"collectives that no name gives away", func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			if isComm(e) {
				e["name"], e["args"] = "k", map[string]any{"correlation": corr(e), "stream": 20}
			}
			return true
		})
	}, 4, 4, "collectives.mismatched"},
	{"the kernels of a step lost", lose(func(e map[string]any) bool { return isKernel(e) && corr(e)/9 == 3 }), 4, 4,
		"kernels were launched"},
	{"half of the launches lost", lose(odd(isLaunch)), 1, 4, ""},
	{"kernels without correlation", func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			if isKernel(e) {
				delete(e["args"].(map[string]any), "correlation")
			}
			return true
		})
	}, 4, 4, "have no launch in the recording"},
	{"kernels of one launch", func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			if isKernel(e) {
				e["args"].(map[string]any)["correlation"] = 1
			}
			return true
		})
	}, 4, 4, "kernels were launched"},
	{"kernels twice", func(d *damagedRun) {
		for _, r := range d.ranks {
			list := r["traceEvents"].([]any)
			for _, e := range list {
				if isKernel(e.(map[string]any)) {
					list = append(list, e)
				}
			}
			r["traceEvents"] = list
		}
	}, 4, 4, "in the recording twice"},

	{"rank 1 missing", func(d *damagedRun) { d.texts[1] = "gone" }, 4, 4, "there are traces of 1 of the 2 ranks"},
	{"two of eight ranks", worldSize(8), 4, 4, "there are traces of 2 of the 8 ranks"},
	{"a world of 0 ranks", worldSize(0), 4, 4, "world size of distributedInfo"},
	{"a world of -2 ranks", worldSize(-2), 4, 4, "world size of distributedInfo"},
	{"a world of text", worldSize("two"), 4, 4, "world size of distributedInfo"},
	{"a world of null", worldSize(nil), 4, 4, "world size of distributedInfo"},
	{"a world of 2.5 ranks", worldSize(2.5), 4, 4, "world size of distributedInfo"},
	{"a world of 1e30 ranks", worldSize(1e30), 4, 4, "world size of distributedInfo"},
	{"a world without a size", func(d *damagedRun) {
		for _, r := range d.ranks {
			delete(r["distributedInfo"].(map[string]any), "world_size")
		}
	}, 4, 4, "world size of distributedInfo"},
	{"rank 1 empty", lose(func(e map[string]any) bool { return e["ph"] != "M" }, 1), 4, 4, "1 of the 2 ranks"},
	{"rank 1 without the host", lose(func(e map[string]any) bool { return !isKernel(e) && e["ph"] != "M" }, 1), 1, 4,
		"rank 1 has 0 of 7 complete steps"},
	{"rank 1 without device", lose(isKernel, 1), 4, 4, "rank 1 has no device activity in complete steps"},
	{"three of seven steps of rank 1", until(3, 1), 4, 4, "rank 1 has 3 of 7 complete steps"},
	{"a file cut short", func(d *damagedRun) { d.texts[1] = "cut" }, 4, 4, "the file ends early"},
	{"one step", until(1), 4, 4, "no complete step"},
	{"no update", lose(isUpdate), 4, 4, "no complete step"},
	{"no device", lose(isKernel), 4, 4, ""},

	{"nanoseconds for microseconds", rescaled(1000, "ts", "dur"), 4, 4, "too large or too small"},
	{"milliseconds for microseconds", rescaled(0.001, "ts", "dur"), 4, 4, "too large or too small"},
	{"durations in milliseconds", rescaled(0.001, "dur"), 4, 4, "too large or too small"},
	{"a device an hour ahead", later(isKernel, 3600e6), 4, 4, "clocks of host and device disagree"},
	{"a device an hour late", later(isKernel, -3600e6), 4, 4, "starts before its launch"},
	{"a device 5 ms late", later(isKernel, -5000), 4, 4, "starts before its launch"},
}

func isDevice(e map[string]any) bool { return isKernel(e) || isLaunch(e) }

// odd is every other one of some events, by correlation.
func odd(of func(map[string]any) bool) func(map[string]any) bool {
	return func(e map[string]any) bool { return of(e) && corr(e)%2 == 1 }
}

// checked is the exit code of check, and all that it says.
func checked(args ...string) (int, string) {
	code, out, stderr := runWith("", append([]string{"check"}, args...)...)
	return code, strings.Join(strings.Fields(out+stderr), " ")
}

// TestNeverGreen: whatever happens to a recording, the gate does not pass on what it hides.
func TestNeverGreen(t *testing.T) {
	dir := t.TempDir()
	healthy := healthyLoop(t, filepath.Join(dir, "healthy"), loopSteps)
	base := reportOf(t, healthy)
	strict, recommended := preset(t, dir, "strict"), preset(t, dir, "recommended")
	for i, test := range badData {
		folder := filepath.Join(dir, fmt.Sprint(i))
		damage(t, healthy, folder, test.damage)
		code, said := checked(folder, "--config", strict)
		regressed, more := checked(folder, "--config", recommended, "--baseline", base)
		if code != test.strict || regressed != test.regressed || !strings.Contains(said+more, test.words) {
			t.Errorf("%s: exit %d and %d, want %d and %d, and %q\n%s\n%s", test.name, code, regressed, test.strict,
				test.regressed, test.words, said, more)
		}
	}
}

// preset writes a configuration that extends a preset.
func preset(t *testing.T, dir, name string) string {
	t.Helper()
	file := filepath.Join(dir, name+".yaml")
	must(t, os.WriteFile(file, []byte("version: 1\nextends: gaprof:"+name+"\n"), 0o666))
	return file
}

// reportOf writes the report of a folder beside it.
func reportOf(t *testing.T, folder string) string {
	t.Helper()
	if code, _, stderr := runWith("", "-q", folder, "--format", "json", "-o", folder+".json"); code != exitOK {
		t.Fatal(stderr)
	}
	return folder + ".json"
}

// TestBudgetsOnBadData: what a budget says of what cannot be read, beside what can.
func TestBudgetsOnBadData(t *testing.T) {
	dir := t.TempDir()
	healthy := healthyLoop(t, filepath.Join(dir, "healthy"), loopSteps)
	slow, few := filepath.Join(dir, "slow"), filepath.Join(dir, "few")
	damage(t, healthy, slow, rescaled(2.1, "ts", "dur"))
	damage(t, healthy, few, until(3))
	unread := filepath.Join(dir, "unread")
	damage(t, healthy, unread, duration(isComm, "NaN"))
	base := reportOf(t, healthy)
	const structure = "budgets: {reductions.per_step: [error, {max: 1}]"
	for _, test := range []struct {
		folder, config string
		args           []string
		code           int
		words          string
	}{
		{healthy, "budgets: {comm.exposed.time: [error, {max: 0.01ms}]}", nil, 0, "passed"},
		{unread, "budgets: {comm.exposed.time: [error, {max: 0.01ms}]}", nil, 4, "comm.exposed.time"},
		{unread, structure + "}", nil, 0, "passed"},
		{few, structure + ", step.time: [error, {max: 1ms}]}", nil, 4, "cannot be decided: step.time"},
		{slow, structure + "}\nregressions: {step.time: [error, {max_increase: 3%}]}", []string{"--baseline", base}, 1,
			"step.time"},
		{slow, structure + "}\nregressions: {step.time: [error, {max_increase: 3%}]}",
			[]string{"--baseline", base, "--steps", "1:3"}, 4, "cannot be decided: step.time"},
		{unread, "budgets: {reductions.per_step: [error, {max: 0}], step.time: [error, {max: 1ms}]}",
			[]string{"--allow-inconclusive"}, 1, "failed"},
		{unread, "budgets: {step.time: [error, {max: 1ms}]}", []string{"--allow-inconclusive"}, 0, "inconclusive"},
		{healthy, "job: {ranks: 2}\n" + structure + "}", nil, 0, "passed"},
		{healthy, "job: {ranks: 3}\n" + structure + "}", nil, 4, "there are traces of 2 of the 3 ranks asked for"},
		{healthy + "/rank0.json", structure + "}", nil, 0, "passed"},
		{healthy + "/rank0.json", structure + ", step.time: [error, {max: 100ms}]}", nil, 4,
			"cannot be decided: step.time"},
		{healthy + "/rank0.json", structure + ", step.time: [error, {max: 1ms}]}", nil, 1, "failed"},
		{healthy + "/rank0.json", "job: {ranks: all}\n" + structure + "}", nil, 4, "there are traces of 1 of the 2"},
		{healthy + "/rank0.json", "job: {ranks: 1}\n" + structure + ", step.time: [error, {max: 100ms}]}", nil, 0,
			"passed"},
		{healthy + "/rank0.json", "extends: gaprof:recommended", []string{"--missing-ranks", "ok"}, 0, "passed"},
		{healthy, "extends: gaprof:recommended", []string{"--ranks", "0"}, 0, "passed"},
		{healthy, "budgets: {findings.error: [error, {max: 0}]}", []string{"--steps", "50:60"}, 4, "no complete step"},
	} {
		file := filepath.Join(dir, "own.yaml")
		must(t, os.WriteFile(file, []byte("version: 1\n"+test.config+"\n"), 0o666))
		code, said := checked(append([]string{test.folder, "--config", file}, test.args...)...)
		if code != test.code || !strings.Contains(said, test.words) {
			t.Errorf("%s of %s %v: exit %d, want %d and %q\n%s", test.config, filepath.Base(test.folder), test.args,
				code, test.code, test.words, said)
		}
	}
}

// TestOtherThanRuns: what is no run at all, or several.
func TestOtherThanRuns(t *testing.T) {
	dir := t.TempDir()
	healthy := healthyLoop(t, filepath.Join(dir, "healthy"), loopSteps)
	base, strict, recommended := reportOf(t, healthy), preset(t, dir, "strict"), preset(t, dir, "recommended")
	other := filepath.Join(dir, "other.trace.txt")
	must(t, os.WriteFile(other, []byte("1/1 10us +20us cpu_op aten::mm\n1/1 40us +20us cpu_op aten::add\n"), 0o666))
	var b strings.Builder
	for i := range 7 {
		fmt.Fprintf(&b, "1/1 %dus +20us user_annotation Optimizer.step#Adam.step\n", 100*i)
	}
	empty, planted := filepath.Join(dir, "empty.trace.txt"), filepath.Join(dir, "planted")
	must(t, os.WriteFile(empty, []byte(b.String()), 0o666))
	const quick = "--layers 1 --width 16 --heads 1 --sequence-length 32 --local-batch-size 2 --global-batch-size 8 " +
		"--max-steps 3 --plant NM001"
	train := append([]string{"train", "-q", "-o", planted}, strings.Fields(quick)...)
	if code, _, stderr := runWith("", train...); code != exitOK {
		t.Fatal(stderr)
	}
	must(t, os.Remove(filepath.Join(planted, "rank1.json.gz")))
	several := filepath.Join(dir, "several")
	must(t, os.MkdirAll(several, 0o777))
	for i := range 3 {
		f, err := os.Create(filepath.Join(several, fmt.Sprintf("run%d.rank0.json", i)))
		must(t, err)
		must(t, tracegen.Write(f, tracegen.Options{Steps: 3, Seed: uint64(i), WorldSize: 1}))
		must(t, f.Close())
	}
	none := filepath.Join(dir, "none.json")
	text, err := os.ReadFile(base)
	must(t, err)
	text = []byte(strings.ReplaceAll(string(text), `"complete": true`, `"complete": false`))
	must(t, os.WriteFile(none, text, 0o666))
	for _, test := range []struct {
		args  []string
		words string
	}{
		{[]string{other, "--config", strict}, "no complete step"},
		{[]string{other, "--config", recommended, "--baseline", base}, ""},
		{[]string{empty, "--config", strict}, "cannot be decided"},
		{[]string{empty, "--config", recommended}, "could be decided"},
		{[]string{planted, "--config", recommended}, "there are traces of 1 of the 2 ranks"},
		{[]string{several, "--config", strict}, "only one run can be judged"},
		{[]string{healthy, "--config", recommended, "--baseline", none}, "the baseline has no complete step"},
		{[]string{healthy, "--config", strict, "--baseline", none}, "the baseline has no complete step"},
	} {
		if code, said := checked(test.args...); code != exitInconclusive || !strings.Contains(said, test.words) {
			t.Errorf("%v: exit %d, want 4 and %q\n%s", test.args, code, test.words, said)
		}
	}
}

// TestRankTwice: a second recording of a rank beside the first is another run, however alike
// they are, unless it says the same of everything.
func TestRankTwice(t *testing.T) {
	dir := t.TempDir()
	healthy := healthyLoop(t, filepath.Join(dir, "healthy"), loopSteps)
	base, strict := reportOf(t, healthy), preset(t, dir, "strict")
	damage(t, healthy, filepath.Join(dir, "other"), func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			if isKernel(e) {
				e["dur"] = e["dur"].(float64) / 2
			}
			return true
		})
	})
	for from, want := range map[string]int{"healthy": 0, "other": 4} {
		text, err := os.ReadFile(filepath.Join(dir, from, "rank0.json"))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(healthy, "rank0-again.json"), text, 0o666))
		code, said := checked(healthy, "--config", strict)
		regressed, more := checked(healthy, "--config", preset(t, dir, "recommended"), "--baseline", base)
		if code != want || regressed != want || want == 4 && !strings.Contains(said+more, "the traces are of 2 runs") {
			t.Errorf("rank 0 of %s once more: exit %d and %d, want %d\n%s\n%s", from, code, regressed, want, said, more)
		}
	}
}
