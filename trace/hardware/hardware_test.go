package hardware

import "testing"

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"":                         "",
		"Example GPU":              "",
		"NVIDIA H100 80GB HBM3":    "H100 SXM5",
		"NVIDIA H100 PCIe":         "H100 PCIe",
		"NVIDIA H100 NVL":          "H100 NVL",
		"NVIDIA H200":              "H200",
		"NVIDIA A100-SXM4-80GB":    "A100 SXM4 80GB",
		"NVIDIA A100-SXM4-40GB":    "A100 40GB",
		"NVIDIA A100 80GB PCIe":    "A100 PCIe 80GB",
		"Tesla V100-SXM2-32GB":     "V100",
		"Tesla T4":                 "T4",
		"NVIDIA GeForce RTX 4090":  "GeForce RTX 4090",
		"AMD Instinct MI300X":      "MI300X",
		"AMD Instinct MI250X":      "",
		"NVIDIA GH200 480GB":       "GH200 96GB HBM3",
		"NVIDIA B200":              "B200",
		"NVIDIA A10G":              "A10G",
		"my H1000 card with extra": "",
	} {
		got, ok := Find(name)
		if got.Name != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", name, got.Name, want)
		}
	}
}

func TestTableHasSources(t *testing.T) {
	for _, d := range Devices {
		if d.Source == "" || d.Bandwidth < 100e9 || d.Bandwidth > 20_000e9 {
			t.Errorf("%+v", d)
		}
	}
}
