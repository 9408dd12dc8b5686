package hardware

import "testing"

func TestLink(t *testing.T) {
	for name, want := range map[string]int64{
		"":                      0,
		"Example GPU":           0,
		"Tesla T4":              0,
		"NVIDIA H100 80GB HBM3": 450e9,
		"NVIDIA H100 PCIe":      300e9,
		"NVIDIA A100-SXM4-40GB": 300e9,
		"my H1000 card":         0,
	} {
		if got := Link(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

// A link is slower than the memory behind it, and each row says where it is from.
func TestLinksAreSound(t *testing.T) {
	for _, l := range links {
		d, ok := Find(l.match)
		if !ok || l.speed <= 0 || l.speed >= d.Bandwidth || l.source == "" {
			t.Errorf("%+v", l)
		}
	}
}
