package timeline

import "testing"

func TestCode(t *testing.T) {
	const frame = "1/1 50 +90 python_function "
	for _, test := range []struct{ name, source, want string }{
		{"no stacks", "1/1 50 +90 user_annotation mine", ""},
		{"a line", frame + `"train.py(57): step"`, "train.py(57): step"},
		{"the innermost line", frame + "\"train.py(9): <module>\"\n1/1 60 +70 python_function \"lib/opt.py(3): apply\"",
			"lib/opt.py(3): apply"},
		{"what the program calls", frame + "\"train.py(9): main\"\n" +
			"1/1 60 +70 python_function \"/usr/lib/python3.11/site-packages/torch/optim/adam.py(1): step\"\n" +
			"1/1 70 +50 python_function \"<built-in method mul_ of Tensor object at 0x7f>\"", "train.py(9): main"},
		{"libraries alone", frame + `"torch/optim/adam.py(1): step"`, ""},
		{"a module is no line", frame + `"nn.Module: Linear_0"`, ""},
		{"paths of Windows", frame + `"C:\\env\\site-packages\\torch\\nn.py(1): f"`, ""},
		{"a frame that ended", `1/1 50 +40 python_function "train.py(57): step"`, ""},
	} {
		rank := only(t, test.source+"\n1/1 100 +5 cuda_runtime cudaLaunchKernel corr=1\n0/7 200 +30 kernel k corr=1\n")
		launch := rank.Devices[0].Launch[0]
		if got := rank.Code(launch); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := rank.Event(launch).Code; got != test.want {
			t.Errorf("%s: an event says %q, want %q", test.name, got, test.want)
		}
	}
}
