package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// param is a figure of a machine.
type param int

// The figures, as params describes them.
const (
	eager param = iota
	launch
	memcpy
	memset
	record
	wait
	syncing
	collective
	span
	malloc
	free
	loader
	queue
	jitter
	skew
	uneven
	kernel
	gap
	start
	event
	gemm
	attention
	attentionBackward
	elementwise
	transposed
	normalize
	normalizeBackward
	sum
	loss
	lookup
	optimizer
	copying
	scale
	slow
	pcie
	ncclLatency
	ncclLeast
	perNode
	bus
	pci
	net
	capability
	memory
	sms
	hbm
	bf16
	f32
	f64
	numParams
)

// kindOf a figure: what it is measured in.
type kindOf int

const (
	aTime   kindOf = iota // ns
	aRate                 // bytes/s
	aSpeed                // floating-point operations/s
	aSize                 // bytes
	aRatio                // a plain number, or a percentage
	aNumber               // a plain number
)

// params are the figures of a machine: their names, kinds and ranges.
var params = [numParams]struct {
	name     string
	kind     kindOf
	from, to float64
	usage    string
}{
	eager:      {"eager", aTime, 0, 1e9, "from one eager operator to the next on the host"},
	launch:     {"launch", aTime, 0, 1e9, "cudaLaunchKernel, a part of eager"},
	memcpy:     {"memcpy", aTime, 0, 1e9, "cudaMemcpyAsync, in place of launch"},
	memset:     {"memset", aTime, 0, 1e9, "cudaMemsetAsync, in place of launch"},
	record:     {"record", aTime, 0, 1e9, "cudaEventRecord"},
	wait:       {"wait", aTime, 0, 1e9, "cudaStreamWaitEvent"},
	syncing:    {"sync", aTime, 0, 1e9, "from the end of what the host waits for until it goes on"},
	collective: {"collective", aTime, 0, 1e9, "calling a collective, with its launch"},
	span:       {"span", aTime, 0, 1e9, "entering a range of the profiler"},
	malloc:     {"malloc", aTime, 0, 1e9, "cudaMalloc of a segment"},
	free:       {"free", aTime, 0, 1e9, "cudaFree of a segment"},
	loader:     {"loader", aTime, 0, 1e12, "taking a micro-batch from its loader"},
	queue:      {"queue", aNumber, 1, 1 << 20, "launches that can be queued before the host blocks"},
	jitter:     {"jitter", aRatio, 0, 1, "standard deviation of the durations of kernels; makes ranks differ"},
	skew:       {"skew", aTime, 0, 1e10, "most that the host of a rank is late in a step; makes ranks differ"},
	uneven: {"uneven", aRatio, 0, 1,
		"standard deviation of how long all kernels of a rank take in a step; makes ranks differ"},
	kernel:            {"kernel", aTime, 1, 1e9, "the shortest kernel"},
	gap:               {"gap", aTime, 0, 1e9, "between dependent kernels"},
	start:             {"start", aTime, 0, 1e9, "from a launch to the start on an idle device"},
	event:             {"event", aTime, 0, 1e9, "from an event to the start of what waits for it on another stream"},
	gemm:              {"gemm", aRatio, 0.001, 1, "share of the peak that large matrix products reach"},
	attention:         {"attention", aRatio, 0.001, 1, "share of the peak that attention reaches"},
	attentionBackward: {"attention-backward", aRatio, 0.001, 1, "share of the peak that its backward reaches"},
	elementwise:       {"elementwise", aRatio, 0.001, 1, "share of hbm that elementwise kernels reach"},
	transposed:        {"strided", aRatio, 0.001, 1, "share of hbm that kernels of transposed operands reach"},
	normalize:         {"normalize", aRatio, 0.001, 1, "share of hbm that layer_norm and rms_norm reach"},
	normalizeBackward: {"normalize-backward", aRatio, 0.001, 1, "share of hbm that their backward reaches"},
	sum:               {"sum", aRatio, 0.001, 1, "share of hbm that norms and sums reach"},
	loss:              {"loss", aRatio, 0.001, 1, "share of hbm that cross entropy reaches"},
	lookup:            {"lookup", aRatio, 0.001, 1, "share of hbm that embeddings reach"},
	optimizer:         {"optimizer", aRatio, 0.001, 1, "share of hbm that optimizers reach"},
	copying:           {"copy", aRatio, 0.001, 1, "share of hbm that copies and memsets within the device reach"},
	scale:             {"scale", aRate, 0, 1e15, "what kernels that scale one gradient move; 0 as fast as elementwise"},
	slow:              {"slow", aRatio, 1, 100, "factor of what computes beside a collective"},
	pcie:              {"pcie", aRate, 1e6, 1e15, "copies between host and device"},
	ncclLatency:       {"nccl-latency", aRatio, 0, 1000, "factor of NCCL's latencies"},
	ncclLeast:         {"nccl-least", aTime, 0, 1e9, "the shortest collective"},
	perNode:           {"gpus-per-node", aNumber, 1, 1 << 16, "ranks of a node"},
	bus:               {"bus", aRate, 1e6, 1e15, "what a GPU sends in a ring within a node"},
	pci:               {"pci", aNumber, 0, 1, "1: GPUs of a node are connected by PCI Express"},
	net:               {"net", aRate, 1e6, 1e15, "what a GPU sends to other nodes"},
	capability:        {"capability", aNumber, 1, 100, "compute capability"},
	memory:            {"memory", aSize, 1 << 20, 1 << 50, "memory of a device"},
	sms:               {"sms", aNumber, 1, 1 << 16, "streaming multiprocessors"},
	hbm:               {"hbm", aRate, 1e6, 1e15, "peak bandwidth of the memory"},
	bf16:              {"bf16", aSpeed, 1e6, 1e19, "peak of bfloat16, dense"},
	f32:               {"f32", aSpeed, 1e6, 1e19, "peak of float32"},
	f64:               {"f64", aSpeed, 1e6, 1e19, "peak of float64"},
}

// kinds are how figures are written, and the units that each kind takes; the first is that of
// the example.
var kinds = [...]struct {
	what, example string
	units         map[string]float64
}{
	aTime: {"a time", "6us", map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}},
	aRate: {"bytes per second", "2.0TB/s", map[string]float64{
		"B/s": 1, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}},
	aSpeed: {"operations per second", "989TFLOP/s", map[string]float64{
		"GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15, "GFLOPS": 1e9, "TFLOPS": 1e12, "PFLOPS": 1e15}},
	aSize: {"bytes", "80GB", map[string]float64{"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}},
	aRatio:  {"a number", "0.8", map[string]float64{"": 1, "%": 0.01}},
	aNumber: {"a number", "8", map[string]float64{"": 1}},
}

// find returns the figure with a name.
func find(name string) (param, bool) {
	for p := range params {
		if params[p].name == name {
			return param(p), true
		}
	}
	return 0, false
}

// parse reads a figure with its unit.
func (p param) parse(text string) (float64, error) {
	row := params[p]
	kind := kinds[row.kind]
	text = strings.TrimSpace(text)
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/%µ")
	unit := text[len(digits):]
	factor, known := kind.units[unit]
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	switch {
	case err != nil || math.IsNaN(value):
		return 0, fmt.Errorf("%s is %s: write %s, not %q", row.name, kind.what, kind.example, text)
	case !known && value == 0 && unit == "":
		factor = 1 // nothing, in whatever unit
	case !known && unit == "":
		return 0, fmt.Errorf("%s is %s, and %q has no unit: write %s", row.name, kind.what, text, kind.example)
	case !known:
		return 0, fmt.Errorf("%s is %s, and %q is no unit of that: write %s", row.name, kind.what, unit, kind.example)
	}
	value *= factor
	if row.kind == aNumber && value != math.Trunc(value) && p != capability {
		return 0, fmt.Errorf("%s is a whole number: write %s, not %q", row.name, kind.example, text)
	}
	if value < row.from || value > row.to {
		return 0, fmt.Errorf("%s %s is out of range: take %s to %s", row.name, text, p.format(row.from),
			p.format(row.to))
	}
	return value, nil
}

// format writes a figure in the largest unit that leaves it no smaller than 1.
func (p param) format(value float64) string {
	best, unit := 1.0, ""
	for name, factor := range kinds[params[p].kind].units {
		if name == "µs" || strings.HasSuffix(name, "FLOPS") || strings.HasSuffix(name, "iB") || name == "%" {
			continue
		}
		if unit == "" && name != "" || factor <= value && factor > best || best > value && factor < best {
			best, unit = factor, name
		}
	}
	return strconv.FormatFloat(value/best, 'g', 6, 64) + unit
}
