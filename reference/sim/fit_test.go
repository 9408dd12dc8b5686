package sim

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fitted is what a fit to h100 says of one figure, as text.
func fitted(t *testing.T, o *Observed, name string) string {
	t.Helper()
	m, err := Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Fit(o) {
		if f.Name != name {
			continue
		}
		if f.Why != "" {
			return f.Why
		}
		return fmt.Sprintf("%s of %d in %d, %.1f %%, %.1f %%", f.Text, f.Samples, f.Sizes, 100*f.Middle, 100*f.P90)
	}
	return "no such figure"
}

// What is fitted is what the model says of the observations; what is not says why.
func TestFit(t *testing.T) {
	move := func(op string, rate float64) ObservedMove { return ObservedMove{op, 1 << 28, (1 << 28) / rate, 3} }
	for _, c := range []struct {
		o          Observed
		name, want string
	}{
		{Observed{Times: []ObservedTime{{Name: "launch", NS: 5900, Samples: 7, Middle: 0.1, P90: 0.2}}}, "launch",
			"5.9us of 7 in 0, 10.0 %, 20.0 %"},
		{Observed{Times: []ObservedTime{{Name: "launch", Why: "no calls"}}}, "launch", "no calls"},
		{Observed{Moves: []ObservedMove{move("aten::add_", 2680)}}, "elementwise", "0.8 of 3 in 1, 0.0 %, 0.0 %"},
		{Observed{Moves: []ObservedMove{move("aten::native_layer_norm", 1675)}}, "normalize",
			"0.5 of 3 in 1, 0.0 %, 0.0 %"},
		{Observed{Moves: []ObservedMove{move("strided", 670)}}, "strided", "0.2 of 3 in 1, 0.0 %, 0.0 %"},
		{Observed{Moves: []ObservedMove{move("pcie", 50)}}, "pcie", "50GB/s of 3 in 1, 0.0 %, 0.0 %"},
		{Observed{Moves: []ObservedMove{move("aten::add_", 4000)}}, "elementwise",
			"4TB/s is more than hbm 3.35TB/s has"},
		{Observed{}, "elementwise", "no kernel of it moves 64 MiB or more, as far as shapes were recorded"},
		{Observed{}, "gemm", "operators were recorded without the shapes of their inputs"},
		{Observed{Shapes: true, Products: []ObservedProduct{{"unsigned char", 8192, 8192, 8192, 1e6, 1}}}, "gemm",
			"no matrix products of known types whose shapes were recorded"},
		// 8192^3: 1111.8 us at the peak; 1,849 tiles of 192 x 192 or 2,048 of 128 x 256, 16 waves, depth 8192 of 8384
		{Observed{Shapes: true, Products: []ObservedProduct{{"c10::BFloat16", 8192, 8192, 8192, 1466600, 4}}}, "gemm",
			"0.80005 of 4 in 1, 0.0 %, 0.0 %"},
		{Observed{Shapes: true, Products: []ObservedProduct{{"float", 8192, 8192, 8192, 4e6, 4}}}, "gemm",
			"products are faster than the peak of their type; float32 may be TF32"},
		{Observed{}, "bus", "no collectives within a node whose messages were recorded"},
		{Observed{Transfers: []ObservedTransfer{{"all_to_all", 8, 1 << 20, 1e5, 1}}}, "bus",
			"no collectives within a node whose messages were recorded"},
		{Observed{Transfers: []ObservedTransfer{{"all_gather", 8, 96, 14000, 2}, {"all_gather", 8, 1 << 30, 4e6, 2}}},
			"nccl-least", "14us of 2 in 1, 0.0 %, 0.0 %"},
		{Observed{Transfers: []ObservedTransfer{{"all_gather", 8, 1 << 30, 4e6, 2}}}, "nccl-latency",
			"no collectives of 64 KiB to 4 MiB, in which latency and bytes both count"},
		{Observed{Uneven: 0.0134, Steps: 4}, "uneven", "0.0134 of 4 in 0, 0.0 %, 0.0 %"},
		{Observed{WhyUneven: "no steps"}, "uneven", "no steps"},
	} {
		if got := fitted(t, &c.o, c.name); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The figures of links come back from what the model says that collectives take, within a node and between nodes,
// although the protocol changes with the size.
func TestFitLinks(t *testing.T) {
	for _, figures := range []string{"bus=305GB/s", "bus=222GB/s,nccl-latency=1.7",
		"bus=450GB/s,nccl-latency=0.6,nccl-least=20us"} {
		for _, ranks := range []int{2, 8, 64} {
			truth, err := Lookup("h100")
			if err == nil {
				err = truth.Set(figures + ",net=27GB/s")
			}
			if err != nil {
				t.Fatal(err)
			}
			var o Observed
			for kind := range collectives {
				for size := int64(1 << 8); size <= 1<<30; size *= 8 {
					one := ObservedTransfer{Kind: kind, Ranks: ranks, Bytes: size, Samples: 1}
					one.NS = truth.transfer(one)
					o.Transfers = append(o.Transfers, one)
				}
			}
			m, _ := Lookup("h100")
			m.Fit(&o)
			link := bus
			if ranks > 8 {
				link = net
			}
			for _, p := range []param{link, ncclLatency} {
				if got, want := m.values[p], truth.values[p]; math.Abs(got/want-1) > 0.01 {
					t.Errorf("%s among %d: %s is %s, want %s", figures, ranks, params[p].name, p.format(got),
						p.format(want))
				}
			}
		}
	}
}

// A preset that was written can be read, whatever the traces call things.
func TestPresetOfAnything(t *testing.T) {
	for _, name := range []string{"My GPU", "a\"b\\c: [d]\n- e #f", "\x00\u202e\ufeff", "é☃𝄞", "'", "=1+1"} {
		list := []Fitted{{Name: "launch", Text: "7us", Samples: 3}, {Name: "gap", Why: "unknown"},
			{Name: "gemm", Text: "0.5", Samples: 3, Sizes: 2}}
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, []byte(Preset("mine", name, "h100", name, list)), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Lookup(path + ":minex4")
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if m.Name != name || m.values[launch] != 7000 || m.values[gap] != 1470 || m.values[gemm] != 0.5 ||
			!strings.HasPrefix(m.source[launch], name+": median of 3") {
			t.Errorf("%q: %q, launch %v from %q", name, m.Name, m.values[launch], m.source[launch])
		}
	}
}

// A preset that was written keeps launches within operators, whatever medians say.
func TestPresetOfSlowLaunches(t *testing.T) {
	slow := Fitted{Name: "launch", Value: 20e3, Text: "20us", Samples: 3}
	for _, c := range []struct {
		list []Fitted
		want float64
	}{
		{[]Fitted{slow}, 20e3},
		{[]Fitted{slow, {Name: "eager", Value: 15e3, Text: "15us", Samples: 3}}, 20e3},
		{[]Fitted{slow, {Name: "eager", Value: 25e3, Text: "25us", Samples: 3}}, 25e3},
		{[]Fitted{{Name: "launch", Value: 7e3, Text: "7us", Samples: 3}}, 13.6e3},
	} {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, []byte(Preset("mine", "GPU", "h100", "traces", c.list)), 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := Lookup(path); err != nil || m.values[eager] != c.want {
			t.Errorf("%+v: %v, want an operator of %g ns", c.list, err, c.want)
		}
	}
}
