package render

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
)

// File is a file beside a page, which the page refers to by its name.
type File struct {
	Name string // without a folder: that of the page
	Text string // the whole of the file
}

// FigureFiles names the files that the figures of a Markdown page may have: one for each
// plot, beside the page.
func FigureFiles(page string) []string {
	var names []string
	for _, section := range plots.Sections() {
		names = append(names, figureFile(page, section))
	}
	return names
}

func figureFile(page, section string) string {
	return strings.TrimSuffix(page, filepath.Ext(page)) + "-" + section + ".svg"
}

// MarkdownFigures draws the first figure of each plot for a page of that name.
func MarkdownFigures(r *report.Report, page string) []File {
	var files []File
	for _, section := range plots.Sections() {
		if figures := plots.Of(r, section); len(figures) > 0 {
			files = append(files, File{figureFile(page, section), figures[0].File(plots.Wide)})
		}
	}
	return files
}

// MarkdownPage is the page of HTML as Markdown, for a file of that name with the files
// of MarkdownFigures beside it.
func MarkdownPage(r *report.Report, name string, o Options) string {
	var b strings.Builder
	p := newPage(r, o)
	fmt.Fprintf(&b, "# gaprof\n\n%s\n\n", markdownText(p.headline))
	for _, s := range p.says {
		fmt.Fprintf(&b, "- **%s** %s", s.head, markdownText(s.text))
		if s.right != "" {
			fmt.Fprintf(&b, " (%s)", markdownText(s.right))
		}
		b.WriteString("\n")
	}
	for _, s := range p.sections {
		markdownSection(&b, s, name)
	}
	b.WriteString("\nWhat the figures mean: docs/definitions.md of gaprof.")
	if !o.Made.IsZero() {
		fmt.Fprintf(&b, " Made %s UTC by gaprof %s.", o.Made.UTC().Format(time.DateTime), markdownText(r.Version))
	}
	b.WriteString("\n")
	return b.String()
}

func markdownSection(b *strings.Builder, s section, name string) {
	fmt.Fprintf(b, "\n## %s\n", markdownInline(s.title))
	if s.answer != "" {
		fmt.Fprintf(b, "\n**%s**\n", markdownInline(s.answer))
	}
	for _, words := range s.words {
		fmt.Fprintf(b, "\n%s\n", markdownText(words))
	}
	if len(s.figures) > 0 {
		f := s.figures[0]
		file := destination(filepath.Base(figureFile(name, sectionOf(f))))
		fmt.Fprintf(b, "\n![%s](%s)\n\n%s\n", markdownText(f.Title+". "+f.Text), file, markdownText(f.Note))
	}
	for i := range s.findings {
		markdownFinding(b, &s.findings[i])
	}
	for _, t := range s.tables {
		drawMarkdown(b, t)
	}
}

// destination is a file as the target of a link: nothing in it is markup or a scheme.
func destination(file string) string {
	return strings.ReplaceAll(url.QueryEscape(file), "+", "%20")
}

// sectionOf is the section of a figure, whose ID begins with it.
func sectionOf(f plots.Figure) string {
	section, _, _ := strings.Cut(f.ID, "-")
	return section
}

func markdownFinding(b *strings.Builder, f *finding) {
	fmt.Fprintf(b, "\n### %s %s: %s\n\n",
		markdownText(f.Rule), markdownText(string(f.Severity)), markdownText(f.Message))
	fmt.Fprintf(b, "- what: %s\n- why: %s\n- fix: %s\n",
		markdownText(f.Title), markdownText(f.Why), markdownText(f.Fix))
	markdownChange(b, f.Finding, "")
	if text := predictedText(f.Finding); text != "" {
		fmt.Fprintf(b, "- replay: %s\n", markdownText(text))
	}
	for _, c := range f.Caveats {
		fmt.Fprintf(b, "- but: %s\n", markdownText(c))
	}
	if len(f.Also) > 0 {
		fmt.Fprintf(b, "- also applies: %s\n", markdownText(strings.Join(f.Also, ", ")))
	}
	if len(f.evidence.rows) > 0 {
		drawMarkdown(b, f.evidence)
	}
}
