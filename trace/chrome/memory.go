package chrome

import "github.com/gaprof/gaprof/trace"

// memory is what the documents of an input take that are not built yet, and whether that
// was too much.
type memory struct {
	finished size  // documents before the one that is read
	refused  error // by Options.Tables
}

// isRefused asks limit, which may be nil, whether there may be that much: what is
// finished, b, and own bytes that are needed until b is built.
func (m *memory) isRefused(limit func(bytes int64) error, b *trace.Builder, own int64) bool {
	if limit != nil && m.refused == nil {
		all := m.finished
		all.add(b)
		m.refused = limit(all.tables + max(all.build, own))
	}
	return m.refused != nil
}

// size is what the tables of some documents take, in bytes: until they are built, and
// more of it then.
type size struct{ tables, build int64 }

func (s *size) add(b *trace.Builder) {
	s.tables += b.Bytes()
	s.build += b.BuildBytes()
}
