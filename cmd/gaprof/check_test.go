package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// generated writes a trace of n steps of two kernels and a reduce-scatter, whose lengths
// vary a little from step to step; percent makes all of them longer.
func generated(t *testing.T, dir, name string, n, percent int, device, kernel string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b,
		"recording format=kineto\ndevice 0 %q memory=80000000000\ndistributed backend=nccl rank=0 world_size=2\n",
		device)
	at := 0 // us
	for i := range n {
		length := (3000 + i*37%11) * (100 + percent) / 100
		fmt.Fprintf(&b, `1/1 %dus +1us cpu_op aten::mm dims=[[1000,1000],[1000,1000]] type=["float","float"]
1/2 %dus +1us cpu_op "autograd::engine::evaluate_function: MulBackward0"
1/2 %dus +4us cpu_op torch::autograd::AccumulateGrad dims=[[1000,1000]] type=["float"]
1/2 %dus +1us cuda_runtime launch corr=%d
1/1 %dus +50us user_annotation Optimizer.step#Adam.step
1/1 %dus +1us cuda_runtime launch corr=%d
1/1 %dus +1us cuda_runtime launch corr=%d
0/7 %dus +%dus kernel %q corr=%d
0/9 %dus +%dus kernel %q corr=%d
0/7 %dus +%dus kernel gemm corr=%d
`, at, at+2, at+5, at+6, 3*i+1, at+20, at+21, 3*i+2, at+22, 3*i+3,
			at+100, length, kernel, 3*i+1, at+100+length, length/10, "ncclDevKernel_ReduceScatter_"+kernel, 3*i+2,
			at+200+length*12/10, length, 3*i+3)
		at += 3 * length
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// configured writes a configuration and returns its flag.
func configured(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "gate.yaml")
	if err := os.WriteFile(path, []byte("version: 1\njob: {ranks: any}\n"+text), 0o666); err != nil {
		t.Fatal(err)
	}
	return "--config=" + path
}

// reported writes the report of a trace.
func reported(t *testing.T, trace string) string {
	t.Helper()
	path := trace + ".json"
	code, _, stderr := runWith("", "analyze", "-q", trace, "--format", "json", "-o", path, "--force")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return path
}

// A regression of ten steps fails, and the same steps pass.
func TestCheckRegression(t *testing.T) {
	dir := t.TempDir()
	config := configured(t, dir,
		"regressions:\n  step.time: [error, {max_increase: 3%, min_delta: 100us, alpha: 0.01}]\n")
	base := generated(t, dir, "base.trace.txt", 11, 0, "GPU", "gemm")
	for _, test := range []struct {
		name    string
		percent int
		steps   int
		device  string
		code    int
		want    string
	}{
		{"same", 0, 11, "GPU", exitOK, "passed: 1 of 1 check passed"},
		{"slower", 10, 11, "GPU", exitGate, "step.time of Adam went from "},
		{"a little slower", 2, 11, "GPU", exitOK, "passed: 1 of 1 check passed"},
		{"faster", -30, 11, "GPU", exitOK, "passed: 1 of 1 check passed"},
		{"four steps", 10, 4, "GPU", exitInconclusive, "schedule(active="},
		{"another device", 10, 11, "TPU", exitInconclusive, "device: GPU in the baseline, TPU here"},
	} {
		path := generated(t, dir, "new.trace.txt", test.steps, test.percent, test.device, "gemm")
		code, out, stderr := runWith("", "check", config, path, "--baseline", reported(t, base))
		if code != test.code || !strings.Contains(out, test.want) {
			t.Errorf("%s: exit %d, want %d; no %q in\n%s%s", test.name, code, test.code, test.want, out, stderr)
		}
		if code == exitInconclusive {
			code, out, _ := runWith("", "check", config, path, "--baseline", reported(t, base), "--allow-inconclusive")
			if code != exitOK || !strings.Contains(out, "inconclusive") {
				t.Errorf("%s, allowed: exit %d\n%s", test.name, code, out)
			}
		}
	}
	code, out, _ := runWith("", "check", config, reported(t, base), "--baseline", reported(t, base))
	if code != exitOK {
		t.Errorf("a report for its trace: exit %d\n%s", code, out)
	}
	_, out, _ = runWith("", "check", config, base, "--baseline", reported(t, base), "--steps", "last:6")
	if !strings.Contains(out, " 6, 6 ") {
		t.Errorf("steps of both sides:\n%s", out)
	}
}

// The structural budget of the pair that moves reduce-scatters into hooks.
func TestCheckPair(t *testing.T) {
	for _, pair := range []struct {
		after, before string
		most          int
	}{
		{"../../traces/reduce-scatter-in-hook.json", "../../traces/reduce-scatter-in-step.json", 0},
		{"../../../shared/traces/gpu/nanogpt-hook.json.gz", "../../../shared/traces/gpu/nanogpt-current.json.gz", 16},
	} {
		t.Run(filepath.Base(pair.after), func(t *testing.T) {
			if _, err := os.Stat(pair.after); err != nil {
				t.Skipf("SKIP: real traces are not here: %v", err)
			}
			config := configured(t, t.TempDir(),
				fmt.Sprintf("budgets:\n  rs.launched_in_optimizer: [error, {max: %d}]\n", pair.most))
			if code, out, _ := runWith("", "check", config, pair.after); code != exitOK {
				t.Errorf("after: exit %d\n%s", code, out)
			}
			code, out, _ := runWith("", "check", config, pair.before)
			if code != exitGate || !strings.Contains(out, "post-accumulate-grad hook") ||
				!strings.Contains(out, "[collectives[kind=reduce_scatter].launch_sites[site=optimizer_step].count]") {
				t.Errorf("before: exit %d\n%s", code, out)
			}
		})
	}
}

// A cut trace decides nothing: the real one, and a sample that is cut here.
func TestCheckTruncated(t *testing.T) {
	dir := t.TempDir()
	config := configured(t, dir, "extends: gaprof:strict\nbudgets:\n  rs.launched_in_optimizer: [error, {max: 100}]\n")
	text, err := os.ReadFile("../../traces/reduce-scatter-in-hook.json")
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.json")
	if err := os.WriteFile(cut, text[:len(text)*3/4], 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{cut, "../../../shared/traces/damaged/truncated-gzip.json.gz"} {
		if _, err := os.Stat(path); err != nil {
			t.Logf("SKIP: %v", err)
			continue
		}
		code, out, stderr := runWith("", "check", config, path)
		if code != exitInconclusive || !strings.Contains(out, "the file ends early") {
			t.Errorf("%s: exit %d\n%s%s", path, code, out, stderr)
		}
	}
}

// Names from a trace command neither a runner of CI nor a terminal nor a browser.
func TestCheckNastyNames(t *testing.T) {
	const nasty = "<script>alert(1)</script> \x1b[31m ::error::x\n" +
		"::add-mask::secret %0A::stop-commands::x ##[add-mask]y \u202e| `a`"
	dir := t.TempDir()
	path := generated(t, dir, "nasty.trace.txt", 11, 0, nasty, nasty)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.ReplaceAll(string(text), "user_annotation Optimizer.step#Adam.step",
		fmt.Sprintf("user_annotation %q", "Optimizer.step#"+nasty+".step")))
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	summary := filepath.Join(dir, "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	config := configured(t, dir,
		"budgets:\n  step.time: [error, {max: 1us}]\n  rs.launched_in_optimizer: [error, {max: 0}]\n"+
			"regressions: {step.time: [error, {max_increase: 0}]}\n")
	for _, command := range [][]string{
		{"analyze", "--show=findings,groups,top,health"},
		{"check", config},
		{"check", config, "--baseline", reported(t, generated(t, dir, "b.txt", 11, 0, "x", "y"))},
	} {
		for _, format := range []string{"github", "md", "gobench", "text"} {
			if command[0] == "analyze" && format == "text" {
				continue
			}
			_, out, stderr := runWith("", append(command, path, "--format", format)...)
			if out == "" {
				t.Fatalf("%v %s: %s", command, format, stderr)
			}
			harmless(t, format, out)
		}
	}
	written, err := os.ReadFile(summary)
	if err != nil || strings.Count(string(written), "# gaprof check: failed") != 2 ||
		strings.Count(string(written), "# gaprof\n") != 1 {
		t.Errorf("summary: %v\n%s", err, written)
	}
	harmless(t, "md", string(written))
}

func harmless(t *testing.T, format, out string) {
	t.Helper()
	if strings.ContainsAny(out, "\x1b\u202e") || strings.Contains(out, "##[") {
		t.Errorf("%s: %q", format, out)
	}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		command := strings.HasPrefix(strings.TrimLeft(line, " \t"), "::")
		switch format {
		case "github":
			head, data, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
			if !command ||
				!strings.HasPrefix(head, "error title=") && !strings.HasPrefix(head, "warning title=") &&
					!strings.HasPrefix(head, "notice title=") || strings.Contains(data, "%0A::") {
				t.Errorf("github: %q", line)
			}
		case "gobench":
			if !strings.HasPrefix(line, "BenchmarkStep/kind=") && !strings.HasPrefix(line, "Unit ") &&
				!strings.HasPrefix(line, "device: ") ||
				strings.HasPrefix(line, "Bench") && strings.ContainsAny(line, "<>%:#`|") {
				t.Errorf("gobench: %q", line)
			}
		case "md":
			if strings.Contains(line, "<script>") {
				t.Errorf("md: %q", line)
			}
		}
		if command && format != "github" {
			t.Errorf("%s: a command of a runner: %q", format, line)
		}
	}
}

// What is written for benchstat has one line for each step, device time first.
func TestCheckGoBench(t *testing.T) {
	path := generated(t, t.TempDir(), "a.trace.txt", 11, 0, "GPU", "gemm")
	for _, command := range []string{"analyze", "check"} {
		_, out, stderr := runWith("", command, "-q", path, "--format", "gobench")
		n := strings.Count(out, "\nBenchmarkStep/kind=Adam/accum=1\t1\t")
		if n != 11 || !strings.Contains(out, " ns/op\t") || !strings.Contains(out, " rs-exposed-ns/op\t") ||
			!strings.Contains(out, "\nUnit rs-overlap better=higher\n") {
			t.Errorf("%s: %d steps\n%s%s", command, n, out, stderr)
		}
	}
}
