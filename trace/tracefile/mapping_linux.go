package tracefile

import (
	"io"
	"math"
	"os"
	"syscall"
)

// mapFile maps the first size bytes of a large file, nil where that cannot be done.
func mapFile(r io.ReaderAt, size int64, c *counter) *mapping {
	f, ok := r.(*os.File)
	if !ok || size < leastMapped || size > math.MaxInt {
		return nil
	}
	text, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return &mapping{text, c}
}

// Seen gives the pages of a stretch back and counts it as read.
func (m *mapping) Seen(from, to int64) {
	page := int64(os.Getpagesize())
	_ = syscall.Madvise(m.text[from/page*page:to/page*page], syscall.MADV_DONTNEED) // advice: without it the pages stay
	m.c.add(to-from, m.c.total)
}

func (m *mapping) close() {
	if m != nil {
		_ = syscall.Munmap(m.text) // fails for a wrong address only
	}
}
