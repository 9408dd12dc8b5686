package sim

import (
	"strings"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
	"github.com/gaprof/gaprof/trace/graph"
)

// cost is what a kernel takes.
type cost struct {
	ns           float64
	flops, bytes int64
	role         graph.Role
}

// classes say by operators how much of the device their kernels use: the first of whose words
// all are in the name of an operator counts, and what is not here is elementwise.
var classes = []struct {
	words  []string
	memory param // share of the bandwidth
	flops  param // share of the arithmetic; 0 where that does not matter
}{
	{[]string{"attention", "backward"}, elementwise, attentionBackward},
	{[]string{"attention"}, elementwise, attention},
	{[]string{"::mm"}, elementwise, gemm},
	{[]string{"::addmm"}, elementwise, gemm},
	{[]string{"::bmm"}, elementwise, gemm},
	{[]string{"_norm_backward"}, normalizeBackward, 0},
	{[]string{"layer_norm"}, normalize, 0},
	{[]string{"rms_norm"}, normalize, 0},
	{[]string{"vector_norm"}, sum, 0},
	{[]string{"foreach_norm"}, sum, 0},
	{[]string{"::sum"}, sum, 0},
	{[]string{"cross_entropy"}, loss, 0},
	{[]string{"nll_loss"}, loss, 0},
	{[]string{"log_softmax"}, loss, 0},
	{[]string{"embedding"}, lookup, 0},
	{[]string{"_fused_"}, optimizer, 0},
}

// classOf is the class of an operator.
func classOf(name string) (share, arithmetic param) {
	for i := range classes {
		all := true
		for _, word := range classes[i].words {
			all = all && strings.Contains(name, word)
		}
		if all {
			return classes[i].memory, classes[i].flops
		}
	}
	return elementwise, 0
}

// cost is that of a kernel: the longer of its arithmetic and its memory traffic, each at the
// rate that kernels of its kind and size reach, and never less than the shortest kernel.
func (m *Machine) cost(k device.Kernel) cost {
	c := cost{role: graph.Compute}
	c.flops, c.bytes = k.Cost()
	of, arithmetic := classOf(k.Op())
	rate := m.values[hbm] * m.values[of]
	if s, ok := k.(ops.Scale); ok && m.values[scale] > 0 && len(s.X.Shape) > 0 {
		rate = m.values[scale]
	}
	c.ns = float64(c.bytes) / rate * 1e9
	fills := float64(c.bytes) >= m.values[sms]*blockBytes
	if arithmetic != 0 {
		share, blocks := m.values[arithmetic], float64(0)
		if arithmetic == gemm {
			var used float64
			used, blocks = m.tiles(k)
			share *= used
		}
		c.ns = max(c.ns, float64(c.flops)/(m.peak(k.Type())*share)*1e9)
		fills = fills && arithmetic != gemm || blocks >= m.values[sms]
	}
	c.ns = max(c.ns, m.values[kernel])
	if fills {
		c.role = graph.Filling
	}
	return c
}

// blockBytes is what a block of an elementwise kernel moves: 4 vectors of 16 bytes for each of
// 128 threads, read and written. A kernel with at least a block for each multiprocessor fills
// the device.
const blockBytes = 4 * 16 * 128 * 2

// peak is the arithmetic of a type.
func (m *Machine) peak(dt device.DType) float64 {
	switch dt {
	case device.BF16:
		return m.values[bf16]
	case device.F64:
		return m.values[f64]
	}
	return m.values[f32]
}

// A product is worked off in tiles, as many at a time as there are multiprocessors; a short
// inner dimension leaves the pipeline of each tile empty for a part of the time.
const (
	tileRows, tileColumns = 128, 256
	emptyPipeline         = 192 // of the inner dimension
)

// tiles is the share of the device that a matrix product uses of what a large one does, and the
// tiles that it has. Products with few tiles are split along the inner dimension.
func (m *Machine) tiles(k device.Kernel) (used, tiles float64) {
	rows, columns, inner := dimensions(k)
	if rows == 0 {
		return 1, m.values[sms]
	}
	tiles = ceil(rows, tileRows) * ceil(columns, tileColumns)
	n := m.values[sms]
	if tiles < n {
		tiles *= min(ceil(int(n), int(tiles)), max(1, float64(inner)/512))
	}
	waves := tiles / n
	used = waves / float64(int(waves)+1)
	if waves == float64(int(waves)) {
		used = 1
	}
	return used * float64(inner) / float64(inner+emptyPipeline), tiles
}

func ceil(n, by int) float64 { return float64((n + by - 1) / by) }

// dimensions of a matrix product: rows, columns, and the inner one.
func dimensions(k device.Kernel) (rows, columns, inner int) {
	switch o := k.(type) {
	case ops.Linear:
		return o.M, o.N, o.K
	case ops.LinearInput:
		return o.M, o.K, o.N
	case ops.LinearWeight:
		return o.N, o.K, o.M
	}
	return 0, 0, 0
}
