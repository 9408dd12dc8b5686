package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every figure of every preset has a source, and every device all figures.
func TestPresets(t *testing.T) {
	list, err := presets()
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range list {
		for at, text := range p.values {
			if len(text[1]) < 10 {
				t.Errorf("%s: %s is from %q", name, params[at].name, text[1])
			}
		}
	}
	for _, name := range []string{"a100", "b200", "h100", "h100-pcie", "h200", "mi300x"} {
		m, err := Lookup(name)
		if err != nil || m.Name == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	const want = "[a100 b200 h100 h100-nanogpt h100-normuon h100-pcie h200 mi300x] [ib-hdr ib-ndr ib-xdr]"
	if got := fmt.Sprint(Devices(), Networks()); got != want {
		t.Error(got)
	}
}

// What a name stands for, as figures of the machine.
func TestLookup(t *testing.T) {
	for name, want := range map[string]string{
		"h100":            "NVIDIA H100 80GB HBM3 hbm 3.35TB/s bus 305GB/s net 48.5GB/s gpus-per-node 8",
		"h200x4@ib-hdr":   "NVIDIA H200 hbm 4.8TB/s bus 305GB/s net 23.5GB/s gpus-per-node 4",
		"h100-pcie":       "NVIDIA H100 PCIe hbm 2TB/s bus 51.2GB/s net 48.5GB/s gpus-per-node 8",
		"a100x8":          "NVIDIA A100-SXM4-80GB hbm 2.039TB/s bus 235GB/s net 23.5GB/s gpus-per-node 8",
		"mi300x":          "AMD Instinct MI300X hbm 5.3TB/s bus 315GB/s net 48.5GB/s gpus-per-node 8",
		"mi300xx4@ib-xdr": "AMD Instinct MI300X hbm 5.3TB/s bus 315GB/s net 97GB/s gpus-per-node 4",
	} {
		m, err := Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := m.Name
		for _, p := range []param{hbm, bus, net, perNode} {
			got += " " + params[p].name + " " + p.format(m.values[p])
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// What is wrong is named, with what was probably meant.
func TestBadNames(t *testing.T) {
	for name, want := range map[string]string{
		"h10O":        "did you mean h100?",
		"h1000":       "did you mean h100?",
		"b300":        "did you mean b200?",
		"gtx":         "take one of a100, b200, h100",
		"h100@ib-nrd": "did you mean ib-ndr?",
		"h100@a100":   "there is no network a100",
		"h100x8@":     "there is no network without a name; take one of ib-hdr",
		"@ib-ndr":     "there is no device without a name; take one of a100",
		"ib-ndr":      "ib-ndr is no device",
		"h100x0":      "gpus-per-node 0 is out of range: take 1 to 65536",
		"no.yaml":     "no such file",
	} {
		if _, err := Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestSet(t *testing.T) {
	for text, want := range map[string]string{
		"hbm=2.0TB/s":          "hbm 2TB/s",
		"hbm=2000 GB/s":        "hbm 2TB/s",
		"eager=146us":          "eager 146us",
		"gap=0":                "gap 0ns",
		"gemm=70%":             "gemm 0.7",
		"bf16=1.5PFLOPS":       "bf16 1.5PFLOP/s",
		"memory=1TiB":          "memory 1.09951TB",
		"launch=1us,eager=2us": "launch 1us",

		"hbm=2.0":               `hbm is bytes per second, and "2.0" has no unit: write 2.0TB/s`,
		"hbm=2us":               `hbm is bytes per second, and "us" is no unit of that: write 2.0TB/s`,
		"hbm=fast":              `hbm is bytes per second: write 2.0TB/s, not "fast"`,
		"launch=6 GB/s":         `"GB/s" is no unit of that: write 6us`,
		"hbn=2TB/s":             "there is no figure hbn; did you mean hbm?",
		"attention-backwards=1": "did you mean attention-backward?",
		"hbm":                   `"hbm" is no figure=value, such as hbm=2.0TB/s`,
		"gemm=1.5":              "gemm 1.5 is out of range: take 0.001 to 1",
		"memory=1KB":            "memory 1KB is out of range",
		"hbm=NaNTB/s":           "not \"NaNTB/s\"",
		"hbm=1TB/s,hbm=2TB/s":   "hbm is given twice",
		"launch=20us":           "launch 20us is a part of eager 13.6us: raise eager",
		"scale=5TB/s":           "scale 5TB/s is more than hbm 3.35TB/s has",
	} {
		m, err := Lookup("h100")
		if err != nil {
			t.Fatal(err)
		}
		err = m.Set(text)
		name, _, _ := strings.Cut(want, " ")
		if p, ok := find(name); ok && err == nil {
			if got := name + " " + p.format(m.values[p]); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A file of presets of one's own builds on those that there are.
func TestFile(t *testing.T) {
	for _, c := range []struct{ text, device, want string }{
		{"mine:\n  is: My GPU\n  from: [h100]\n  hbm: [3 TB/s, measured last week]\n", "", "My GPU 3TB/s"},
		{"a:\n  is: A\n  from: [h100]\nb:\n  is: B\n  from: [h200]\n", ":a", "A 3.35TB/s"},
		{"a:\n  is: A\n  from: [h100]\nb:\n  is: B\n  from: [h200]\n", "x4", "B 4.8TB/s"},
		{"mine:\n  from: [h100]\n", "", "NVIDIA H100 80GB HBM3 3.35TB/s"},
		{"mine:\n  is: A\n  from: [h100]\n  hbm: [3 TB, measured]\n", "",
			`mine: hbm is bytes per second, and "TB" is no unit`},
		{"mine:\n  is: A\n  from: [h100]\n  hbn: [3 TB/s, measured]\n", "",
			"mine: there is no figure hbn; did you mean hbm?"},
		{"mine:\n  is: A\n  from: [h100]\n  hbm: 3 TB/s\n", "", "mine: hbm: write [figure, where it is from]"},
		{"mine:\n  is: A\n  hbm: [3 TB/s, measured]\n", "", "lacks the figure"},
		{"mine:\n  is: A\n  from: [h100]\n  hbm: [3 TB/s, \"\"]\n", "", "mine: hbm: write [figure, where it is from]"},
		{"mine:\n  is: A\n  from: {a: b}\n", "", "from: write the presets whose figures are taken first"},
		{"mine:\n  is: A\n  from: [h100]\n  sms: [132.5, me]\n", "", "sms is a whole number"},
		{"mine:\n  is: A\n  from: [h100]\n  launch: [20us, me]\n", "", "launch 20us is a part of eager 13.6us"},
		{"mine:\n  is: A\n  from: [h100]\n  launch: [.nan, me]\n", "", "launch is a time: write 6us"},
		{"mine:\n  is: A\n  from: [h100]\n  launch: [1e300us, me]\n", "", "launch 1e300us is out of range"},
		{"mine:\n  is: A\n  from: [yours]\n", "", "there is no preset yours"},
		{"a:\n  is: A\n  from: [b]\nb:\n  from: [a]\n", "", "preset a is from itself"},
		{"just text", "", "yaml"},
		{"", "", "there is no device in it"},
	} {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Lookup(path + c.device)
		got := fmt.Sprint(err)
		if err == nil {
			got = m.Name + " " + hbm.format(m.values[hbm])
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}
