package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/reference/sim"
)

// loopOf are options of a simulated run whose kernels are large enough to tell what limits them, and whose collectives
// are of many sizes.
var loopOf = strings.Fields("--dtype bfloat16 --model gpt2 --layers 2 --local-batch-size 16 --world-size 8 " +
	"--global-batch-size -1 --max-steps 3 --scale pass --reduce-scatter hook --optimizer dist-adam --progress off")

// calibrate runs gaprof calibrate and reads its JSON.
func calibrateJSON(t *testing.T, args ...string) report.Calibration {
	t.Helper()
	code, out, stderr := runWith("", append([]string{"calibrate", "--format", "json", "--progress", "off"}, args...)...)
	if code != exitOK {
		t.Fatal(code, stderr)
	}
	var r report.Calibration
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// stepOf is the mean step of a run, ns.
func stepOf(t *testing.T, path string) float64 {
	t.Helper()
	code, out, stderr := runWith("", "analyze", "--format", "json", "--progress", "off", path)
	var r report.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitOK || r.Time == nil {
		t.Fatal(code, stderr, err)
	}
	return float64(r.Time.Length)
}

// TestCalibrateLoop: a machine with figures of its own is simulated, its traces are measured, and the preset that comes
// of that has the same figures and takes as long for a step. The bandwidth of the links comes back although small
// messages take other ways than large ones.
func TestCalibrateLoop(t *testing.T) {
	if testing.Short() {
		t.Skip("two simulated runs with traces of eight ranks")
	}
	truth := map[string]float64{"eager": 20e3, "launch": 7e3, "gap": 2e3, "start": 8e3, "event": 7e3,
		"collective": 60e3, "gemm": 0.7, "elementwise": 0.8, "loss": 0.5, "bus": 222e9, "nccl-latency": 1.5}
	const figures = "eager=20us,launch=7us,gap=2us,start=8us,event=7us,collective=60us,gemm=0.7,elementwise=0.8," +
		"loss=0.5,bus=222GB/s,nccl-latency=1.5,slow=1,normalize=0.5,lookup=0.5"
	dir := t.TempDir()
	first, second, file := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "m.yaml")
	train := func(out, device string, more ...string) {
		args := append([]string{"train", "--device", device, "-o", out}, append(more, loopOf...)...)
		if code, _, stderr := runWith("", args...); code != exitOK {
			t.Fatal(stderr)
		}
	}
	train(first, "sim:h100x8", "--set", figures)
	r := calibrateJSON(t, first, "-o", file)
	fitted := 0
	for _, f := range r.Figures {
		want, held := truth[f.Name]
		if fitted += btoi(held); held && (!f.Fitted || math.Abs(f.Value/want-1) > 0.01 || f.Median > 0.02) {
			t.Errorf("%s is %s (%s), half off by %.2f, want %g", f.Name, f.Text, f.Why, f.Median, want)
		}
		for _, c := range f.Checks {
			if math.Abs(c.Error) > 0.1 {
				t.Errorf("%s: %+v", f.Name, c)
			}
		}
		if !f.Fitted && (f.Why == "" || f.Text != f.Before) {
			t.Errorf("%+v", f)
		}
	}
	if fitted != len(truth) || r.Preset != "h100" || r.Device != "NVIDIA H100 80GB HBM3" || len(r.Ranks) != 8 {
		t.Errorf("%d figures of %d, %s, %s, %d ranks", fitted, len(truth), r.Preset, r.Device, len(r.Ranks))
	}
	train(second, "sim:"+file+":calibratedx8", "--set", "slow=1,normalize=0.5,lookup=0.5")
	if was, is := stepOf(t, first), stepOf(t, second); math.Abs(is/was-1) > 0.01 {
		t.Errorf("a step takes %.3f ms, with the preset %.3f", was/1e6, is/1e6)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What cannot be measured, and what a preset cannot be, is refused with the way out.
func TestCalibrateRefuses(t *testing.T) {
	const sample = "../../traces/reduce-scatter-in-step.json"
	dir := t.TempDir()
	there, empty := filepath.Join(dir, "there.yaml"), filepath.Join(dir, "empty.json")
	const nothing = `[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]`
	for path, text := range map[string]string{there: "x", empty: nothing} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{sample, "-o", filepath.Join(dir, "x.json")}, exitUsage, "a file of presets ends in .yaml"},
		{[]string{sample, "-o", there}, exitInput, "there.yaml"},
		{[]string{sample, "--preset", "h1000"}, exitUsage, "devices are a100, b200, h100"},
		{[]string{sample, "--preset", there}, exitUsage, "there is no device"},
		{[]string{sample, "--name", "My Machine"}, exitUsage, "a preset cannot be called"},
		{[]string{sample, "--name", "machinex8"}, exitUsage, "a preset cannot be called"},
		{[]string{filepath.Join(dir, "none.json")}, exitInput, "none.json"},
		{[]string{empty}, exitInput, "--preset names one to build on"},
		{[]string{empty, "--preset", "a100", "-o", filepath.Join(dir, "y.yaml")}, exitInconclusive,
			"not a single figure"},
		{[]string{"../../traces/demo-before", "../../traces/demo-after", "--preset", "a100"}, exitInput,
			"pass the files of one run"},
	} {
		code, _, stderr := runWith("", append([]string{"calibrate"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit %d, %q, want %d and %q", c.args, code, stderr, c.code, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "y.yaml")); err == nil {
		t.Error("a preset without figures was written")
	}
}

// The help lists the devices that there are.
func TestDevicesOfHelp(t *testing.T) {
	if want := strings.Join(sim.Devices(), ", "); devices != want {
		t.Errorf("the help says %s, there are %s", devices, want)
	}
}
