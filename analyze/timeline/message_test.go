package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// TestDtypeBytes: every name that PyTorch prints for a type of so many bytes.
func TestDtypeBytes(t *testing.T) {
	for size, names := range map[int64]string{
		0: "unknown,,Floats,complex",
		1: "Byte,Char,Bool,bool,int8,uint8,unsigned char,signed char,Float8_e4m3fn,Float8_e5m2,float8_e4m3fnuz," +
			"float8_e5m2fnuz",
		2:  "Short,Half,BFloat16,c10::Half,c10::BFloat16,short int,uint16,UInt16,float16,int16,bfloat16,half,short",
		4:  "Int,Float,int,float,uint32,unsigned int,float32,int32",
		8:  "Long,Double,long int,double,uint64,ComplexFloat,c10::complex<float>,float64,int64,complex64",
		16: "ComplexDouble,c10::complex<double>,complex128",
	} {
		for name := range strings.SplitSeq(names, ",") {
			if got := DtypeBytes(name); got != size {
				t.Errorf("%s has %d bytes, want %d", name, got, size)
			}
		}
	}
}

// TestMessage: what a collective moves, from its kernel or from the span around its launch.
func TestMessage(t *testing.T) {
	const all = ` coll=allreduce in=8 out=16 dtype=Float group=3 gdesc=mesh_dp gsize=4 seq=9 comms=12 granks="[0, 1]"`
	const kernel = "0/7 20 +5 kernel ncclDevKernel_AllReduce corr=1"
	launch := func(more string) string {
		return "1/1 0 +9 cpu_op record_param_comms" + more + "\n1/1 4 +1 cuda_runtime cudaLaunchKernel corr=1\n" +
			kernel
	}
	const unknown = "{-1 0 0    0 -1 0 }"
	for _, test := range []struct{ name, source, want string }{
		{"around the launch", launch(all), "{64 8 16 Float 3 mesh_dp 4 9 12 [0, 1]}"},
		{"of the kernel", launch(" coll=x in=1 out=1 dtype=Float") + all, "{64 8 16 Float 3 mesh_dp 4 9 12 [0, 1]}"},
		{"not around it", strings.Replace(launch(all), "1/1 4", "1/1 9", 1), unknown},
		{"the inner one", "1/1 0 +10 cpu_op record_param_comms coll=a in=1 out=1 dtype=Half\n" +
			strings.Replace(launch(all), "1/1 0 +9", "1/1 2 +5", 1),
			"{64 8 16 Float 3 mesh_dp 4 9 12 [0, 1]}"},
		{"an inner one that says nothing", "1/1 0 +10 cpu_op record_param_comms" + all + "\n" +
			strings.Replace(launch(""), "1/1 0 +9", "1/1 2 +5", 1),
			"{64 8 16 Float 3 mesh_dp 4 9 12 [0, 1]}"},
		{"nothing", kernel, unknown},
		{"one side", launch(" coll=a in=8 dtype=Float"), "{-1 8 0 Float   0 -1 0 }"},
		{"the other side", launch(" coll=a out=8 dtype=Float"), "{-1 0 8 Float   0 -1 0 }"},
		{"nothing to send", launch(" coll=a in=0 out=8 dtype=Float"), "{32 0 8 Float   0 -1 0 }"},
		{"nothing at all", launch(" coll=a in=0 out=0 dtype=Float"), "{0 0 0 Float   0 -1 0 }"},
		{"no type", launch(" coll=a in=8 out=8"), "{-1 8 8    0 -1 0 }"},
		{"less than nothing", launch(" coll=a in=-1 out=8 dtype=Float"), "{-1 0 0 Float   0 -1 0 }"},
		{"the most", launch(" coll=a in=8 out=1099511627776 dtype=Float"),
			"{4398046511104 8 1099511627776 Float   0 -1 0 }"},
		{"more than that", launch(" coll=a in=8 out=1099511627777 dtype=Float"), "{-1 0 0 Float   0 -1 0 }"},
		{"first in the sequence", launch(" coll=a in=1 out=1 dtype=Half seq=0"), "{2 1 1 Half   0 0 0 }"},
		{"an odd place in the sequence", launch(" coll=a in=1 out=1 dtype=Half seq=-7"), "{2 1 1 Half   0 -1 0 }"},
		{"a large id", launch(` coll=a in=1 out=1 dtype=Half comms="18446744073709551615"`),
			"{2 1 1 Half   0 -1 18446744073709551615 }"},
		{"no id", launch(` coll=a in=1 out=1 dtype=Half comms="f0"`), "{2 1 1 Half   0 -1 0 }"},
	} {
		r := only(t, test.source)
		d := r.Devices[0]
		if got := fmt.Sprint(r.MessageOf(d.Rows[0], d.Launch[0])); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.name, got, test.want)
		}
	}
}

// TestClosures: what an optimizer runs before its own work, and what that work launches.
func TestClosures(t *testing.T) {
	const node = ` cpu_op "autograd::engine::evaluate_function: MulBackward0"` + "\n"
	const source = "1/1 5 +3" + node + `
1/1 0 +1 cpu_op aten::mm
1/1 10 +20 user_annotation Optimizer.step#A.step
1/1 12 +1 cuda_runtime cudaLaunchKernel corr=1
1/1 40 +50 user_annotation Optimizer.step#LBFGS.step
1/1 42 +1 cuda_runtime cudaLaunchKernel corr=2
1/1 44 +6` + node + "1/1 52 +8" + node + `
1/1 55 +1 cuda_runtime cudaLaunchKernel corr=3
1/1 60 +1 cuda_runtime cudaLaunchKernel corr=4
1/1 80 +1 cuda_runtime cudaLaunchKernel corr=5
1/1 90 +20 user_annotation Optimizer.step#C.step
1/1 92 +1 cuda_runtime cudaLaunchKernel corr=6
1/1 110 +3` + node + "1/1 110 +3" + node + `
0/7 100 +1 kernel k corr=1
0/7 110 +1 kernel k corr=2
0/7 120 +1 kernel k corr=3
0/7 130 +1 kernel k corr=4
0/7 140 +1 kernel k corr=5
0/7 150 +1 kernel k corr=6
`
	r := only(t, source)
	var got []string
	for _, o := range r.Optimizers {
		c, ok := r.Closure(o.Row)
		got = append(got, fmt.Sprint(c.Start, " to ", c.End, " ", ok, ", launches ", len(r.LaunchedBy(o.Row)),
			", itself ",
			len(r.LaunchedByUpdate(o.Row))))
	}
	want := "0 to 0 false, launches 1, itself 1; 40 to 60 true, launches 4, itself 2; 0 to 0 false, " +
		"launches 1, itself 1"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("%s, want\n%s", text, want)
	}
	for at, want := range map[int64]bool{39: false, 40: true, 50: true, 59: true, 60: false, 90: false} {
		if _, ok := r.ClosureAt(at); ok != want {
			t.Errorf("a closure at %d: %t", at, ok)
		}
	}
	updates := ""
	for _, l := range r.Devices[0].Launch {
		updates += map[bool]string{true: "u", false: "-"}[r.InUpdate(l)]
	}
	if updates != "u--uuu" {
		t.Error(updates)
	}
}
