package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{
		"": -1, "4": -1, "GB": -1, "4G": -1, "-1GB": -1, "0GB": -1, "NaNGB": -1, "1e30GB": -1, "4 Gb": -1, "infGB": -1,
		"4GB": 4e9, "4 GB": 4e9, "0.5GB": 5e8, "512MB": 512e6, "2GiB": 2 << 30, "1.5MiB": 3 << 19, "10kB": 10000, "7B": 7, "1TB": 1e12, "1TiB": 1 << 40,
	} {
		got, ok := parseBytes(s)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v, want %d", s, got, ok, want)
		}
	}
}

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
		{"no limit", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, 1000 << 10},
		{"container", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5000\n"}, 5000},
		{"group", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b/c\n", "sys/fs/cgroup/a/b/c/memory.max": "9000\n",
			"sys/fs/cgroup/a/memory.max": "7000\n"}, 7000},
		{"version 1", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpu:/x\n2:hugetlb,memory:/d\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/d/memory.limit_in_bytes": "600\n"}, 600},
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

func TestMachineFlags(t *testing.T) {
	for _, f := range []machineFlags{{jobs: -1}, {memLimit: "much"}, {memLimit: "1MB"}} {
		if _, err := f.parse(); codeOf(err, true) != exitUsage {
			t.Errorf("%+v: error %v", f, err)
		}
	}
	if m, err := (&machineFlags{jobs: 100_000, memLimit: "1GB"}).parse(); err != nil || m.jobs != mostJobs || m.memory != 1e9 {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := (&machineFlags{}).parse(); err != nil || m.jobs < 1 || m.memory < leastMemory {
		t.Errorf("%+v, %v", m, err)
	}
}

// Bounds hold while a command runs, and no longer.
func TestApply(t *testing.T) {
	cores, memory := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1)
	undo := machine{jobs: 1, memory: 1e9}.apply()
	if n, m := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1); n != 1 || m > 1e9 {
		t.Errorf("%d cores, %d bytes", n, m)
	}
	undo()
	if n, m := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1); n != cores || m != memory {
		t.Errorf("%d cores, %d bytes afterwards", n, m)
	}
}
