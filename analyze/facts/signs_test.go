package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// lines writes n lines.
func lines(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// TestSignsOfLoss: what a recording must lack, or show, before it is said of it, and how much is then said.
func TestSignsOfLoss(t *testing.T) {
	numbered := func(from, to int) string {
		return lines(to-from, func(i int) string {
			return fmt.Sprintf("1/1 %dus +1us cpu_op aten::a ext=%d", 10*(from+i), from+i)
		})
	}
	launching := func(name string, calls, without int) string {
		return lines(calls, func(i int) string {
			at, id := 100*i+len(name), 1000*len(name)+i
			text := fmt.Sprintf("1/%d %dus +50us cpu_op %s", len(name), at, name)
			if i < without {
				return text
			}
			return text + fmt.Sprintf("\n1/%d %dus +5us cuda_runtime cudaLaunchKernel corr=%d\n", len(name), at+5, id) +
				fmt.Sprintf("0/7 %dus +1us kernel a corr=%d", at+30, id)
		})
	}
	crossing := func(n, all int) string {
		return lines(all/2, func(i int) string {
			length := 10
			if i < n {
				length = 50
			}
			return fmt.Sprintf("1/1 %dus +30us cpu_op a\n1/1 %dus +%dus cpu_op b", 100*i, 100*i+10, length)
		})
	}
	crossed := func(n, all int) string {
		return lines(all, func(i int) string {
			call := "cudaMemcpyAsync"
			if i < n {
				call = "cudaLaunchKernel"
			}
			return fmt.Sprintf("1/1 %dus +2us cuda_runtime %s corr=%d\n", 10*i, call, i+1) +
				fmt.Sprintf("0/7 %dus +1us gpu_memcpy c corr=%d", 10*i+5, i+1)
		})
	}
	for _, test := range []struct {
		name, source string
		code         trace.Code
		count        int64
	}{
		{"all numbers", numbered(100, 500), trace.LostHost, 0},
		{"ten numbers missing", numbered(100, 300) + numbered(310, 500), trace.LostHost, 10},
		{"three operators that do not always launch", launching("a", 12, 3) + launching("bb", 12, 3) +
			launching("ccc", 12, 3), trace.LostLaunches, 9},
		{"two", launching("a", 12, 3) + launching("bb", 12, 3), trace.LostLaunches, 0},
		{"three beside three that do", launching("a", 12, 3) + launching("bb", 12, 3) + launching("ccc", 12, 3) +
			launching("dddd", 12, 0) + launching("eeeee", 12, 0) + launching("ffffff", 12, 0), trace.LostLaunches, 0},
		{"twenty spans that cross", crossing(20, 4000), trace.CrossingSpans, 20},
		{"nineteen", crossing(19, 1000), trace.CrossingSpans, 0},
		{"twenty of too many", crossing(20, 4002), trace.CrossingSpans, 0},
		{"launches of another kind than what runs", crossed(3, 299), trace.CrossedLaunches, 3},
		{"three of three hundred", crossed(3, 300), trace.CrossedLaunches, 0},
		{"two", crossed(2, 50), trace.CrossedLaunches, 0},
	} {
		if got := times(one(t, test.source), test.code); got != test.count {
			t.Errorf("%s: %s %d times, want %d", test.name, test.code, got, test.count)
		}
	}
}
