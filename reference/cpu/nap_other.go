//go:build !linux

package cpu

import (
	"runtime"
	"time"
)

// longestNap is from where on timers are exact enough to spare a core.
const longestNap = time.Millisecond

// nap keeps the thread busy for a time that is less than timers can do.
func nap(t time.Duration) {
	for begin := time.Now(); time.Since(begin) < t; {
		runtime.Gosched()
	}
}
