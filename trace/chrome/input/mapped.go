package input

// Mapped is a text that can be had in memory because its file can be mapped. It is read in
// place, which saves a copy. If the file was truncated, access faults, which is a panic
// where debug.SetPanicOnFault is set: a worker has nothing to hand over then, and a reader
// without workers must start again without a map.
type Mapped interface {
	// Map returns the text between two offsets, followed by so many zero bytes. The caller
	// may read and write it, and must call unmap with the number of bytes that it has read.
	// Map returns nil where it cannot map, as at the end of a file.
	Map(from, to int64, zeros int) (text []byte, unmap func(read int))
}

// overlap is how many bytes after a chunk are mapped with it, for its last event.
const overlap = 64 << 10

// stretchSize is how many bytes a reader without workers maps at a time. Tests change it.
var stretchSize = 1 << 20

// stretch is a part of a mapped text that a window looks at.
type stretch struct {
	text  []byte
	own   int // bytes of it that no other reader has
	unmap func(read int)
}

// mapStretch maps the text between two offsets, of which another reader has the last but
// bytes as well; nil where that is not possible.
func (t *Text) mapStretch(from, to int64, but int) *stretch {
	if t.Map == nil || to > t.Size {
		return nil
	}
	text, unmap := t.Map.Map(from, to, Padding)
	if text == nil {
		return nil
	}
	return &stretch{text, int(to-from) - but, unmap}
}

func (s *stretch) release(read int) { s.unmap(min(read, s.own)) }

// ReadMapped makes w, the only window of a text without workers, look at mapped text from
// its next Slide on, as far as the text can be mapped.
func (t *Text) ReadMapped(w *Window) {
	if t.Map == nil || t.At == nil {
		return
	}
	w.ahead = func(from int) bool {
		pos := w.At(from)
		s := t.mapStretch(pos, pos+int64(max(stretchSize, 2*(w.N-from))), 0)
		if s == nil {
			return false
		}
		w.borrow(s, s.text, len(s.text)-Padding, t.At, pos, from)
		return true
	}
}
