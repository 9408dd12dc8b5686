package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	tag     = regexp.MustCompile(`(?s)<([a-z][a-z0-9]*)\b([^>]*)>`)
	attr    = regexp.MustCompile(`\b(href|src|srcset|id|name|rel|action)="([^"]*)"`)
	raw     = regexp.MustCompile("(?s)<p>[^<]*(?:\n- |```)")
	scripts = regexp.MustCompile(`(?s)<script\b[^>]*>.*?</script>|<style\b[^>]*>.*?</style>`)
	remote  = regexp.MustCompile(`url\(["']?(?:https?:)?//|@import`)
)

// html is what a page of the site has: what can be linked to, and what it asks for.
type html struct {
	ids   map[string]bool
	links []string // of the reader
	loads []string // of the browser
	raw   string   // Markdown that was not understood, "" for none
}

// check returns what is wrong with a site: links and anchors that are dead, what a browser would load
// from another machine, and Markdown that was taken for text.
func check(site string) []error {
	pages, faults := map[string]html{}, []error(nil)
	err := filepath.WalkDir(site, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(site, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		switch path.Ext(name) {
		case ".html":
			pages[filepath.ToSlash(rel)] = readHTML(string(text))
		case ".css":
			if remote.Match(text) {
				faults = append(faults, fmt.Errorf("%s loads from another machine", rel))
			}
		}
		return err
	})
	if err != nil {
		return []error{err}
	}
	for name, page := range pages {
		if name != "404.html" { // its links begin at the root of a server
			faults = append(faults, page.faults(site, name, pages)...)
		}
	}
	return faults
}

func readHTML(text string) html {
	page := html{ids: map[string]bool{}, raw: raw.FindString(text)}
	for _, m := range tag.FindAllStringSubmatch(headsOnly(text), -1) {
		attrs := map[string]string{}
		for _, a := range attr.FindAllStringSubmatch(m[2], -1) {
			attrs[a[1]] = a[2]
		}
		page.ids[attrs["id"]] = true
		switch {
		case m[1] == "a" || m[1] == "area":
			page.links = append(page.links, attrs["href"])
		case m[1] == "form":
			page.loads = append(page.loads, attrs["action"])
		default:
			page.loads = append(page.loads, attrs["href"], attrs["src"], attrs["srcset"])
		}
	}
	return page
}

// headsOnly leaves out what stands between the tags of a script or a style.
func headsOnly(text string) string {
	return scripts.ReplaceAllStringFunc(text, func(s string) string { return s[:strings.Index(s, ">")+1] })
}

func (p html) faults(site, name string, pages map[string]html) []error {
	var faults []error
	if p.raw != "" {
		faults = append(faults, fmt.Errorf("%s: Markdown taken for text: %q", name, p.raw))
	}
	for _, l := range p.loads {
		if strings.Contains(l, "//") {
			faults = append(faults, fmt.Errorf("%s loads %s from another machine", name, l))
		}
	}
	for _, l := range p.links {
		if why := dead(site, name, l, pages); why != "" {
			faults = append(faults, fmt.Errorf("%s: %s: %s", name, l, why))
		}
	}
	return faults
}

// dead says why a link leads nowhere, "" where it does not.
func dead(site, name, target string, pages map[string]html) string {
	if strings.Contains(target, "://") || target == "" {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := name
	if file != "" {
		to = path.Join(path.Dir(name), file)
	}
	page, isPage := pages[to]
	if _, err := os.Stat(filepath.Join(site, filepath.FromSlash(to))); err != nil {
		return "no such file"
	}
	if isPage && anchor != "" && !page.ids[anchor] && anchor != "__skip" {
		return "no such heading"
	}
	return ""
}
