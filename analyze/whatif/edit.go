package whatif

// Edit is one change of a program that can be predicted. It is a value: what it does to a
// graph, and when it makes sense.
type Edit struct {
	Name  string // as users write it
	Arg   string // what may follow after =, "" nothing
	Title string // what is changed
	How   string // how that is done in the program
	Limit string // what the prediction assumes

	Bound  bool // it bounds a family of changes rather than predicting one
	turn   turn // when it is applied, of several
	Part   bool // it may do only part of what findings of which it is the answer ask for
	Peers  bool // it says next to nothing where the traces of other ranks are missing
	check  func(arg string) error
	refuse func(w *World, arg string) string
	apply  func(c *Change, arg string)
	doubts []func(c *Change, arg string)     // what the same change may come to as well, in place of apply
	fitted func(w *World, arg string) string // what was fitted to the run for it, nil for an edit without
}

// turn orders edits that are applied together, in whatever order they are named: those that take
// what was recorded of others come first, those that scale what is there come last.
type turn uint8

const (
	turnEven   turn = iota // as other ranks have it
	turnMove               // elsewhere
	turnRemove             // not at all
	turnMerge              // several as one
	turnSplit              // on another stream
	turnHost               // what the host does
	turnFetch              // what the host waits for
	turnScale              // faster
	turnFree               // in no time
)

// Refuse says why an edit cannot be applied to a run, "" where it can.
func (e *Edit) Refuse(w *World, arg string) string { return e.refuse(w, arg) }

// Use is an edit with its argument.
type Use struct {
	Edit *Edit
	Arg  string
}

// String is the use as users write it.
func (u Use) String() string {
	if u.Arg == "" {
		return u.Edit.Name
	}
	return u.Edit.Name + "=" + u.Arg
}
