// Package hardware is a table of devices: what their memory can move, with the
// source of each figure. It imports nothing of the project.
package hardware

import "strings"

// Device is one accelerator model.
type Device struct {
	Match     string // words that the profiler's device name holds, all of them
	Name      string // of the model, for people
	Bandwidth int64  // peak memory bandwidth in bytes/s, GB being 10^9 bytes
	Source    string // the vendor's document
}

// Devices is the table, more specific names first. Figures are peaks from the vendors'
// data sheets; the reachable part is a matter of measurement.
var Devices = []Device{
	{"GB200", "GB200", 8_000e9, "NVIDIA GB200 NVL72 data sheet: 16 TB/s per superchip of two GPUs"},
	{"B200", "B200", 8_000e9, "NVIDIA DGX B200 data sheet: 64 TB/s for 8 GPUs"},
	{"H200", "H200", 4_800e9, "NVIDIA H200 Tensor Core GPU data sheet"},
	{"GH200 480GB", "GH200 96GB HBM3", 4_000e9, "NVIDIA GH200 Grace Hopper Superchip data sheet"},
	{"GH200", "GH200 144GB HBM3e", 4_900e9, "NVIDIA GH200 Grace Hopper Superchip data sheet"},
	{"H100 NVL", "H100 NVL", 3_900e9, "NVIDIA H100 Tensor Core GPU data sheet"},
	{"H100 PCIe", "H100 PCIe", 2_000e9, "NVIDIA H100 Tensor Core GPU data sheet"},
	{"H100 80GB HBM3", "H100 SXM5", 3_350e9, "NVIDIA H100 Tensor Core GPU data sheet"},
	{"H800", "H800", 3_350e9, "NVIDIA H800 data sheet"},
	{"H20", "H20", 4_000e9, "NVIDIA H20 data sheet"},
	{"A100 SXM4 80GB", "A100 SXM4 80GB", 2_039e9, "NVIDIA A100 Tensor Core GPU data sheet"},
	{"A100 SXM 80GB", "A100 SXM4 80GB", 2_039e9, "NVIDIA A100 Tensor Core GPU data sheet"},
	{"A100 PCIe 80GB", "A100 PCIe 80GB", 1_935e9, "NVIDIA A100 Tensor Core GPU data sheet"},
	{"A100 80GB", "A100 80GB", 1_935e9, "NVIDIA A100 Tensor Core GPU data sheet, the lower of its 80 GB models"},
	{"A100", "A100 40GB", 1_555e9, "NVIDIA A100 Tensor Core GPU data sheet"},
	{"V100", "V100", 900e9, "NVIDIA V100 data sheet"},
	{"L40S", "L40S", 864e9, "NVIDIA L40S data sheet"},
	{"L40", "L40", 864e9, "NVIDIA L40 data sheet"},
	{"A10G", "A10G", 600e9, "AWS G5 instance documentation"},
	{"A10", "A10", 600e9, "NVIDIA A10 data sheet"},
	{"A6000", "RTX A6000", 768e9, "NVIDIA RTX A6000 data sheet"},
	{"4090", "GeForce RTX 4090", 1_008e9, "NVIDIA Ada GPU architecture white paper"},
	{"3090", "GeForce RTX 3090", 936e9, "NVIDIA Ampere GA102 white paper"},
	{"Tesla T4", "T4", 320e9, "NVIDIA T4 data sheet"},
	{"MI325X", "MI325X", 6_000e9, "AMD Instinct MI325X data sheet"},
	{"MI300X", "MI300X", 5_300e9, "AMD Instinct MI300X data sheet"},
	{"MI300A", "MI300A", 5_300e9, "AMD Instinct MI300A data sheet"},
	{"MI250", "MI250, one of its two dies", 1_638e9, "AMD Instinct MI250 data sheet: 3.2768 TB/s for two dies"},
	{"MI210", "MI210", 1_638e9, "AMD Instinct MI210 data sheet"},
}

// Find returns the row that a profiler's device name belongs to, comparing words
// without regard to case and to hyphens.
func Find(name string) (Device, bool) {
	words := fields(name)
	for _, d := range Devices {
		if containsAll(words, fields(d.Match)) {
			return d, true
		}
	}
	return Device{}, false
}

func fields(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" -_/", r) })
}

func containsAll(words, want []string) bool {
	for _, w := range want {
		found := false
		for _, have := range words {
			found = found || have == w
		}
		if !found {
			return false
		}
	}
	return true
}
