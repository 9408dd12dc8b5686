package sim

import (
	"math"
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
	if a, ok := k.(ops.Accumulate); ok && a.Transposed {
		of = transposed
	}
	rate := m.values[hbm] * m.values[of]
	if s, ok := k.(ops.Scale); ok && m.values[scale] > 0 && len(s.X.Shape) > 0 {
		rate = m.values[scale]
	}
	if s, ok := k.(ops.Scale); ok && s.Strided {
		rate = m.values[hbm] * m.values[transposed]
	}
	c.ns = float64(c.bytes) / rate * 1e9
	fills := float64(c.bytes) >= m.values[sms]*blockBytes
	if arithmetic != 0 {
		ns, blocks := float64(c.flops)/(m.peak(k.Type())*m.values[arithmetic])*1e9, float64(0)
		if rows, columns, inner := dimensions(k); rows > 0 {
			s := m.splitOf(rows, columns, inner, ns)
			ns, blocks = ns/s.used+s.extra, s.tiles
		}
		c.ns = max(c.ns, ns)
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

// emptyPipeline is for how much of its inner dimension the pipeline of a tile is empty.
const emptyPipeline = 192

// tiles are the sizes of tiles in which products are worked off, as many at a time as there are multiprocessors.
var tiles = [][2]int{{128, 256}, {192, 192}}

// A product with few tiles is split along its inner dimension into parts of at least leastInner, at most mostSplits of
// them, whose results another kernel adds up.
const (
	leastInner = 512
	mostSplits = 32
)

// split is how a product is worked off.
type split struct {
	used  float64 // share of the device, of what a large product uses
	tiles float64 // of all parts
	extra float64 // ns of adding up the parts
}

// splitOf is the fastest way to work off a product. whole is what it takes if it uses the device as a large one does.
func (m *Machine) splitOf(rows, columns, inner int, whole float64) split {
	best, least := split{}, math.Inf(1)
	for _, tile := range tiles {
		n := ceil(rows, tile[0]) * ceil(columns, tile[1])
		filled := float64(rows) * float64(columns) / (n * float64(tile[0]*tile[1]))
		for parts := 1; parts == 1 || parts <= mostSplits && inner/parts >= leastInner; parts++ {
			s := m.splitInto(n*float64(parts), float64(inner)/float64(parts), filled)
			if parts > 1 { // float32 is written, read again, and written in the type of the product
				moved := float64(rows) * float64(columns) * (8*float64(parts) + 2)
				s.extra = moved / (m.values[hbm] * m.values[elementwise]) * 1e9
			}
			if ns := whole/s.used + s.extra; ns < least {
				least, best = ns, s
			}
		}
	}
	return best
}

// splitInto is a product of so many tiles, of which so much is filled, and which are so deep. The last wave of tiles
// takes as long as the others.
func (m *Machine) splitInto(tiles, depth, filled float64) split {
	waves := tiles / m.values[sms]
	return split{used: waves / math.Ceil(waves) * depth / (depth + emptyPipeline) * filled, tiles: tiles}
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
