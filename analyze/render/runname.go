package render

import (
	"fmt"
	"path"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// runName is what a page calls a run: its file, or the folder of its files and what their names have in common.
func runName(files []string) string {
	names := make([]string, len(files))
	folders := make(map[string]bool)
	for i, f := range files {
		f = strings.ReplaceAll(f, `\`, "/")
		names[i] = path.Base(f)
		folders[path.Dir(f)] = true
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) == 1:
		return short(names[0])
	}
	head := names[0]
	for _, n := range names {
		for !strings.HasPrefix(n, head) {
			head = head[:len(head)-1]
		}
	}
	tail := names[0][len(head):]
	for _, n := range names {
		for !strings.HasSuffix(n[len(head):], tail) {
			tail = tail[1:]
		}
	}
	text := strings.ToValidUTF8(head, "") + "*" + strings.ToValidUTF8(tail, "")
	if strings.Trim(head+tail, "._-") == "" {
		text = names[0] + " and others"
	}
	for folder := range folders {
		if name := path.Base(folder); len(folders) == 1 && strings.Trim(name, "./") != "" {
			text = name + "/" + text
		}
	}
	return fmt.Sprintf("%s (%d files)", short(text), len(names))
}

// titleOf is the title of the page of a report: its run first, which is what a tab shows.
func titleOf(r *report.Report, headline string) string {
	if name := runName(r.Source.Files); name != "" {
		return name + " · " + headline + " · gaprof"
	}
	return "gaprof: " + headline
}
