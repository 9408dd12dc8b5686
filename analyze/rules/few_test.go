package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// stalled is steps of 800 us in each of which the host sorts for so many us beforehand.
func stalled(sorts ...int) string {
	var text strings.Builder
	text.WriteString("thread 1/1 process=python name=main\nthread 1/2 name=autograd\n")
	at, corr := 0, 0
	launch := func(thread string, kernel string, start, dur int) {
		corr++
		fmt.Fprintf(&text, "1/%s %dus +3us cuda_runtime cudaLaunchKernel corr=%d\n", thread, at, corr)
		fmt.Fprintf(&text, "0/7 %dus +%dus kernel %s corr=%d stream=7\n", start, dur, kernel, corr)
		at += 5
	}
	for _, us := range sorts {
		fmt.Fprintf(&text, "1/1 %dus +%dus cpu_op aten::sort\n", at, us)
		at += us + 5
		start := at + 5
		launch("1", "gemm", start, 380)
		fmt.Fprintf(&text, "1/2 %dus +9us cpu_op \"autograd::engine::evaluate_function: AddmmBackward0\"\n", at-1)
		launch("2", "gemm_backward", start+380, 380)
		fmt.Fprintf(&text, "1/1 %dus +20us user_annotation Optimizer.step#AdamW.step\n", at+10)
		at += 12
		launch("1", "adam", start+760, 20)
		at = start + 780
	}
	return text.String()
}

// findingIn analyses a trace given as text and returns the finding of a rule.
func findingIn(t *testing.T, rule, source string) report.Finding {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	r := analyse(t, path)
	i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Rule == rule })
	if i < 0 {
		t.Fatalf("%s is not found: %+v", rule, r.Findings)
	}
	return r.Findings[i]
}

// A finding whose time lies in few steps says so, and its evidence begins with the longest gap.
func TestFewSteps(t *testing.T) {
	short := slices.Repeat([]int{10}, 9)
	for _, test := range []struct {
		name  string
		sorts []int
		want  string // in the message
		first int64  // ns of the sort that is shown first
	}{
		{"in each", []int{1500, 1500, 1600, 1500, 1500, 1500, 1500}, "", 1_600_000},
		{"a checkpoint in few", slices.Concat([]int{10, 10, 1500, 1500, 1500, 9000}, short, short),
			", all of it in 4 of 23 steps", 9_000_000},
		{"most of it in one", slices.Concat([]int{10, 10, 1500, 1200, 1300, 90000}, short),
			", nearly all of it in 1 of 14 steps",
			90_000_000},
	} {
		f := findingIn(t, "ID005", stalled(test.sorts...))
		if _, few, _ := strings.Cut(f.Message, ")"); few != test.want {
			t.Errorf("%s: %q, want %q", test.name, few, test.want)
		}
		if f.Evidence[0].Duration != test.first {
			t.Errorf("%s: evidence %+v, want that of %d ns first", test.name, f.Evidence, test.first)
		}
	}
}

// Exposed communication for which one of many steps pays says so.
func TestFewExposedSteps(t *testing.T) {
	one := func(exposed int) string {
		var text strings.Builder
		text.WriteString("distributed backend=nccl rank=0 world_size=8\nthread 1/1 process=python name=main\n")
		for step := range 8 {
			at, us := step*20000, 1
			if step == 5 {
				us = exposed
			}
			fmt.Fprintf(&text, "1/1 %dus +2us cuda_runtime cudaLaunchKernel corr=%d\n", at+1, 3*step+1)
			fmt.Fprintf(&text, "0/7 %dus +1000us kernel gemm corr=%d stream=7\n", at+10, 3*step+1)
			fmt.Fprintf(&text, "1/1 %dus +2us cuda_runtime cudaLaunchKernel corr=%d\n", at+5, 3*step+2)
			fmt.Fprintf(&text, "0/20 %dus +%dus kernel ncclDevKernel_AllGather_RING_LL() corr=%d stream=20\n", at+1010,
				us, 3*step+2)
			fmt.Fprintf(&text, "1/1 %dus +20us user_annotation Optimizer.step#AdamW.step\n", at+1100)
			fmt.Fprintf(&text, "1/1 %dus +2us cuda_runtime cudaLaunchKernel corr=%d\n", at+1102, 3*step+3)
			fmt.Fprintf(&text, "0/7 %dus +10us kernel adam corr=%d stream=7\n", at+1012+us, 3*step+3)
		}
		return text.String()
	}
	const want = ", nearly all of it in 1 of 7 steps" // the recording may have begun within the first
	if f := findingIn(t, "OV009", one(5000)); !strings.HasSuffix(f.Message, want) {
		t.Errorf("%s, want %s", f.Message, want)
	}
}
