package whatif

import (
	"fmt"
	"strings"
)

// Edit is one change of a program that can be predicted. It is a value: what it does to a
// graph, and when it makes sense.
type Edit struct {
	Name  string // as users write it
	Arg   string // what may follow after =, "" nothing
	Title string // what is changed
	How   string // how that is done in the program
	Limit string // what the prediction assumes

	Bound  bool    // it bounds a family of changes rather than predicting one
	margin float64 // share by which the gain may be less, where that is more than usual
	check  func(arg string) error
	refuse func(w *World, arg string) string
	apply  func(c *Change, arg string)
}

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

// Edits is the table of edits, in the order in which they are listed.
func Edits() []Edit {
	return []Edit{
		hoistReduceScatter, syncLastMicroBatch, dropScalePass, foldScale, hideDataLoading, dropHostSync, noStraggler,
		cudaGraph, faster, freeCollective,
	}
}

// Parse reads edits as users write them: NAME or NAME=ARG, several separated by commas. What
// follows a comma and names no edit is still part of the argument before it.
func Parse(texts []string) ([]Use, error) {
	var parts []string
	table := Edits()
	for _, text := range texts {
		for i, part := range strings.Split(text, ",") {
			if last := len(parts) - 1; i > 0 && find(table, part) == nil && strings.Contains(parts[last], "=") {
				parts[last] += "," + part
				continue
			}
			parts = append(parts, part)
		}
	}
	var list []Use
	for _, part := range parts {
		u, err := parse(table, strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	return list, nil
}

// find is the edit that a text names, nil for none.
func find(table []Edit, text string) *Edit {
	name, _, _ := strings.Cut(strings.TrimSpace(text), "=")
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// parse reads one edit.
func parse(table []Edit, text string) (Use, error) {
	name, arg, given := strings.Cut(text, "=")
	u := Use{find(table, text), arg}
	switch {
	case u.Edit == nil:
		return u, fmt.Errorf("there is no edit %q; there are %s", name, strings.Join(names(table), ", "))
	case given && u.Edit.Arg == "":
		return u, fmt.Errorf("%s takes no argument", name)
	case u.Edit.check != nil:
		if err := u.Edit.check(arg); err != nil {
			return u, fmt.Errorf("%s: %w", name, err)
		}
	}
	return u, nil
}

func names(table []Edit) []string {
	var list []string
	for i := range table {
		list = append(list, table[i].Name)
	}
	return list
}
