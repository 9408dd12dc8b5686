package cpu

import (
	"syscall"
	"time"
)

// longestNap is from where on timers are exact enough.
const longestNap = 20 * time.Millisecond

// nap lets the thread sleep for less than Go's timers can do, which round up to a
// millisecond.
func nap(t time.Duration) {
	left := syscall.NsecToTimespec(int64(t))
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}
