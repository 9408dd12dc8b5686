package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// endless is a trace of one of three ranks, in the text of PyTorch, whose times are shifted and
// stretched: kernel times by so many us, durations of kernels as given, and messages of so many
// elements.
func endless(rank int, shift func(i int) string, dur, elements string) string {
	var events []string
	add := func(format string, args ...any) { events = append(events, fmt.Sprintf(format, args...)) }
	at := func(i int, us int) string {
		if s := shift(i); s != "" {
			return s
		}
		return fmt.Sprint(us)
	}
	id := 0
	for step := range 2 {
		t0 := 1000 + 1000*step
		add(`"cat": "user_annotation", "name": "ProfilerStep#%d", "ts": %d, "dur": 900, "pid": 1, "tid": 1`, step, t0)
		for i := range 6 {
			id++
			name, args := "ampere_sgemm", ""
			if i%2 == 1 {
				name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
				args = `, "Collective name": "allreduce", "dtype": "Double", "Group size": 3, ` +
					`"Process Group Name": "0", "In msg nelems": ` + elements + `, "Out msg nelems": ` + elements
			}
			add(`"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": %d, "dur": 9, "pid": 1, "tid": 1, `+
				`"args": {"correlation": %d}`, t0+10+50*i, id)
			add(`"cat": "kernel", "name": "%s", "ts": %s, "dur": %s, "pid": 0, "tid": %d, `+
				`"args": {"correlation": %d, "stream": %d, "device": 0%s}`,
				name, at(id, t0+40+50*i), dur, 7+i, id, 7+i, args)
		}
		id++
		add(`"cat": "user_annotation", "name": "Optimizer.step#AdamW.step", "ts": %d, "dur": 99, `+
			`"pid": 1, "tid": 1`, t0+400)
		add(`"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": %d, "dur": 9, "pid": 1, "tid": 1, `+
			`"args": {"correlation": %d}`, t0+410, id)
		add(`"cat": "kernel", "name": "multi_tensor_apply_kernel", "ts": %s, "dur": %s, "pid": 0, "tid": 7, `+
			`"args": {"correlation": %d, "stream": 7, "device": 0}`, at(id, t0+500), dur, id)
	}
	return fmt.Sprintf(`{"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 3}, `+
		`"traceEvents": [{"ph": "X", %s}]}`, rank, strings.Join(events, "}, {\"ph\": \"X\", "))
}

// beyond finds a time, a size or a count below zero that no difference of two runs explains.
var beyond = regexp.MustCompile(`(^|[ ,:(>"=])-[0-9]{5,}|NaN ms|Inf ms`)

// TestEndlessTimes: kernels that last 2^62 ns, times that lie 2^63 ns apart and messages of 2^62
// elements on three ranks overflow no sum in any command: no figure is below zero, nothing fails
// by a fault of the program.
func TestEndlessTimes(t *testing.T) {
	t.Chdir(t.TempDir())
	const far = "4611686018427387" // us, 2^62 ns
	near := func(int) string { return "" }
	for name, c := range map[string]struct {
		shift func(i int) string
		dur   string
	}{
		"long":     {near, far},
		"a year":   {near, "36028797018960"},
		"longest":  {near, "9223372036854000"},
		"far":      {func(i int) string { return far }, "100"},
		"far each": {func(i int) string { return []string{"", far, "-" + far}[i%3] }, "100"},
	} {
		dir := strings.ReplaceAll(name, " ", "_")
		must(t, os.Mkdir(dir, 0o777))
		for rank := range 3 {
			file := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
			must(t, os.WriteFile(file, []byte(endless(rank, c.shift, c.dur, "4611686018427387904")), 0o666))
		}
		for _, line := range []string{
			"analyze DIR --show findings,top,groups,memory,ranks,health,whatif", "analyze DIR --format json",
			"analyze DIR --format csv", "whatif DIR", "diff DIR DIR --format json", "check DIR",
			"norm DIR --tokens uniform", "calibrate DIR",
		} {
			var out, said bytes.Buffer
			code := run(strings.Fields(strings.ReplaceAll(line, "DIR", dir)), nil, &out, &said)
			text := strings.ReplaceAll(out.String(), "-"+far, "") // where an event is
			if bad := beyond.FindString(text); bad != "" || code > exitInconclusive {
				t.Errorf("%s: %s: exit %d, %q\n%s", name, line, code, bad, said.String())
			}
		}
	}
}
