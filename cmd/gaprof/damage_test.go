package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// loopSteps is how many steps a healthy run has: one more than times need.
const loopSteps = 7

// loopTokens is the number of tokens of a micro-batch, by rank.
var loopTokens = [2][2]int{{59, 60}, {12, 268}}

// loopRank is the trace of a rank of a healthy run as text: two ranks, two micro-batches per
// step, gradients all-reduced from hooks beside backward, all tokens counted.
type loopRank struct {
	b                  strings.Builder
	rank, corr, seq    int
	now, stream, comms int // us: of the host, and when the streams are free
}

func (l *loopRank) line(format string, args ...any) { fmt.Fprintf(&l.b, format+"\n", args...) }

// op is an operator of the host that launches a kernel of some length, 0 for none.
func (l *loopRank) op(thread int, op string, kernel string, length int) {
	l.line("1/%d %dus +12us %s", thread, l.now, op)
	if length > 0 {
		l.launch(thread, kernel, length)
	}
	l.now += 20
}

func (l *loopRank) launch(thread int, kernel string, length int) {
	l.corr++
	l.line("1/%d %dus +5us cuda_runtime cudaLaunchKernel corr=%d", thread, l.now+4, l.corr)
	l.stream = max(l.stream, l.now+10)
	l.line("0/7 %dus +%dus kernel %s corr=%d stream=7", l.stream, length, kernel, l.corr)
	l.stream += length + 1
}

// reduce is an all-reduce that a hook launches.
func (l *loopRank) reduce(elems, length int) {
	l.corr, l.seq = l.corr+1, l.seq+1
	args := fmt.Sprintf("coll=allreduce in=%[1]d out=%[1]d dtype=Float group=0 gsize=2 seq=%d", elems, l.seq)
	l.line("1/2 %dus +10us cpu_op record_param_comms %s granks=%q rank=%d", l.now+2, args, "[0, 1]", l.rank)
	l.line("1/2 %dus +4us cuda_runtime cudaLaunchKernelExC corr=%d", l.now+4, l.corr)
	l.comms = max(l.comms, l.stream, l.now+10)
	l.line("0/20 %dus +%dus kernel %q corr=%d stream=20 %s", l.comms, length,
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", l.corr, args)
	l.comms += length
}

// gradient is the accumulation of a parameter's gradient, reduced after the last backward.
func (l *loopRank) gradient(rows int, last bool, length int) {
	l.line(`1/2 %dus +30us cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"`, l.now)
	l.line(`1/2 %dus +28us cpu_op torch::autograd::AccumulateGrad dims=[[%d,1000]] type=["float"]`, l.now+1, rows)
	if last {
		l.reduce(1000*rows, length)
	}
	l.now += 40
}

func (l *loopRank) step(i int) {
	long := 600 + i*37%11
	for j, tokens := range loopTokens[l.rank] {
		l.line("1/1 %dus +30us user_annotation gaprof.tokens=%d", l.now-1, tokens)
		l.op(1, `cpu_op aten::linear dims=[[64,1000],[1000,1000],[1000]] type=["float","float","float"]`, "gemm", long)
		l.now += 20
		for at, rows := range []int{1000, 500, 1} {
			l.op(2, `cpu_op "autograd::engine::evaluate_function: AddmmBackward0"`, "gemm", long)
			l.gradient(rows, j == 1, []int{200, 150, 1}[at])
		}
	}
	l.stream = max(l.stream, l.comms)
	l.op(1, "user_annotation Optimizer.step#AdamW.step", "adam", 100)
	l.now = max(l.now, l.stream-400)
}

// healthyLoop writes a run of n steps as a user has it, a folder of Kineto traces and logs,
// and returns the folder.
func healthyLoop(t *testing.T, dir string, n int) string {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o777))
	for rank := range 2 {
		l := loopRank{rank: rank, now: 1000}
		l.line("recording format=kineto\ndevice 0 GPU memory=80000000000")
		l.line("distributed backend=nccl rank=%d world_size=2\ngroup 0 desc=default_pg ranks=0,1", rank)
		l.line("process 1 name=python labels=CPU\nthread 1/1 name=main\nthread 1/2 name=autograd")
		for i := range n {
			l.step(i)
		}
		text := filepath.Join(t.TempDir(), "rank.trace.txt")
		must(t, os.WriteFile(text, []byte(l.b.String()), 0o666))
		trace := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
		if code, _, stderr := runWith("", "convert", "-q", text, "-o", trace, "--force"); code != exitOK {
			t.Fatal(stderr)
		}
	}
	loopLogs(t, dir, n)
	return dir
}

// loopLogs writes what the run logs: losses that all have one weight.
func loopLogs(t *testing.T, dir string, n int) {
	t.Helper()
	var tokens, losses strings.Builder
	for i := range n {
		sum, all := 0.0, 0
		for rank, row := range loopTokens {
			for j, count := range row {
				loss := float64(count) * (5 - 0.3*float64(rank) - 0.2*float64(j) - 0.1*float64(i))
				sum, all = sum+loss, all+count
				at := fmt.Sprintf(`"step":%d,"rank":%d,"micro_batch":%d,"local_valid_tokens":%d`, i, rank, j, count)
				fmt.Fprintf(&tokens, "{%s}\n", at)
				fmt.Fprintf(&losses, "{%s,\"loss_sum\":%g}\n", at, loss)
			}
		}
		mean := sum / float64(all)
		fmt.Fprintf(&losses, `{"step":%d,"logged_loss":%g,"optimized_loss":%g}`+"\n", i, mean, mean)
	}
	must(t, os.WriteFile(filepath.Join(dir, tokensFile), []byte(tokens.String()), 0o666))
	must(t, os.WriteFile(filepath.Join(dir, lossFile), []byte(losses.String()), 0o666))
}

// damaged is a healthy run that something happened to: the ranks' traces as JSON.
type damagedRun struct {
	ranks []map[string]any
	texts []string // what is written of a rank: all of it (""), nothing ("gone"), a part ("cut")
}

// events calls change for each event of some ranks, all where none is named; events for
// which it returns false are lost.
func (d *damagedRun) events(change func(e map[string]any) bool, ranks ...int) {
	for i, r := range d.ranks {
		if len(ranks) > 0 && !slices.Contains(ranks, i) {
			continue
		}
		var left []any
		for _, e := range r["traceEvents"].([]any) {
			if change(e.(map[string]any)) {
				left = append(left, e)
			}
		}
		r["traceEvents"] = left
	}
}

func isKernel(e map[string]any) bool { return e["cat"] == "kernel" }
func isComm(e map[string]any) bool {
	return isKernel(e) && strings.HasPrefix(e["name"].(string), "nccl")
}
func isLaunch(e map[string]any) bool { return e["cat"] == "cuda_runtime" }
func isUpdate(e map[string]any) bool { return strings.HasPrefix(e["name"].(string), "Optimizer.step") }

// corr is the correlation id of an event, 0 without one.
func corr(e map[string]any) int {
	args, _ := e["args"].(map[string]any)
	id, _ := args["correlation"].(float64)
	return int(id)
}

// duration gives events another duration, as raw JSON; "" takes it away.
func duration(of func(map[string]any) bool, text string) func(*damagedRun) {
	return func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			switch {
			case !of(e):
			case text == "":
				delete(e, "dur")
			default:
				e["dur"] = rawNumber(text)
			}
			return true
		})
	}
}

// rawNumber is JSON that json.Marshal would refuse, such as NaN; see damagedRun.write.
type rawNumber string

func (n rawNumber) MarshalJSON() ([]byte, error) { return json.Marshal("raw:" + string(n)) }

// lose loses the events for which it says so.
func lose(which func(map[string]any) bool, ranks ...int) func(*damagedRun) {
	return func(d *damagedRun) { d.events(func(e map[string]any) bool { return !which(e) }, ranks...) }
}

// rescaled multiplies keys of all events.
func rescaled(by float64, keys ...string) func(*damagedRun) {
	return func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			for _, key := range keys {
				if v, ok := e[key].(float64); ok {
					e[key] = v * by
				}
			}
			return true
		})
	}
}

// worldSize gives all ranks another world size.
func worldSize(size any) func(*damagedRun) {
	return func(d *damagedRun) {
		for _, r := range d.ranks {
			r["distributedInfo"].(map[string]any)["world_size"] = size
		}
	}
}

// later moves events in time, by us.
func later(which func(map[string]any) bool, by float64) func(*damagedRun) {
	return func(d *damagedRun) {
		d.events(func(e map[string]any) bool {
			if which(e) {
				e["ts"] = e["ts"].(float64) + by
			}
			return true
		})
	}
}

// until loses what begins after the n-th update of each of some ranks.
func until(n int, ranks ...int) func(*damagedRun) {
	return func(d *damagedRun) {
		for i := range d.ranks {
			if len(ranks) > 0 && !slices.Contains(ranks, i) {
				continue
			}
			var ends []float64
			d.events(func(e map[string]any) bool {
				if isUpdate(e) {
					ends = append(ends, e["ts"].(float64)+e["dur"].(float64))
				}
				return true
			}, i)
			slices.Sort(ends)
			kept := make(map[int]bool)
			d.events(func(e map[string]any) bool {
				if isLaunch(e) && e["ts"].(float64) < ends[n-1] {
					kept[corr(e)] = true
				}
				return true
			}, i)
			d.events(func(e map[string]any) bool {
				return e["ph"] == "M" || isKernel(e) && kept[corr(e)] || !isKernel(e) && e["ts"].(float64) < ends[n-1]
			}, i)
		}
	}
}

// damage writes a run that something happened to into a folder, with its logs.
func damage(t *testing.T, healthy, dir string, what func(*damagedRun)) {
	t.Helper()
	d := &damagedRun{texts: make([]string, 2)}
	for rank := range 2 {
		text, err := os.ReadFile(filepath.Join(healthy, fmt.Sprintf("rank%d.json", rank)))
		must(t, err)
		var r map[string]any
		must(t, json.Unmarshal(text, &r))
		d.ranks = append(d.ranks, r)
	}
	what(d)
	must(t, os.MkdirAll(dir, 0o777))
	for _, log := range []string{tokensFile, lossFile} {
		text, err := os.ReadFile(filepath.Join(healthy, log))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, log), text, 0o666))
	}
	for rank, r := range d.ranks {
		text, err := json.Marshal(r)
		must(t, err)
		text = regexp.MustCompile(`"raw:([^"]*)"`).ReplaceAllFunc(text, func(m []byte) []byte {
			return []byte(strings.ReplaceAll(string(m[5:len(m)-1]), `'`, `"`))
		})
		switch d.texts[rank] {
		case "gone":
			continue
		case "cut":
			text = text[:2*len(text)/3]
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.json", rank)), text, 0o666))
	}
}
