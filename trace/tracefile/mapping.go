package tracefile

// Mapped is a text that stands in memory because its file is mapped.
type Mapped interface {
	// Text is all of it. To look at what the file has lost meanwhile faults.
	Text() []byte
	// Seen is told of a stretch that has been read and will not be looked at again soon.
	Seen(from, to int64)
}

// mapping is a file that is mapped into memory, so that its text can be read without a
// copy. Pages that have been read are given back at once: they stay in the cache of the
// system, but do not count as memory of this process.
type mapping struct {
	text []byte
	c    *counter
}

// leastMapped is the size in bytes of a file that is worth mapping.
const leastMapped = 4 << 20

// Text is the text of the file.
func (m *mapping) Text() []byte { return m.text }
