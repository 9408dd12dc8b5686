package render

import (
	"bytes"
	_ "embed"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/markup"
)

// HTML writes one page that needs nothing else: no font, no request. It is light or dark as
// the reader's screen is, fits a phone, and can be printed. Its scripts only add to what it
// says without them.
func HTML(w io.Writer, r *report.Report, o Options) error {
	p := newPage(r, o)
	p.timelines = timelineData(r)
	return p.write(w, printable(titleOf(r, p.headline)), r.Version, o)
}

// write draws the page by the markup.
func (p *page) write(w io.Writer, title, version string, o Options) error {
	v := pageView{
		Title:    title,
		Run:      p.run,
		Headline: p.headline,
		Version:  printable(version),
		Links:    o.Links,
		Style:    markup.CSS(plots.StyleSheet() + styleSheet),
		Scripts:  []markup.JS{markup.JS(pageScript)},
	}
	if p.timelines != "" {
		v.Timelines = p.timelines
		v.Scripts = append(v.Scripts, markup.JS(timelineScript))
	}
	v.Policy = policy(v.Scripts)
	if !o.Made.IsZero() {
		v.Made = o.Made.UTC().Format(time.DateTime) + " UTC"
	}
	v.says(p.says)
	for i := range p.top {
		if figure := p.top[i].view(); figure != nil {
			v.Top = append(v.Top, figure)
		}
	}
	for _, s := range p.sections {
		v.Sections = append(v.Sections, viewOf(s))
	}
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

//go:embed page.css
var styleSheet string

//go:embed page.html.tmpl
var pageSource string

// pageTemplate is parsed lazily: most runs draw no page.
var pageTemplate = sync.OnceValue(func() *markup.Template { return markup.MustParse("page", pageSource) })

// The views are what the template sees. Everything in them except our own SVG and CSS
// is text, which the template escapes for the place where it is put.
type pageView struct {
	Title, Run, Headline, Version, Made string

	Links []Link

	Style     markup.CSS
	Scripts   []markup.JS
	Timelines markup.JS // data
	Policy    string

	Lead     []sayView // the verdict itself
	Says     []sayView // why, and what to do
	Also     []sayView // the other findings
	MoreAlso []sayView // likewise, folded
	Top      []*barsView

	Sections []sectionView
}

type sayView struct {
	Head, Text, Right, Severity string

	Patch string // "del" or "ins": a line of code
}

// mostAlso is how many other findings the first screen lists.
const mostAlso = 4

// says divides the sentences of the verdict.
func (v *pageView) says(list []saying) {
	for i, s := range list {
		one := sayView{s.head, s.text, s.right, printable(string(s.severity)), ""}
		switch {
		case s.head == "" && strings.HasPrefix(s.text, "- "):
			one.Patch = "del"
		case s.head == "" && strings.HasPrefix(s.text, "+ "):
			one.Patch = "ins"
		}
		switch {
		case i == 0:
			v.Lead = append(v.Lead, one)
		case s.head != "ALSO":
			v.Says = append(v.Says, one)
		case len(v.Also) < mostAlso:
			v.Also = append(v.Also, one)
		default:
			v.MoreAlso = append(v.MoreAlso, one)
		}
	}
	if len(v.MoreAlso) == 1 {
		v.Also, v.MoreAlso = append(v.Also, v.MoreAlso...), nil
	}
}

type sectionView struct {
	ID, Title, Answer string
	Words             []string
	Figures           []figureView
	More              []figureView // figures after the first few, folded
	Tables            []tableView
	Findings          []findingView
}

type figureView struct {
	Wide, Narrow markup.HTML
	Note         string
}

type tableView struct {
	Title, Note string
	Fold        bool
	Header      []cellView
	Rows        [][]cellView
}

type cellView struct {
	Text   string
	Figure bool // a number, which is aligned to the right
	Long   bool // of so many characters that it may need several lines
}

// longCell is how many characters fit on a line of a cell.
const longCell = 40

type findingView struct {
	*report.Finding
	Evidence tableView
	At       string // lines of the program
	Replay   string
}

// foldRows is how many rows a table has before it is folded; foldFigures how many figures
// are shown unfolded.
const foldRows, foldFigures = 12, 2

func viewOf(s section) sectionView {
	v := sectionView{ID: s.id, Title: s.title, Answer: s.answer, Words: s.words}
	for i, f := range s.figures {
		view := figureView{markup.HTML(f.Inline(plots.Wide)), markup.HTML(f.Inline(plots.Narrow)), f.Note}
		if i < foldFigures {
			v.Figures = append(v.Figures, view)
		} else {
			v.More = append(v.More, view)
		}
	}
	for _, t := range s.tables {
		v.Tables = append(v.Tables, viewOfTable(t))
	}
	for _, f := range s.findings {
		at, replay := printable(codeText(f.Finding)), printable(predictedText(f.Finding))
		v.Findings = append(v.Findings, findingView{f.Finding, viewOfTable(f.evidence), at, replay})
	}
	return v
}

func viewOfTable(t table) tableView {
	numbers := numberColumns(t)
	v := tableView{Title: t.title, Note: t.note, Header: cells(t.header, numbers)}
	v.Fold = t.fold || len(t.rows) > foldRows && !t.open
	for _, row := range t.rows {
		v.Rows = append(v.Rows, cells(row, numbers))
	}
	return v
}

func cells(row []string, numbers []bool) []cellView {
	list := make([]cellView, len(row))
	for i, c := range row {
		list[i] = cellView{c, numbers[i], len(c) > longCell}
	}
	return list
}

// figureCell matches a cell that holds a figure.
var figureCell = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([-+]?[0-9][0-9.]*( %)?|[-?])?$`) })

// numberColumns reports, for each column, whether it is right of the leading ones and holds figures only.
func numberColumns(t table) []bool {
	numbers := make([]bool, len(t.header))
	for i := range t.header {
		noFigure := func(row []string) bool { return !figureCell().MatchString(row[i]) }
		numbers[i] = i >= t.left && !slices.ContainsFunc(t.rows, noFigure)
	}
	return numbers
}
