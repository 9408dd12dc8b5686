package hardware

// links is what one device sends, or receives, at the most over all of its links
// together: half of the vendor's figure, which adds both directions. More specific
// names first.
var links = []struct {
	match  string
	speed  int64 // bytes/s in one direction
	source string
}{
	{"GB200", 900e9, "NVIDIA GB200 NVL72 data sheet: fifth-generation NVLink, 1.8 TB/s per GPU"},
	{"B200", 900e9, "NVIDIA DGX B200 data sheet: fifth-generation NVLink, 14.4 TB/s for 8 GPUs"},
	{"H200", 450e9, "NVIDIA H200 Tensor Core GPU data sheet: NVLink 900 GB/s"},
	{"GH200", 450e9, "NVIDIA GH200 Grace Hopper Superchip data sheet: NVLink 900 GB/s"},
	{"H100 NVL", 300e9, "NVIDIA H100 Tensor Core GPU data sheet: NVLink 600 GB/s"},
	{"H100 PCIe", 300e9, "NVIDIA H100 Tensor Core GPU data sheet: NVLink 600 GB/s"},
	{"H100 80GB HBM3", 450e9, "NVIDIA H100 Tensor Core GPU data sheet: NVLink 900 GB/s"},
	{"A100", 300e9, "NVIDIA A100 Tensor Core GPU data sheet: NVLink 600 GB/s"},
	{"V100", 150e9, "NVIDIA V100 data sheet: NVLink 300 GB/s"},
	{"MI300X", 448e9, "AMD Instinct MI300X data sheet: seven Infinity Fabric links of 128 GB/s"},
}

// Link is what a device, by its profiler's name, can send or receive over its links to
// other devices, in bytes/s; 0 unknown. It is a bound: between hosts the network is slower.
func Link(name string) int64 {
	words := fields(name)
	for _, l := range links {
		if containsAll(words, fields(l.match)) {
			return l.speed
		}
	}
	return 0
}
