package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// machineFlags bound what a command takes of the machine.
type machineFlags struct {
	jobs     int
	memLimit string
}

func (f *machineFlags) add(flags *pflag.FlagSet) {
	flags.IntVarP(&f.jobs, "jobs", "j", 0, "cores to use, and files to read at a time (default: all cores)")
	flags.StringVar(&f.memLimit, "mem-limit", "", "memory to stay within: 4GB, 512MB, 2GiB (default: 80 % of what the machine, or its control group, has);\n"+
		"files wait for each other, and one that does not fit by itself is left out")
}

// machine is what a command may take of the machine.
type machine struct {
	jobs   int
	memory int64 // bytes
}

// mostJobs bounds open files; more readers than this help nothing.
const mostJobs = 256

// parse checks the flags and fills in what they leave open.
func (f *machineFlags) parse() (machine, error) {
	m := machine{jobs: min(f.jobs, mostJobs), memory: defaultMemory()}
	if f.jobs < 0 {
		return m, usage("leave it out to use all cores", "-j %d is no number of cores", f.jobs)
	}
	if m.jobs == 0 {
		m.jobs = min(runtime.GOMAXPROCS(0), mostJobs)
	}
	if f.memLimit == "" {
		return m, nil
	}
	var ok bool
	if m.memory, ok = parseBytes(f.memLimit); !ok {
		return m, usage("write 4GB, 512MB or 2GiB", "--mem-limit %q is no size", f.memLimit)
	}
	if m.memory < leastMemory {
		return m, usage("at least "+bytesText(leastMemory), "--mem-limit %s is less than the program itself needs", f.memLimit)
	}
	return m, nil
}

// programText is the resident part of the program itself, of which the runtime does
// not know, in bytes.
const programText = 10e6

// apply makes the runtime keep to the bounds; undo takes that back.
func (m machine) apply() (undo func()) {
	limit := m.memory
	if limit < math.MaxInt64 {
		limit -= programText
	}
	memory, cores := debug.SetMemoryLimit(limit), runtime.GOMAXPROCS(0)
	if m.jobs < cores {
		runtime.GOMAXPROCS(m.jobs)
	}
	return func() {
		debug.SetMemoryLimit(memory)
		if m.jobs < cores {
			runtime.GOMAXPROCS(cores)
		}
	}
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

// defaultShare is how much of the memory that there is gaprof takes unless told.
const defaultShare = 0.8

// defaultMemory is GOMEMLIMIT where it is set, else a share of what there is.
func defaultMemory() int64 {
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		return limit
	}
	if n := machineMemory(os.DirFS("/")); n > 0 {
		return int64(float64(n) * defaultShare)
	}
	return math.MaxInt64
}

// machineMemory is the memory of the machine in bytes, or what the control groups of
// this process leave it; 0 where the system does not say (it is not Linux).
func machineMemory(root fs.FS) int64 {
	least := int64(0)
	note := func(n int64, ok bool) {
		if ok && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	note(memTotal(root))
	for _, file := range groupFiles(root) {
		text, err := fs.ReadFile(root, file)
		n, errNumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no number
		note(n, err == nil && errNumber == nil)
	}
	return least
}

// memTotal reads "MemTotal:  24041156 kB".
func memTotal(root fs.FS) (int64, bool) {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// groupFiles are the files that hold the limits of the control groups around this
// process, of either version. Inside a container the path may not be there, and the
// limit stands at the top.
func groupFiles(root fs.FS) []string {
	files := []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"}
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for group := path.Clean("/" + parts[2]); group != "/"; group = path.Dir(group) {
			switch {
			case parts[1] == "":
				files = append(files, "sys/fs/cgroup"+group+"/memory.max")
			case strings.Contains(parts[1], "memory"):
				files = append(files, "sys/fs/cgroup/memory"+group+"/memory.limit_in_bytes")
			}
		}
	}
	return files
}
