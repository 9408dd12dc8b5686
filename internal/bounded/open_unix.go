//go:build unix

package bounded

import "syscall"

// nonblocking opens a pipe without waiting for its writer.
const nonblocking = syscall.O_NONBLOCK
