package tracefile

import (
	"io"
	"math"
	"os"
	"syscall"
)

// mapping is a file that is mapped a stretch at a time. What has been read is given back at
// once: it stays in the cache of the system, but does not count as memory of this process.
// Stretches are private, so that there can be zeros behind the text, and costs a copy of
// the page that they stand in.
type mapping struct {
	file *os.File
	size int64 // bytes that may be mapped
	c    *counter
}

// mapFile prepares to map the first size bytes of a large file, nil where that cannot be
// done.
func mapFile(r io.ReaderAt, size int64, c *counter) Mapped {
	f, ok := r.(*os.File)
	if !ok || size < leastMapped || size > math.MaxInt {
		return nil
	}
	return &mapping{f, size, c}
}

func (m *mapping) Map(from, to int64, zeros int) (text []byte, unmap func(read int)) {
	if from < 0 || to < from || to+int64(zeros) > m.size { // a page behind the file cannot be written to
		return nil, nil
	}
	before := from % int64(os.Getpagesize())
	const access = syscall.PROT_READ | syscall.PROT_WRITE
	pages, err := syscall.Mmap(int(m.file.Fd()), from-before, int(to-from+before)+zeros, access, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil
	}
	text = pages[before:]
	unmap = func(read int) {
		_ = syscall.Munmap(pages) // fails for a wrong address only
		m.c.add(int64(read), m.c.total)
	}
	clear(text[to-from:])
	return text, unmap
}
