package main

import (
	"embed"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// repository is where what is no page of the site can be read.
const repository = "https://github.com/gaprof/gaprof"

// extra is what pages need beside the generator's own style.
//
//go:embed extra
var extra embed.FS

// stage writes what the generator reads: the pages in docs/, README as the first of them, and the
// configuration. It returns the number of pages.
func stage(root, work string) (int, error) {
	var pages []string
	docs := filepath.Join(root, "docs")
	err := filepath.WalkDir(docs, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) == ".go" {
			return err
		}
		rel, err := filepath.Rel(docs, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if path.Ext(rel) == ".md" {
			pages = append(pages, rel)
		}
		return put(root, work, path.Join("docs", rel), rel)
	})
	if err != nil {
		return 0, err
	}
	if err := put(root, work, "README.md", "index.md"); err != nil {
		return 0, err
	}
	if err := os.CopyFS(filepath.Join(work, "docs"), extra); err != nil {
		return 0, err
	}
	pages = append(pages, "index.md")
	slices.Sort(pages)
	return len(pages), os.WriteFile(filepath.Join(work, "zensical.toml"), []byte(configuration(pages)), 0o644)
}

// put copies a file of the repository to its place among what the generator reads.
func put(root, work, name, to string) error {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	if path.Ext(name) == ".md" {
		text = []byte(forSite(root, name, string(text)))
	}
	to = filepath.Join(work, "docs", filepath.FromSlash(to))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

var (
	fenced  = regexp.MustCompile("^(```+)([A-Za-z]*)")
	item    = regexp.MustCompile(`^(?:[-*]|\d+\.) `)
	linked  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	comment = regexp.MustCompile(`^<!-- .* -->$`)
	spans   = regexp.MustCompile("(`[^`]*`)|" + linked.String())
)

// forSite writes a page the way the generator reads Markdown: links to what is no page lead to the
// repository, a list begins after a blank line, of a fence only the language stays, remarks go.
func forSite(root, page, text string) string {
	var out []string
	fence := ""
	for _, line := range strings.Split(text, "\n") {
		m := fenced.FindStringSubmatch(line)
		switch {
		case fence != "":
			if m != nil && m[1] == fence && line == fence {
				fence = ""
			}
		case m != nil:
			fence, line = m[1], m[1]+m[2]
		case comment.MatchString(line):
			continue
		default:
			if item.MatchString(line) && len(out) > 0 && prose(out[len(out)-1]) {
				out = append(out, "")
			}
			line = relinked(root, page, line)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// prose tells a line of a paragraph from items of a list and what belongs to them.
func prose(line string) bool {
	return line != "" && !item.MatchString(line) && line[0] != ' '
}

// relinked turns the links of a line that leave docs/ into those of the site or of the repository.
func relinked(root, page, line string) string {
	return spans.ReplaceAllStringFunc(line, func(span string) string {
		m := spans.FindStringSubmatch(span)
		if m[1] != "" {
			return span
		}
		return "](" + siteLink(root, page, m[2]) + ")"
	})
}

func siteLink(root, page, target string) string {
	file, anchor, anchored := strings.Cut(target, "#")
	if file == "" || strings.Contains(file, "://") {
		return target
	}
	to := path.Join(path.Dir(page), file)
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(to)))
	if err != nil {
		return target // the generator says that it is dead
	}
	if anchored {
		anchor = "#" + anchor
	}
	from := "docs"
	if page != "README.md" {
		from = path.Dir(page)
	}
	switch {
	case to == "README.md":
		to = "docs/index.md"
	case info.IsDir() && isPage(root, to):
		to = path.Join(to, "README.md")
	case info.IsDir():
		return repository + "/tree/main/" + to
	case !strings.HasPrefix(to, "docs/") || path.Ext(to) == ".go":
		return repository + "/blob/main/" + to + anchor
	}
	rel, err := filepath.Rel(filepath.FromSlash(from), filepath.FromSlash(to))
	if err != nil {
		return target
	}
	return filepath.ToSlash(rel) + anchor
}

// isPage tells whether a folder is one of docs/ with a page that says what is in it.
func isPage(root, dir string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir), "README.md"))
	return err == nil && strings.HasPrefix(dir, "docs/")
}

// configuration is what Zensical goes by: nothing from other machines, light and dark as the reader
// has it, and the anchors that GitHub makes. Its plugin for pages without a server is left out: it
// loads a script from a CDN.
func configuration(pages []string) string {
	return `[project]
site_name = "gaprof"
site_description = "What a training run loses, why, and what to change"
copyright = "Apache-2.0"
docs_dir = "docs"
site_dir = "site"
use_directory_urls = false
extra_css = ["extra/site.css"]
extra_javascript = ["extra/site.js"]
` + navigation(pages) + `
[project.theme]
font = false
language = "en"
features = ["navigation.indexes", "navigation.footer", "navigation.top", "search.highlight", "toc.follow"]

[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle = {icon = "lucide/sun-moon", name = "Switch to light mode"}

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {icon = "lucide/sun", name = "Switch to dark mode"}

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {icon = "lucide/moon", name = "Switch to the mode of the system"}

[project.plugins.search]

[project.markdown_extensions]
tables = {}
md_in_html = {}
"pymdownx.betterem" = {}
"pymdownx.superfences" = {}
"pymdownx.highlight" = {}

[project.markdown_extensions.toc]
permalink = true
slugify = {object = "pymdownx.slugs.slugify", kwds = {case = "lower"}}
`
}
