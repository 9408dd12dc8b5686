package input

// Mapped is a text that is in memory because its file is mapped. A worker reads it in
// place, which saves a copy; what it was lent is followed by more text instead of zero
// padding, so the rules alone say where an event ends. If the file was truncated, access
// faults: the worker panics and has nothing to hand over, and the reader reads for itself.
type Mapped interface {
	// Text is all of it.
	Text() []byte
	// Seen says that the text between two offsets will not be looked at again soon.
	Seen(from, to int64)
}

// stretch is a part of a mapped text that is lent, with what stands for its padding.
type stretch struct {
	of   Mapped
	text []byte
	from int64
}

// lendMapped lends the text of m between two offsets; nil if m is nil or ends before.
func lendMapped(m Mapped, from, to int64) *stretch {
	if m == nil || to+Padding > int64(len(m.Text())) {
		return nil
	}
	return &stretch{m, m.Text()[from : to+Padding], from}
}

func (s *stretch) release() { s.of.Seen(s.from, s.from+int64(len(s.text))-overlap-Padding) }
