package template

const (
	ways = 8 // fields that are known to follow another

	// MaxField is the bytes of a Field; longer ones are not learned.
	MaxField = 128
	// MaxFields is how many fields are known at a time: with more, learning starts anew.
	MaxFields = 4096

	fewEvents = 16 * MaxFields // but not before it has seen so many
)

// fieldKey is what a field is known by: where it was learned, nil for all that open an
// event, and its text. So the fields of an event form a tree, in which most have one
// successor, which makes the next one easy to tell.
type fieldKey struct {
	at   *Field
	text string
}

// Table is every field that is known.
type Table struct {
	Opening *Field // what the next event's first field is looked up in

	fields map[fieldKey]*Field
	since  int64 // number of the event when learning began
}

// Len is the number of fields that are known.
func (t *Table) Len() int { return len(t.fields) }

// Learn remembers f, which has just been read by the rules and has this text, behind
// at. It returns the field that is known from now on, nil for none. event is the number
// of the event.
func (t *Table) Learn(at, f *Field, text string, event int64) *Field {
	if len(t.fields) >= MaxFields {
		if event < t.since+fewEvents {
			return nil
		}
		t.Forget(event)
	}
	key := fieldKey{at, text}
	if at.Goal == Opening {
		key.at = nil
	}
	known := t.fields[key]
	if known == nil {
		made := *f
		known = &made
		known.pattern = newPattern(text)
		known.After = &Field{Goal: Opening}
		known.Value = known.kind()
		t.fields[key] = known
	}
	at.next[at.turn%ways] = known
	at.turn++
	return known
}

// Forget starts learning anew, as keys in random order fill the table with fields that
// do not come again. Where nothing comes again learning is for nothing: a table that was
// full too soon is left as it is for a while.
func (t *Table) Forget(event int64) {
	t.fields = make(map[fieldKey]*Field)
	t.Opening, t.since = &Field{Goal: Opening}, event
}
