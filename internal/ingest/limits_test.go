package ingest

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestMachineMemory(t *testing.T) {
	const meminfo = "MemFree:  1 kB\nMemTotal:        1000 kB\nSwapTotal: 5 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"not Linux", nil, 0},
		{"odd", map[string]string{"proc/meminfo": "MemTotal: much\n", "proc/self/cgroup": "x\n0::\n"}, 0},
		{"no group", map[string]string{"proc/meminfo": meminfo}, 1000 << 10},
		{
			"no limit",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n",
			},
			1000 << 10,
		},
		{
			"container",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5000\n",
			},
			5000,
		},
		{
			"group",
			map[string]string{
				"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b/c\n", "sys/fs/cgroup/a/b/c/memory.max": "9000\n",
				"sys/fs/cgroup/a/memory.max": "7000\n",
			},
			7000,
		},
		{"version 1", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpu:/x\n2:hugetlb,memory:/d\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/memory/d/memory.limit_in_bytes": "600\n"}, 600},
	} {
		root := make(fstest.MapFS)
		for name, text := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := machineMemory(root); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// Bounds hold while a command runs, and no longer.
func TestApply(t *testing.T) {
	cores, memory := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1)
	undo := Limits{Workers: 1, Memory: 1e9}.Apply()
	if n, m := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1); n != 1 || m > 1e9 {
		t.Errorf("%d cores, %d bytes", n, m)
	}
	undo()
	if n, m := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1); n != cores || m != memory {
		t.Errorf("%d cores, %d bytes afterwards", n, m)
	}
}

// What is left open is filled in, and what is too much is bounded.
func TestDefaultLimits(t *testing.T) {
	if l := DefaultLimits(); l.Workers < 1 || l.Workers > MostWorkers || l.Memory < LeastMemory {
		t.Errorf("%+v", l)
	}
	if l := (Limits{Workers: 100_000, Memory: 1e9}).orDefault(); l.Workers != MostWorkers || l.Memory != 1e9 {
		t.Errorf("%+v", l)
	}
}
