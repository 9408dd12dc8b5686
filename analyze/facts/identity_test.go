package facts

import (
	"fmt"
	"testing"
)

// TestIdentity: which rank a trace is of, of how many, and on which device.
func TestIdentity(t *testing.T) {
	const comm = "1/1 0 +9 cpu_op record_param_comms coll=allreduce in=8 out=8 dtype=Float rank=%s gsize=%s%s"
	const kernel = "\n1/1 10 +1 cuda_runtime cudaLaunchKernel corr=1\n0/7 12 +5 kernel k corr=1"
	const devices = "device 0 \"NVIDIA H100\" memory=1\ndevice 3 \"AMD MI300X\" memory=1\n"
	message := func(rank, size, more string) string { return fmt.Sprintf(comm, rank, size, more) }
	for _, test := range []struct{ name, source, want string }{
		{"nothing", "1/1 0 +9 cpu_op aten::mm", `-1 "" of 0, "", [], categorised`},
		{"no category", "1/1 0 +9 - work", `-1 "" of 0, "", []`},
		{"the header", "distributed backend=nccl rank=3 world_size=8" + kernel,
			`3 "distributedInfo" of 8, "", [], categorised`},
		{"rank 0 of the header", "distributed backend=nccl rank=0 world_size=2\n" + message("1", "2", ""),
			`0 "distributedInfo" of 2, "", [1], categorised`},
		{"a message", message("5", "8", ""), `5 "record_param_comms" of 8, "", [5], categorised`},
		{"of rank 0", message("0", "8", ""), `0 "record_param_comms" of 8, "", [0], categorised`},
		{"the place in a group", message("1", "2", ` granks="[3, 5]"`),
			`5 "record_param_comms" of 2, "", [5], categorised`},
		{"the first of a group", message("0", "2", ` granks="[3, 5]"`),
			`3 "record_param_comms" of 2, "", [3], categorised`},
		{"beyond the group", message("2", "2", ` granks="[3, 5]"`),
			`2 "record_param_comms" of 2, "", [2], categorised`},
		{"a rank that is none", message("-1", "2", ""), `-1 "" of 0, "", [], categorised`},
		{"the larger group", message("0", "2", "") + "\n" + message("6", "8", "") + "\n" + message("1", "2", ""),
			`6 "record_param_comms" of 8, "", [6], categorised`},
		{"several senders", message("2", "4", "") + "\n" + message("1", "4", "") + "\n" + message("2", "4", ""),
			`2 "record_param_comms" of 4, "", [1 2], categorised`},
		{"the device by its number", devices +
			"1/1 10 +1 cuda_runtime cudaLaunchKernel corr=1\n3/7 12 +5 kernel k corr=1",
			`-1 "" of 0, "AMD MI300X", [], categorised`},
		{"the device by its argument", devices +
			"1/1 10 +1 cuda_runtime cudaLaunchKernel corr=1\n0/7 12 +5 kernel k corr=1 device=3",
			`-1 "" of 0, "AMD MI300X", [], categorised`},
		{"a device of two digits",
			"device 0 \"one\" memory=1\ndevice 12 \"another\" memory=1\n1/1 10 +1 cuda_runtime l corr=1\n" +
				"0/7 12 +5 kernel k corr=1 device=12", `-1 "" of 0, "another", [], categorised`},
		{"another number", devices + "9/7 12 +5 kernel k", `-1 "" of 0, "NVIDIA H100", []`},
		{"no device", devices + "1/1 0 +9 cpu_op aten::mm", `-1 "" of 0, "", [], categorised`},
	} {
		r := one(t, test.source)
		got := fmt.Sprintf("%d %q of %d, %q, %v", r.ID, r.IDSource, r.WorldSize, r.DeviceName, r.Senders)
		if r.Categorised {
			got += ", categorised"
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}
