package gradients

import (
	"fmt"
	"strings"
	"testing"
)

// TestShardsKept: gradients of shards were there before a step if all that its first reduce-scatters leave is added
// to them, and nothing has filled them with zeros.
func TestShardsKept(t *testing.T) {
	const (
		zeros = "1/1 115 +1 cpu_op aten::zero_ dims=[[4,20]] type=[\"float\"]\n"
		state = "1/1 114 +3 cpu_op aten::zeros_like dims=[[4,20]] type=[\"float\"]\n" + zeros
		whole = "1/1 215 +2 cpu_op torch::autograd::AccumulateGrad dims=[[8,20]] type=[\"float\"]\n"
	)
	add := func(at int, dims string) string {
		const line = "1/1 %d +1 cpu_op aten::add_ dims=[[%[2]s],[%[2]s],[]] type=[\"float\",\"float\",\"Scalar\"]\n"
		return fmt.Sprintf(line, at, dims)
	}
	for _, test := range []struct {
		name, rows string // of the second step; reduce-scatters begin at 220 and 240
		want       bool
	}{
		{"each is added", add(225, "4,20") + add(245, "8,8"), true},
		{"without its padding", add(225, "4,20") + add(245, "7,8"), false},
		{"the second is taken", add(225, "4,20"), false},
		{"the first is taken", add(245, "8,8"), false},
		{"nothing is added", "", false},
		{"something larger is", add(225, "8,20") + add(245, "8,8"), false},
		{"an accumulation of the whole gradient is none of it", whole + add(216, "8,20") + add(245, "8,8"), false},
		{"they were filled with zeros", zeros + add(225, "4,20") + add(245, "8,8"), false},
		{"state of the optimizer was", state + add(225, "4,20") + add(245, "8,8"), true},
	} {
		text := ""
		for _, at := range []int{0, 200} {
			text += fmt.Sprintf("1/1 %d +1 cpu_op aten::linear\n", at+1)
			for i, dims := range []string{"[8,20]", "[16,8]"} {
				text += fmt.Sprintf("1/1 %d +16 cpu_op \"autograd::engine::evaluate_function: %s\"\n", at+14+20*i,
					accumulateGrad)
				if !strings.HasPrefix(test.rows, whole) || i > 0 || at == 0 {
					text += fmt.Sprintf("1/1 %d +2 cpu_op %s dims=[%s] type=[\"float\"]\n", at+15+20*i, accumulateGrad,
						dims)
				}
				const scatter = "1/1 %d +4 cpu_op record_param_comms coll=_reduce_scatter_base in=%d out=%d " +
					"dtype=Float group=0 gsize=2\n"
				text += fmt.Sprintf(scatter, at+20+20*i, []int{160, 128}[i], []int{80, 64}[i])
			}
			text += fmt.Sprintf("1/1 %d +20 user_annotation Optimizer.step#A.step\n", at+80)
		}
		r := one(t, text+test.rows)
		if len(r.ShardsKept) != 2 || r.ShardsKept[1] != test.want || r.ShardsKept[0] {
			t.Errorf("%s: %v of %d collectives", test.name, r.ShardsKept, len(r.HostCollectives))
		}
	}
}

// A shard of one parameter may have the shape of another one as a whole.
func TestShardLikeAnother(t *testing.T) {
	params := &Params{Classes: []ParamClass{{Dims: []int64{64, 8}, Numel: 512, Count: 2, Size: 4},
		{Dims: []int64{8, 8}, Numel: 64, Count: 3, Size: 4}}, Count: 5, Numel: 2*512 + 3*64}
	m := newMatcher(params, nil, 8)
	for _, test := range []struct {
		tensors [][]int64
		want    int64
	}{
		{[][]int64{{8, 8}, {8, 8}, {1, 8}, {1, 8}, {1, 8}}, 2*512 + 3*64},
		{[][]int64{{64, 8}, {64, 8}, {8, 8}, {8, 8}, {8, 8}}, 2*512 + 3*64},
		{[][]int64{{8, 8}}, 512},
		{[][]int64{{1, 8}, {1, 8}, {1, 8}}, 3 * 64},
	} {
		if got, _, _ := m.cover(m.owners[0], test.tensors, "float"); got != test.want {
			t.Errorf("%v: %d elements, want %d", test.tensors, got, test.want)
		}
	}
}
