package work

import (
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Kernel is what all launches of one compute kernel with one shape have in common.
type Kernel struct {
	Name    string
	Shape   Shape          // of its operator's inputs and of its launch
	Size    int64          // elements of the largest input, else blocks of the grid; 0 unknown
	Longest timeline.Event // the launch that took longest
}

// Shape is what a launch works on. Texts are as the trace has them, "" where it has none.
type Shape struct {
	Inputs string // of the operator around the launch
	Grid   string // blocks
}

// String is "inputs [[8, 64]], grid [4, 1, 1]", "" where nothing is known.
func (s Shape) String() string {
	switch {
	case s.Inputs == "" && s.Grid == "":
		return ""
	case s.Inputs == "":
		return "grid " + s.Grid
	case s.Grid == "":
		return "inputs " + s.Inputs
	}
	return "inputs " + s.Inputs + ", grid " + s.Grid
}

// Amount is the work of one kernel in a stretch.
type Amount struct {
	Kernel int32 // index into Work.Kernels
	Count  int32 // launches
	NS     int64 // their durations, summed
}

// mostKernels bounds what is kept of hostile traces; real ones have a few hundred.
const mostKernels = 1 << 12

// shape is the name of a kernel and the texts of its grid and of its operator's inputs.
type shape struct{ name, grid, dims trace.StringID }

// kernels numbers the kernels of a rank.
type kernels struct {
	x     *timeline.Rank
	list  []Kernel
	index map[shape]int32
	named []bool // by name: some kernel has it
	last  []last // by kernel
	seen  [1 << 10]struct {
		args uint32
		key  trace.Key
		text trace.StringID
	}
}

// last is where a kernel was counted last, and the row of its longest launch.
type last struct{ stretch, at, longest int32 }

func newKernels(x *timeline.Rank) *kernels {
	return &kernels{x: x, index: make(map[shape]int32), named: make([]bool, x.Trace.NumStrings())}
}

// count adds a compute kernel to those of a stretch.
func (k *kernels) count(amounts []Amount, stretch, row, launch int32) []Amount {
	if len(k.list) == mostKernels && !k.named[k.x.Col.Name[row]] {
		return amounts
	}
	key := shape{k.x.Col.Name[row], k.text(row, trace.KeyGrid), k.dims(launch)}
	n, known := k.index[key]
	if !known {
		if len(k.list) == mostKernels {
			return amounts
		}
		n = int32(len(k.list))
		k.index[key], k.named[key.name] = n, true
		k.list = append(k.list, k.kernel(key))
		k.last = append(k.last, last{-1, 0, row})
	}
	ns := k.x.Col.Dur[row]
	l := &k.last[n]
	if ns > k.x.Col.Dur[l.longest] {
		l.longest = row
	}
	if l.stretch != stretch {
		l.stretch, l.at = stretch, int32(len(amounts))
		amounts = append(amounts, Amount{Kernel: n})
	}
	a := &amounts[l.at]
	a.Count++
	a.NS += ns
	return amounts
}

// operatorsUp is how many spans around a launch are asked for the inputs of an operator.
const operatorsUp = 3

// dims is the text of the inputs of the innermost operator around a launch that shows
// them, 0 for none.
func (k *kernels) dims(launch int32) trace.StringID {
	if launch < 0 {
		return 0
	}
	row := k.x.Col.Parent[launch]
	for i := 0; i < operatorsUp && row != trace.NoParent; i++ {
		if text := k.text(row, trace.KeyInputDims); text != 0 {
			return text
		}
		row = k.x.Col.Parent[row]
	}
	return 0
}

// text is an argument of a row, 0 for none. Most rows share theirs with earlier ones.
func (k *kernels) text(row int32, key trace.Key) trace.StringID {
	args := k.x.Col.Args[row]
	if args == 0 {
		return 0
	}
	slot := &k.seen[(args^uint32(key)<<5)%uint32(len(k.seen))]
	if slot.args != args || slot.key != key {
		a, _ := k.x.Trace.Event(int(row)).Arg(key)
		slot.args, slot.key, slot.text = args, key, a.Str
	}
	return slot.text
}

// all are the kernels that were counted.
func (k *kernels) all() []Kernel {
	for i := range k.list {
		k.list[i].Longest = k.x.Event(k.last[i].longest)
	}
	return k.list
}

// kernel describes a kernel but for its longest launch.
func (k *kernels) kernel(s shape) Kernel {
	size := largest(k.x.Trace.String(s.dims))
	if s.dims == 0 && s.grid != 0 {
		size = largest(k.x.Trace.String(s.grid))
	}
	of := Shape{Inputs: k.x.Trace.String(s.dims), Grid: k.x.Trace.String(s.grid)}
	return Kernel{Name: k.x.Trace.String(s.name), Shape: of, Size: size}
}

// mostElements ends products of hostile shapes.
const mostElements = 1 << 50

// largest is the largest product of the numbers between two brackets, 0 without any.
func largest(text string) int64 {
	best, product, number, digits := int64(0), int64(1), int64(0), false
	for i := range len(text) {
		c := text[i]
		if '0' <= c && c <= '9' {
			number, digits = min(10*number+int64(c-'0'), mostElements), true
			continue
		}
		if digits {
			product = min(product, mostElements/max(number, 1)) * number
			best = max(best, product*oneIf(c == ']'))
		}
		if number, digits = 0, false; c == '[' || c == ']' {
			product = 1
		}
	}
	return best
}

func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
