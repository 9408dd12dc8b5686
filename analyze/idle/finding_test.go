package idle

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// What is shown of a stall is the operator that takes most of it, or else what the program
// itself says of that time.
func TestShownStall(t *testing.T) {
	const around = `
1/1 0us +3us user_annotation ProfilerStep#1
1/1 5us +2900us user_annotation ProfilerStep#2
1/1 10us +2us cuda_runtime cudaLaunchKernel corr=1
0/7 14us +5us kernel k corr=1 stream=7
1/1 2800us +2us cuda_runtime cudaLaunchKernel corr=2
0/7 2804us +5us kernel k corr=2 stream=7
1/1 2810us +2us user_annotation Optimizer.step#A.step
`
	for _, test := range []struct{ name, between, want string }{
		{"an operator", "1/1 100us +2000us cpu_op aten::sort\n1/1 200us +100us cpu_op aten::copy_", "aten::sort in ''"},
		{"inside another", "1/1 90us +2100us cpu_op outer\n1/1 100us +2000us cpu_op aten::sort", "outer in ''"},
		{"nothing", "", "unseen in ProfilerStep#2"},
		{"too little", "1/1 100us +1000us cpu_op aten::sort", "unseen in ProfilerStep#2"},
		{"annotations", "1/1 20us +2000us user_annotation save\n1/1 30us +1900us user_annotation write\n" +
			"1/1 40us +100us user_annotation open", "unseen in write"},
		{"frames", "1/1 20us +2000us python_function \"train.py(3): save\"\n1/1 50us +10us user_annotation x",
			"unseen in ProfilerStep#2 at train.py(3): save"},
		{"a frame of Python's own", "1/1 20us +2000us python_function \"train.py(3): save\"\n" +
			"1/1 30us +1900us python_function \"torch/serialization.py(9): save\"\n" +
			"1/1 40us +1800us python_function \"<built-in function fsync>\"",
			"unseen in ProfilerStep#2 at <built-in function fsync>, called at train.py(3): save"},
		{"a frame of PyTorch", "1/1 20us +2000us python_function \"train.py(3): save\"\n" +
			"1/1 30us +1900us python_function \"torch/serialization.py(9): save\"",
			"unseen in ProfilerStep#2 at train.py(3): save"},
		{"no frame of the program", "1/1 30us +1900us python_function \"torch/serialization.py(9): save\"",
			"unseen in ProfilerStep#2 at torch/serialization.py(9): save"},
		{"frames around an operator", "1/1 20us +2500us python_function \"train.py(3): log\"\n" +
			"1/1 30us +2300us python_function \"nn.Module: Net_0\"\n" +
			"1/1 40us +2200us python_function \"<built-in method item of Tensor object at 0x7f>\"\n" +
			"1/1 100us +2000us cpu_op aten::sort", "aten::sort in '' at train.py(3): log"},
	} {
		tr, err := text.Read(strings.NewReader(around+test.between), "stall")
		if err != nil {
			t.Fatal(err)
		}
		x := timeline.New(tr).Ranks[0]
		shown := Find(x, steps.Find(x))[0][0].Shown[StalledHost]
		got := shown.Event.Name + " in '" + shown.Operator + "'"
		if shown.Unseen {
			got = "unseen in " + shown.Operator
		}
		if shown.Python != "" {
			got += " at " + shown.Python
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
