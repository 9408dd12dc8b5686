package trace

import "testing"

// TestKinds: what launches, and what runs on a device, by the names of every backend.
func TestKinds(t *testing.T) {
	for name, want := range map[string]string{
		"cuda_runtime": "launches", "cuda_driver": "launches", "privateuse1_runtime": "launches",
		"privateuse1_driver": "launches", "xpu_runtime": "launches", "mtia_runtime": "launches",
		"kernel": "runs", "gpu_memcpy": "runs", "gpu_memset": "runs", "concurrent_kernel": "runs",
		"gpu_user_annotation": "", "cpu_op": "", "python_function": "", "user_annotation": "", "no_such_category": "",
	} {
		b := NewBuilder()
		c := b.Cat([]byte(name))
		got := ""
		if c.IsRuntime() {
			got += "launches"
		}
		if c.IsActivity() {
			got += "runs"
		}
		if got != want {
			t.Errorf("%s (%v): %q, want %q", name, c, got, want)
		}
	}
}
