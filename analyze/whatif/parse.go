package whatif

import (
	"fmt"
	"strings"
)

// Edits is the table of edits, in the order in which they are listed.
func Edits() []Edit {
	return []Edit{
		hoistReduceScatter, syncLastMicroBatch, dropScalePass, foldScale, foreachScale, bucket, splitStream,
		hideDataLoading, dropHostSync, noStraggler, cudaGraph, faster, freeCollective,
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

// Each is each edit that needs no argument by itself.
func Each() [][]Use {
	var list [][]Use
	table := Edits()
	for i := range table {
		if table[i].check == nil || table[i].check("") == nil {
			list = append(list, []Use{{Edit: &table[i]}})
		}
	}
	return list
}
