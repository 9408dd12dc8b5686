//go:build unix

package bounded

import (
	"io/fs"
	"syscall"
)

// nonblocking opens a pipe without waiting for its writer.
const nonblocking = syscall.O_NONBLOCK

// storedOf is how many bytes of a file are stored.
func storedOf(info fs.FileInfo) (int64, bool) {
	const block = 512 // bytes, whatever the file system's blocks are
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return s.Blocks * block, true
}
