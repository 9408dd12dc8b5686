package main

import (
	"strings"

	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/sim"
)

// deviceFlags say what a run trains on.
type deviceFlags struct {
	name  string
	cores int      // of the cpu; 0 is all
	set   []string // figures of a simulated machine
	seed  int
}

// backends are what --device can name: a name, or a name and a colon before a preset.
var backends = []struct {
	name  string
	usage string // with the form of its presets
	open  func(f deviceFlags, preset string) (device.Backend, error)
}{
	{"cpu", "cpu, which computes", openCPU},
	{"sim", "sim:DEVICE, which simulates GPUs: sim:h100, sim:h100x8 for 8 a node, sim:h200x8@ib-ndr", openSim},
}

// deviceUsage names the devices for the help.
func deviceUsage() string {
	var list []string
	for _, b := range backends {
		list = append(list, b.usage)
	}
	return strings.Join(list, ", ")
}

// open returns the backend that the flags name.
func (f deviceFlags) open() (device.Backend, error) {
	name, preset, _ := strings.Cut(f.name, ":")
	var names []string
	for _, b := range backends {
		if b.name == name {
			return b.open(f, preset)
		}
		names = append(names, b.name)
	}
	return nil, usage("take "+strings.Join(names, " or "), "--device %s: there is no such device", f.name)
}

func openCPU(f deviceFlags, preset string) (device.Backend, error) {
	if preset != "" {
		return nil, usage("write cpu", "--device %s: a cpu has no presets", f.name)
	}
	if len(f.set) > 0 {
		return nil, usage("leave it out, or take --device sim:h100",
			"--set changes a simulated machine, and a cpu is none")
	}
	return cpu.Backend{Cores: f.cores}, nil
}

func openSim(f deviceFlags, preset string) (device.Backend, error) {
	devices := "devices are " + strings.Join(sim.Devices(), ", ") + "; networks " + strings.Join(sim.Networks(), ", ")
	if preset == "" {
		return nil, usage(devices, "--device %s names no device", f.name)
	}
	if f.cores != 0 {
		return nil, usage("leave it out", "-j is for --device cpu; a simulation computes nothing")
	}
	m, err := sim.Lookup(preset)
	if err != nil {
		if strings.Contains(preset, ".yaml") {
			devices = "docs/simulation.md says what a file of presets has"
		}
		return nil, usage(devices, "--device %s: %v", f.name, err)
	}
	if len(f.set) > 0 {
		if err := m.Set(strings.Join(f.set, ",")); err != nil {
			return nil, usage("figures are listed in docs/simulation.md", "--set: %v", err)
		}
	}
	return sim.Backend{Machine: m, Seed: f.seed}, nil
}
