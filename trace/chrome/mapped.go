package chrome

// Mapped is a text that stands in memory because its file is mapped. A hand reads it
// where it stands, which saves a copy; behind what it was lent, text goes on, and only
// the rules say where an event ends. Looking at text that the file has lost faults: that
// is a panic of the hand, which then has no run, and the reader reads for itself.
type Mapped interface {
	// Text is all of it.
	Text() []byte
	// Seen is told of a stretch that has been read and will not be looked at again soon.
	Seen(from, to int64)
}

// overlap is how much of the text behind a chunk is lent with it, for its last event.
const overlap = 4 * roomy

// stretch is a part of a mapped text that is lent, with padding.
type stretch struct {
	of   Mapped
	text []byte
	from int64
}

// lendMapped lends the text from from to to; nil where it is not mapped.
func lendMapped(o *Options, from, to int64) *stretch {
	if o.Map == nil || to+padding > int64(len(o.Map.Text())) {
		return nil
	}
	return &stretch{o.Map, o.Map.Text()[from : to+padding], from}
}

func (s *stretch) release() { s.of.Seen(s.from, s.from+int64(len(s.text))-overlap-padding) }
