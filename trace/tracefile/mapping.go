package tracefile

// Mapped is a text that can be had in memory, because its file can be mapped, a stretch at
// a time. To look at text that the file has lost meanwhile faults.
type Mapped interface {
	// Map gives the text from from to to with so many bytes behind it that are zero. It is
	// the caller's own, to read and to write, until unmap is told how many bytes of it have
	// been read. It gives nil where that is not possible, as at the end of a file.
	Map(from, to int64, zeros int) (text []byte, unmap func(read int))
}

// leastMapped is the size in bytes of a file that is worth mapping.
const leastMapped = 4 << 20
