package gaprof_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pages returns the Markdown of the repository by path, but for test data and what git ignores.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (skipDir(d.Name()) || slices.Contains([]string{"dist", "site", "out"}, name)) {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		all[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLinks: every relative link of every page leads to a file, and its anchor to a heading there;
// every picture is there, and says in words what it shows.
func TestLinks(t *testing.T) {
	all := pages(t)
	if len(all) < 60 {
		t.Fatalf("found %d pages only", len(all))
	}
	links := 0
	for name, text := range all {
		for _, l := range linksOf(text) {
			links++
			if why := dead(all, isThere, name, l); why != "" {
				t.Errorf("%s:%d: %s: %s", name, l.line, l.target, why)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links only", links)
	}
}

type link struct {
	line         int
	text, target string
	picture      bool
}

var linkPattern = regexp.MustCompile(`(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]*(?:\([^()\s]*\))?)(?: "[^"]*")?\)`)

// linksOf returns the links of a page outside of code.
func linksOf(text string) []link {
	var links []link
	for i, line := range prose(text) {
		for _, m := range linkPattern.FindAllStringSubmatch(line, -1) {
			links = append(links, link{line: i + 1, text: m[2], target: m[3], picture: m[1] != ""})
			links = append(links, inside(i+1, m[2])...)
		}
	}
	return links
}

// inside is a picture that is the text of a link.
func inside(line int, text string) []link {
	m := linkPattern.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return []link{{line: line, text: m[2], target: m[3], picture: true}}
}

var (
	codeSpan = regexp.MustCompile("``[^`](?:[^`]|`[^`])*``|`[^`]*`")
	fenceOf  = regexp.MustCompile("^ *(```+|~~~+)")
)

// prose returns the lines of a page, blank where they are code.
func prose(text string) []string {
	lines := strings.Split(text, "\n")
	fence := ""
	for i, line := range lines {
		m := fenceOf.FindStringSubmatch(line)
		switch {
		case fence == "" && m != nil:
			fence, lines[i] = m[1], ""
		case fence != "":
			if m != nil && strings.HasPrefix(m[1], fence) {
				fence = ""
			}
			lines[i] = ""
		case strings.HasPrefix(line, "    ") && (i == 0 || lines[i-1] == ""):
			lines[i] = ""
		default:
			lines[i] = codeSpan.ReplaceAllString(line, "`code`")
		}
	}
	return lines
}

func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// dead says why a link of a page leads nowhere, "" if it leads somewhere. What is on other machines is not asked for.
func dead(all map[string]string, exists func(string) bool, page string, l link) string {
	if l.picture && strings.TrimSpace(l.text) == "" {
		return "the picture does not say in words what it shows"
	}
	if l.target == "" {
		return "no target"
	}
	if strings.Contains(l.target, "://") || strings.HasPrefix(l.target, "mailto:") {
		return ""
	}
	file, anchor, anchored := strings.Cut(l.target, "#")
	target := page
	if file != "" {
		target = path.Join(path.Dir(page), file)
	}
	if strings.HasPrefix(file, "/") || strings.HasPrefix(target, "../") {
		return "it leaves the repository"
	}
	if !exists(target) {
		return "no such file"
	}
	text, isPage := all[target]
	if anchored && isPage && !slices.Contains(anchors(text), anchor) {
		return "no such heading"
	}
	if anchored && !isPage {
		return "an anchor in what is no page"
	}
	return ""
}

var (
	heading = regexp.MustCompile(`^#{1,6} +(.*?)(?: +#+)?$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	anchorA = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// anchors returns those that GitHub gives the headings of a page, which those of the site equal.
func anchors(text string) []string {
	var all []string
	raw, seen := strings.Split(text, "\n"), map[string]int{}
	for i, line := range prose(text) {
		for _, m := range anchorA.FindAllStringSubmatch(line, -1) {
			all = append(all, m[1])
		}
		if !heading.MatchString(line) {
			continue
		}
		slug := slugOf(heading.FindStringSubmatch(raw[i])[1])
		seen[slug]++
		if n := seen[slug] - 1; n > 0 {
			slug += "-" + strconv.Itoa(n)
		}
		all = append(all, slug)
	}
	return all
}

func slugOf(title string) string {
	title = linkPattern.ReplaceAllString(title, "$2")
	return strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
}

// The test itself must be able to fail.
func TestDeadLinks(t *testing.T) {
	page := "# One `two`: three\n\n## Twice\n\n## Twice\n\n```\n# no heading\n[no](link)\n```\n\n    [nor](this)\n"
	all := map[string]string{"docs/a.md": page, "README.md": ""}
	exists := func(name string) bool {
		return slices.Contains([]string{"docs", "docs/a.md", "README.md", "go.mod", "docs/a.png"}, name)
	}
	for _, c := range []struct{ page, text, want string }{
		{"docs/a.md", "[x](#one-two-three) [x](a.md#twice-1) `[x](code)` [x](https://a.b/c#d) [x](../README.md)", ""},
		{"README.md", "[x](docs) [![a](docs/a.png)](docs/a.md)", ""},
		{"README.md", "[x](docs/a.md#twice-2)", "no such heading"},
		{"README.md", "[x](docs/a.md#no-heading)", "no such heading"},
		{"README.md", "[x](docs/absent.md)", "no such file"},
		{"docs/a.md", "[x](../../elsewhere)", "it leaves the repository"},
		{"docs/a.md", "[x](/README.md)", "it leaves the repository"},
		{"README.md", "[x](go.mod#module)", "an anchor in what is no page"},
		{"README.md", "![](docs/a.png)", "the picture does not say in words what it shows"},
		{"README.md", "[![a](docs/absent.png)](docs)", "no such file"},
		{"README.md", "[x]()", "no target"},
	} {
		var got []string
		for _, l := range linksOf(c.text) {
			if why := dead(all, exists, c.page, l); why != "" {
				got = append(got, why)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	if got, want := anchors(page), []string{"one-two-three", "twice", "twice-1"}; !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
	if got := linksOf(page); len(got) != 0 {
		t.Errorf("links in code: %v", got)
	}
}

// TestDecisions: the page of decisions has a row for each, under its title.
func TestDecisions(t *testing.T) {
	const folder = "docs/decisions/"
	all := pages(t)
	for name, text := range all {
		file, ok := strings.CutPrefix(name, folder)
		if !ok || file == "README.md" {
			continue
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		if row := "| [" + title + "](" + file + ") |"; !strings.Contains(all[folder+"README.md"], row) {
			t.Errorf("%sREADME.md has no row %s", folder, row)
		}
	}
}

// TestPagesBegin: every page has one title, below which a sentence says what the page is for.
func TestPagesBegin(t *testing.T) {
	sentence := regexp.MustCompile("^[\\p{L}`*\\[]")
	for name, text := range pages(t) {
		lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
			return line == "" || strings.HasPrefix(line, "<!--")
		})
		if !strings.HasPrefix(name, "docs/") && name != "README.md" {
			continue
		}
		if len(lines) < 2 || !strings.HasPrefix(lines[0], "# ") || !sentence.MatchString(lines[1]) {
			t.Errorf("%s does not begin with a title and a sentence", name)
		}
		titles := 0
		for _, line := range prose(text) {
			if strings.HasPrefix(line, "# ") {
				titles++
			}
		}
		if titles != 1 {
			t.Errorf("%s has %d titles", name, titles)
		}
	}
}
