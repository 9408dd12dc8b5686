package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are the formats that a file of some extension may hold; without --format it gets the
// first that the command writes.
var extensions = []struct {
	names   []string
	formats []string
}{
	{[]string{".txt", ".text", ".log"}, []string{"text", "github", "gobench", "agent"}},
	{[]string{".json"}, []string{"json", "sarif", "agent"}},
	{[]string{".csv"}, []string{"csv"}},
	{[]string{".md", ".markdown"}, []string{"md", "github", "comment"}},
	{[]string{".html", ".htm"}, []string{"html"}},
	{[]string{".bench"}, []string{"gobench"}},
	{[]string{".sarif"}, []string{"sarif"}},
	{[]string{".xml"}, []string{"junit"}},
}

// formatsFor are the formats that a file's extension stands for; nil where that says nothing.
func formatsFor(file string) []string {
	ext := strings.ToLower(filepath.Ext(file))
	for _, e := range extensions {
		if slices.Contains(e.names, ext) {
			return e.formats
		}
	}
	return nil
}

// formatOf is the format of a file that none was named for: by its extension, text on streams,
// devices and pipes; writing to a directory says what is wrong with that.
func (f *outputFlags) formatOf(file string) (string, error) {
	if info, err := os.Stat(file); isStream(file) || err == nil && !info.Mode().IsRegular() {
		return "text", nil
	}
	known := formatsFor(file)
	for _, name := range known {
		if slices.Contains(f.known(), name) {
			return name, nil
		}
	}
	what := fmt.Sprintf("the extension %s names no format", filepath.Ext(file))
	switch {
	case known != nil:
		what = fmt.Sprintf("the extension %s is that of %s, which is not written here", filepath.Ext(file), known[0])
	case filepath.Ext(file) == "":
		what = "a name without an extension names no format"
	}
	return "", usage("pass --format, or a name that ends in "+strings.Join(f.extensions(), ", "),
		"-o %s: %s", file, what)
}

// extensions are those that name a format that the command writes.
func (f *outputFlags) extensions() []string {
	var list []string
	for _, e := range extensions {
		written := func(name string) bool { return slices.Contains(f.known(), name) }
		if slices.ContainsFunc(e.formats, written) {
			list = append(list, e.names[0])
		}
	}
	return list
}

// contradicts is the error of a file whose extension stands for another format than the one that
// is to be written into it.
func contradicts(format, file string) error {
	if known := formatsFor(file); !isStream(file) && known != nil && !slices.Contains(known, format) {
		return usage("leave out --format, or name the file by the format", "%s: the extension is that of %s, not of %s",
			file, known[0], format)
	}
	return nil
}
