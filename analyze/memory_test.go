package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/text"
)

// Of many ranks the drawing has the devices with the highest peaks, and says how many not.
func TestMemoryDrawn(t *testing.T) {
	var inputs []Input
	for rank := range 7 {
		tr, err := text.Read(strings.NewReader(fmt.Sprintf(`distributed backend=nccl rank=%d world_size=7
1/1 0 +10 cpu_op aten::mm
1/1 5 i cpu_instant_event [memory] size=100 devid=0 devtype=1 allocated=%d addr=7 reserved=9000
1/1 6 i cpu_instant_event [memory] size=50 devid=-1 devtype=0
1/1 20 +10 cpu_op "autograd::engine::evaluate_function: MmBackward0"
1/1 25 i cpu_instant_event [memory] size=-100 devid=0 devtype=1 allocated=%d addr=7 reserved=9000
1/1 31 +5 cpu_op torch::autograd::AccumulateGrad dims=[[2,2]] type=["float"]
1/1 40 +10 user_annotation Optimizer.step#A.step
`, rank, 1000+rank*10, 900+rank*10)), "test")
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, Input{File: "test", Trace: tr})
	}
	r := Run(inputs, Options{Drawing: true})
	got := ""
	for _, s := range r.Drawing.Memory {
		got += fmt.Sprintf("%d %s %v %v %v %v, ", s.Rank, s.Kind, s.At, s.Allocated, s.Reserved, s.Held)
	}
	want := ""
	for _, rank := range []int{6, 5, 4, 3} {
		peak := 1000 + rank*10
		want += fmt.Sprintf("%d cuda [0 5 25] [%d %d %d] [9000 9000 9000] [0 100 0], ", rank, peak-100, peak, peak-100)
	}
	if got != want || r.Drawing.MemoryLeftOut != 3 {
		t.Errorf("got  %s\nwant %s\nleft out %d", got, want, r.Drawing.MemoryLeftOut)
	}
	if n, m := len(r.Memory), r.Memory[1]; n != 14 || r.Memory[0].Device != "cpu" || *m.Held != 100 ||
		m.Phase != "forward" {
		t.Errorf("%d rows: %+v", n, r.Memory[:2])
	}
	if r = Run(inputs[:1], Options{}); r.Drawing != nil || len(r.Memory) != 2 {
		t.Errorf("not asked for: %+v", r.Drawing)
	}
}
