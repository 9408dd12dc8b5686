package input

// Mapped is a text that stands in memory because its file is mapped. A worker reads it
// where it stands, which saves a copy; behind what it was lent, text goes on, and only
// the rules say where an event ends. Looking at text that the file has lost faults: that
// is a panic of the worker, which then has nothing to hand over, and the reader reads
// for itself.
type Mapped interface {
	// Text is all of it.
	Text() []byte
	// Seen is told of a stretch that has been read and will not be looked at again soon.
	Seen(from, to int64)
}

// stretch is a part of a mapped text that is lent, with padding.
type stretch struct {
	of   Mapped
	text []byte
	from int64
}

// lendMapped lends the text of m from from to to; nil where it is not mapped.
func lendMapped(m Mapped, from, to int64) *stretch {
	if m == nil || to+Padding > int64(len(m.Text())) {
		return nil
	}
	return &stretch{m, m.Text()[from : to+Padding], from}
}

func (s *stretch) release() { s.of.Seen(s.from, s.from+int64(len(s.text))-overlap-Padding) }
