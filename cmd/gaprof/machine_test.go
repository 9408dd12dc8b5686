package main

import (
	"testing"

	"github.com/gaprof/gaprof/internal/ingest"
)

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{
		"": -1, "4": -1, "GB": -1, "4G": -1, "-1GB": -1, "0GB": -1, "NaNGB": -1, "1e30GB": -1, "4 Gb": -1, "infGB": -1,
		"4GB": 4e9, "4 GB": 4e9, "0.5GB": 5e8, "512MB": 512e6, "2GiB": 2 << 30, "1.5MiB": 3 << 19, "10kB": 10000,
		"7B": 7, "1TB": 1e12, "1TiB": 1 << 40,
	} {
		got, ok := parseBytes(s)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v, want %d", s, got, ok, want)
		}
	}
}

func TestMachineFlags(t *testing.T) {
	for _, f := range []machineFlags{{jobs: -1}, {memLimit: "much"}, {memLimit: "1MB"}} {
		if _, err := f.parse(); codeOf(err, true) != exitUsage {
			t.Errorf("%+v: error %v", f, err)
		}
	}
	l, err := (&machineFlags{jobs: 100_000, memLimit: "1GB"}).parse()
	if err != nil || l.Workers != ingest.MostWorkers || l.Memory != 1e9 {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := (&machineFlags{}).parse(); err != nil || l.Workers < 1 || l.Memory < ingest.LeastMemory {
		t.Errorf("%+v, %v", l, err)
	}
}
