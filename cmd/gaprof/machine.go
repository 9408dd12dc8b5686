package main

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/internal/units"
)

// machineFlags bound the cores and the memory that a command uses.
type machineFlags struct {
	jobs     int
	memLimit string
}

func (f *machineFlags) add(flags *pflag.FlagSet) {
	flags.IntVarP(&f.jobs, "jobs", "j", 0, "cores to use, and files to read at a time (default: all cores)")
	flags.StringVar(&f.memLimit, "mem-limit", "",
		"memory to stay within: 4GB, 512MB, 2GiB (default: 80 % of what the machine, or its control group, has);\n"+
			"files wait for each other, and one that does not fit by itself is left out")
}

// parse checks the flags and fills in what they leave open.
func (f *machineFlags) parse() (ingest.Limits, error) {
	if f.jobs < 0 {
		return ingest.Limits{}, usage("leave it out to use all cores", "-j %d is not a number of cores", f.jobs)
	}
	l := ingest.DefaultLimits()
	if f.jobs > 0 {
		l.Workers = min(f.jobs, ingest.MostWorkers)
	}
	if f.memLimit == "" {
		return l, nil
	}
	var ok bool
	if l.Memory, ok = parseBytes(f.memLimit); !ok {
		return l, usage("write 4GB, 512MB or 2GiB", "--mem-limit %q is not a size", f.memLimit)
	}
	if l.Memory < ingest.LeastMemory {
		return l, usage("at least "+units.Bytes(ingest.LeastMemory),
			"--mem-limit %s is less than the program itself needs", f.memLimit)
	}
	return l, nil
}

// byteUnits are the units of sizes; GB is 10^9 bytes, GiB 2^30.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// parseBytes reads a positive size with its unit.
func parseBytes(s string) (int64, bool) {
	for _, unit := range byteUnits {
		number, ok := strings.CutSuffix(s, unit.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		n := v * unit.bytes
		return int64(n), err == nil && n >= 1 && n < 1<<62
	}
	return 0, false
}
