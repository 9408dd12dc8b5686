package sim

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/ops"
	"github.com/gaprof/gaprof/trace/graph"
)

func buffer(dt device.DType, shape ...int) *device.Buffer {
	return &device.Buffer{N: device.Elements(shape), DType: dt, Shape: shape}
}

// product is C = A B^T, rows x inner times columns x inner.
func product(dt device.DType, rows, columns, inner int) ops.Linear {
	return ops.Linear{Y: buffer(dt, rows, columns), X: buffer(dt, rows, inner), W: buffer(dt, columns, inner),
		M: rows, N: columns, K: inner}
}

// How long kernels take, computed by hand from the figures of the presets.
func TestCost(t *testing.T) {
	large := buffer(device.BF16, 8192, 8192)
	for _, c := range []struct {
		preset string
		k      device.Kernel
		want   string
	}{
		// 2 x 8192^3 / (989e12 x 0.83); 2,048 tiles in 16 waves of 132, 8,192 of 8,384: 778 TFLOP/s, as measured
		{"h200", product(device.BF16, 8192, 8192, 8192), "1413.7 us, filling"},
		{"h200", product(device.F32, 8192, 8192, 8192), "20867.6 us, filling"},
		// 1.31 us on the whole device; 4 tiles are split into 8 parts of 512 of the inner dimension each, 32 of 132 and
		// 512 of 704, which makes 7.42 us; adding them up moves 256 x 512 x (8 x 8 + 2) bytes, 2.84 us
		{"h100", product(device.BF16, 256, 512, 4096), "10.3 us"},
		// The gradient of a weight of modded-nanogpt: 188.5 us on the whole device; 64 tiles of 192 x 192, twice each,
		// are 128 of 132, depth 16384 of 16576; adding up moves 768 x 3072 x 18 bytes, 13.9 us. PR 149: 208.6 us
		{"h100", product(device.BF16, 768, 3072, 32768), "210.5 us"},
		// read and written at 0.91 of 3.35 TB/s
		{"h100", ops.MulInto{Y: large, X: large, Value: 2}, "88.1 us, filling"},
		// the shortest kernel there is
		{"h100", ops.Sqrt{Y: buffer(device.F32), X: buffer(device.F32)}, "2.0 us"},
		{"a100", ops.Scale{X: large, Factor: buffer(device.F32)}, "144.7 us, filling"},
	} {
		m, err := Lookup(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		got := m.cost(c.k)
		text := fmt.Sprintf("%.1f us", got.ns/1000)
		if got.role == graph.Filling {
			text += ", filling"
		}
		if text != c.want {
			t.Errorf("%s: %T of %v takes %s, want %s", c.preset, c.k, c.k.Type(), text, c.want)
		}
	}
}

// Every class that operators are in is one of the table: none is shadowed by one before it.
func TestClasses(t *testing.T) {
	for name, want := range map[string][2]param{
		"aten::mm": {elementwise, gemm}, "aten::addmm": {elementwise, gemm},
		"aten::_scaled_dot_product_flash_attention":          {elementwise, attention},
		"aten::_scaled_dot_product_flash_attention_backward": {elementwise, attentionBackward},
		"aten::native_layer_norm":                            {normalize, 0},
		"aten::native_layer_norm_backward":                   {normalizeBackward, 0},
		"aten::linalg_vector_norm":                           {sum, 0},
		"aten::_foreach_norm":                                {sum, 0},
		"aten::cross_entropy_loss":                           {loss, 0},
		"aten::embedding_dense_backward":                     {lookup, 0},
		"aten::_fused_adamw_":                                {optimizer, 0},
		"aten::mul_":                                         {elementwise, 0},
	} {
		if a, b := classOf(name); [2]param{a, b} != want {
			t.Errorf("%s is in the class of %s and %s", name, params[a].name, params[b].name)
		}
	}
}

// recorded runs a program on a device with some figures and returns what was told.
func recorded(t *testing.T, figures string, program func(d *device.Rank)) *devicetest.Tape {
	t.Helper()
	m, err := Lookup("h100")
	if err == nil {
		err = m.Set(figures)
	}
	if err != nil {
		t.Fatal(err)
	}
	tape := &devicetest.Tape{}
	members, err := Backend{Machine: m}.Open(device.Config{World: 1, Record: []device.Recorder{tape}})
	if err != nil {
		t.Fatal(err)
	}
	program(device.NewRank(members[0], device.F32))
	members[0].Device.Close()
	return tape
}

// The host launches one operation after the other, the device waits for its launches; where it
// is slower, the queue fills, and calls last until there is room.
func TestHost(t *testing.T) {
	const figures = "eager=20us,launch=5us,start=9us,gap=1us,queue=4,kernel="
	program := func(d *device.Rank) {
		for range 8 {
			d.Run(ones(d.Alloc(4)))
		}
	}
	for kernel, want := range map[string]string{ // the sixth call is at 100 us, the second kernel begins at 110
		"3us":   "launch 20 20 20 20 20 20 20, kernel 20 20 20 20 20 20 20, calls 5 5 5 5 5 5 5 5",
		"100us": "launch 20 20 20 20 20 30 101, kernel 101 101 101 101 101 101 101, calls 5 5 5 5 5 15 86 86",
	} {
		tape := recorded(t, figures+kernel, program)
		got := "launch"
		var calls []device.HostEvent
		for _, e := range tape.Hosts {
			if e.Name == "cudaLaunchKernel" {
				calls = append(calls, e)
			}
		}
		for i := range calls[1:] {
			got += fmt.Sprint(" ", (calls[i+1].Start-calls[i].Start)/1000)
		}
		got += ", kernel"
		for i := range tape.Devices[1:] {
			got += fmt.Sprint(" ", (tape.Devices[i+1].Start-tape.Devices[i].Start)/1000)
		}
		got += ", calls"
		for _, e := range calls {
			got += fmt.Sprint(" ", (e.End-e.Start)/1000)
		}
		if got != want {
			t.Errorf("kernels of %s: %s, want %s", kernel, got, want)
		}
	}
}
