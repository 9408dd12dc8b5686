package chrome

import (
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// XLA's profiler (JAX, TensorFlow) writes Chrome traces without categories: the
// processes are called "/device:GPU:0", their threads "Stream #20(Compute)" for
// what ran, and "XLA Modules", "XLA Ops", "Steps", "Framework Name Scope",
// "Source code" for rows that are derived from it. adaptXLA gives the events of
// the streams the categories of Kineto, and the calls of the host that launch
// them, so that nothing above knows of the difference.
func adaptXLA(b *trace.Builder) {
	tracks := b.Tracks()
	kinds := make([]xlaRow, len(tracks))
	found := false
	for i, track := range tracks {
		switch {
		case !strings.HasPrefix(track.ProcessName, "/device:"):
			kinds[i] = xlaHost
		case strings.HasPrefix(track.ThreadName, "Stream #"):
			kinds[i], found = xlaStream, true
		}
	}
	if !found {
		return
	}
	b.Recategorize(func(r *trace.Row, name string) trace.Cat {
		if r.Phase != trace.Complete || r.Cat != trace.CatNone {
			return r.Cat
		}
		switch kind := kinds[r.Track]; {
		case kind == xlaStream:
			return xlaActivity(name)
		case kind == xlaHost && r.Corr != 0 && isLaunch(name):
			return trace.CatCUDARuntime
		}
		return r.Cat
	})
}

// xlaRow is what kind of row a track of such a file is.
type xlaRow uint8

const (
	xlaDerived xlaRow = iota
	xlaHost
	xlaStream
)

func xlaActivity(name string) trace.Cat {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(lower, "memcpy"),
		strings.HasPrefix(name, "CopyHostTo"), strings.HasPrefix(name, "CopyDeviceTo"):
		return trace.CatGPUMemcpy
	case strings.HasPrefix(lower, "memset") || name == "FillBuffer":
		return trace.CatGPUMemset
	}
	return trace.CatKernel
}

// isLaunch reports whether name is a call of CUDA or HIP that starts device work.
func isLaunch(name string) bool {
	if !strings.HasPrefix(name, "cu") && !strings.HasPrefix(name, "hip") {
		return false
	}
	return strings.Contains(name, "Launch") || strings.Contains(name, "Memcpy") || strings.Contains(name, "Memset")
}
