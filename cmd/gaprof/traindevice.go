package main

import (
	"strings"

	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
)

// deviceFlags say what a run trains on.
type deviceFlags struct {
	name  string
	cores int // of the cpu; 0 is all
}

// backends are what --device can name: a name, or a name and a colon before a preset.
var backends = []struct {
	name  string
	usage string // with the form of its presets
	open  func(f deviceFlags, preset string) (device.Backend, error)
}{
	{"cpu", "cpu, which computes", openCPU},
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
	return cpu.Backend{Cores: f.cores}, nil
}
