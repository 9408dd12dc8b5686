package template

import "github.com/gaprof/gaprof/trace"

// Field is a field template: one stretch of bytes, from the end of a value to the next
// value that varies or to the end of the event, and what the stretch says. Fields are made
// by Table.Learn; what it says does not change from then on, only what follows it.
type Field struct {
	pattern
	next [ways]*Field // fields that followed
	turn uint8        // the one to replace

	Goal   Goal      // what comes after it
	Value  Kind      // the same, for the loop over plain events
	Key    Key       // goal OwnValue: the key
	ArgKey trace.Key // goal ArgValue: the key
	Keep   bool      // and whether someone asks for it

	Seen uint16         // keys of the event whose values are part of the stretch, by Key.Bit
	Ph   byte           // the value of ph, if Seen has it
	Cat  trace.Cat      // likewise
	PID  trace.StringID // likewise
	TID  trace.StringID // likewise
	Args []trace.Arg    // arguments whose values are part of the stretch

	Event *Event // of the events that end here, if they are plain; else nil
	After *Field // where the first field of the event after this one is looked up
}

// Goal is what stands behind a Field.
type Goal uint8

// The goals.
const (
	Opening  Goal = iota // an event whose brace was just read
	OwnValue             // the value of a key of the event
	ArgValue             // the value of an argument
	TheEnd               // the end of the event
)

// Key is a key of an event that is read; the others are NoKey.
type Key uint8

// The keys.
const (
	NoKey Key = iota
	KeyPh
	KeyTs
	KeyID
	KeyPid
	KeyTid
	KeyDur
	KeyCat
	KeyName
	KeyArgs
)

// Bit is the bit of k in Field.Seen.
func (k Key) Bit() uint16 { return 1 << k }

// IsSteady reports whether k has so few values that they are learned as part of the
// stretch that they stand in.
func (k Key) IsSteady() bool {
	return k == KeyPh || k == KeyCat || k == KeyPid || k == KeyTid
}

// IsSteadyArg is Key.IsSteady for arguments that are integers.
func IsSteadyArg(name []byte) bool {
	switch string(name) {
	case "device", "context", "stream", "queued", "cbid", "Record function id":
		return true
	}
	return false
}

// Kind says what value stands behind a Field, as far as the loop over plain events needs
// to know.
type Kind uint8

// The kinds.
const (
	NoValue       Kind = iota // does not occur in plain events
	StartValue                // ts
	DurValue                  // dur
	NameValue                 // name
	IDValue                   // id
	CorrValue                 // the argument correlation
	ExternalValue             // the argument External id
	OtherValue                // any other argument, or a key that nobody asks for
	EndValue                  // the end of the event
)

// kind tells what stands behind f.
func (f *Field) kind() Kind {
	switch {
	case f.Goal == TheEnd:
		return EndValue
	case f.Goal == ArgValue && f.Keep && f.ArgKey == trace.KeyCorrelation:
		return CorrValue
	case f.Goal == ArgValue && f.Keep && f.ArgKey == trace.KeyExternalID:
		return ExternalValue
	case f.Goal == ArgValue:
		return OtherValue
	case f.Goal == OwnValue:
		return ownKinds[f.Key]
	}
	return NoValue
}

var ownKinds = [...]Kind{
	NoKey: OtherValue, KeyTs: StartValue, KeyDur: DurValue, KeyName: NameValue, KeyID: IDValue, KeyArgs: NoValue,
}

// Usual is the field that followed f the last time, nil for none.
func (f *Field) Usual() *Field { return f.next[0] }

// Follow returns the field behind f whose bytes stand at i, nil where none does. The
// one that was right the last time is asked first.
func (f *Field) Follow(b []byte, i int) *Field {
	if next := f.next[0]; next != nil && next.Stands(b, i) {
		return next
	}
	return f.Turn(b, i)
}

// Turn is Follow for the others that stood there before; the one it finds becomes the
// usual one.
func (f *Field) Turn(b []byte, i int) *Field {
	for k := 1; k < ways && f.next[k] != nil; k++ {
		if next := f.next[k]; next.Stands(b, i) {
			f.next[k], f.next[0] = f.next[0], next
			return next
		}
	}
	return nil
}
