package ingest

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// defaultShare is the share of the available memory that the program takes by default.
const defaultShare = 0.8

// DefaultMemory is GOMEMLIMIT where it is set, else a share of the available memory, in bytes.
func DefaultMemory() int64 {
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
// limit is at the top.
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
