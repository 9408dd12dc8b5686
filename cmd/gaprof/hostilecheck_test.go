package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/pprof/profile"
)

// outputOf is where an output came from.
type outputOf struct {
	h     *hostile
	where string
	first bool // harmless names: what elements a page has is learned
	pages map[string]map[string]bool
}

// outputChecks check each format for what it must not contain, and return its text with
// the format's own escapes taken off, where that is needed to look for names.
var outputChecks = map[string]func(t *testing.T, o outputOf, out string) string{
	"": plainCheck, "text": plainCheck, "gobench": plainCheck, "json": jsonCheck, "jsonl": plainCheck,
	"chrome": jsonCheck, "csv": csvCheck, "md": markdownCheck,
	"html": htmlCheck, "agent": jsonCheck, "svg": svgCheck, "github": githubCheck, "pprof": pprofCheck,
}

// checkTerminal: nothing that a terminal obeys, no mark of text direction, nothing
// invisible, and no line that a runner of CI takes for a command.
func checkTerminal(t *testing.T, where, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%s: invalid UTF-8", where)
	}
	for i, r := range out {
		if r != '\n' && r != '\t' && r != ' ' &&
			(unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)) {
			t.Errorf("%s: %U stands in %q", where, r, around(out, i))
			return
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || regexp.MustCompile(`##[a-z-]*\[`).MatchString(line) {
			t.Errorf("%s: a runner of CI obeys %q", where, line)
		}
	}
}

func around(s string, i int) string { return s[max(0, i-40):min(len(s), i+40)] }

func plainCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, out)
	return out
}

// checkMessages: every line on stderr is one of ours.
func checkMessages(t *testing.T, where, stderr string) {
	t.Helper()
	checkTerminal(t, where+" stderr", stderr)
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "gaprof: ") {
			t.Errorf("%s: a message %q", where, line)
		}
	}
}

// jsonCheck: valid, safe to print, and the names are exactly those of the trace.
func jsonCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, out)
	var doc any
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s: %v", o.where, err)
	}
	var text strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			text.WriteString(v + "\n")
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for key, e := range v {
				text.WriteString(key + "\n")
				walk(e)
			}
		}
	}
	walk(doc)
	for _, role := range []string{roleKernel, roleOptimizer, roleDevice, roleGroup, roleTensor} {
		if strings.Contains(text.String(), role) && !strings.Contains(text.String(), o.h.name(role)) {
			t.Errorf("%s: the name of %s is not %q any more", o.where, role, o.h.name(role))
		}
	}
	return text.String()
}

// csvCheck: a table in which no text is a formula.
func csvCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, out)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", o.where, err)
	}
	for _, row := range rows {
		for _, cell := range row {
			_, err := strconv.ParseInt(cell, 10, 64)
			if err != nil && strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") ||
				strings.HasPrefix(cell, "\uff1d") {
				t.Errorf("%s: a spreadsheet runs %q", o.where, cell)
			}
		}
	}
	return out
}

var (
	ownComment   = regexp.MustCompile(`<!-- -->`)
	escapedMark  = regexp.MustCompile(`\\[!-/:-@\[-` + "`" + `{-~]`)
	entity       = regexp.MustCompile(`&(#[0-9]+|[a-z]+);`)
	image        = regexp.MustCompile(`!\[([^\[\]]*)\]\(<?([^<>\n)]*)>?\)`)
	beside       = regexp.MustCompile(`^[A-Za-z0-9._~%-]+\.svg$`) // a file beside the page
	active       = regexp.MustCompile("[<>`\\[\\]*_~$]|https?://|ftp://|www\\.|@[a-zA-Z]|!\\[")
	bold         = regexp.MustCompile(`\*\*[A-Za-z0-9 .,?:%-]*\*\*`)
	foreignBlock = regexp.MustCompile("^([#>~`*]|[-+]( |$)|[-= ]+$|[0-9]+[.)] )")
	ownBold      = regexp.MustCompile(`^\*\*[A-Za-z0-9]`)
	tableRow     = regexp.MustCompile(`^\|.*\|$`)
)

// markdownCheck takes off what is escaped and the marks that the program itself writes,
// and lets nothing remain that Markdown or GitHub takes for markup.
func markdownCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, out)
	columns := 0
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		rest := escapedMark.ReplaceAllString(line, "x")
		rest = image.ReplaceAllStringFunc(rest, func(s string) string {
			file := image.FindStringSubmatch(s)[2]
			if !beside.MatchString(file) {
				t.Errorf("%s: an image %q", o.where, s)
			}
			return "x"
		})
		rest = bold.ReplaceAllString(ownComment.ReplaceAllString(entity.ReplaceAllString(rest, "x"), "x"), "x")
		if found := active.FindString(rest); found != "" {
			t.Errorf("%s: %q is active in %q", o.where, found, line)
		}
		n := strings.Count(rest, "|")
		switch {
		case tableRow.MatchString(rest) && columns > 0 && n != columns:
			t.Errorf("%s: a row of %d columns in a table of %d: %q", o.where, n-1, columns-1, line)
		case tableRow.MatchString(rest):
			columns = n
		default:
			columns = 0
			if n > 0 {
				t.Errorf("%s: a table begins in %q", o.where, line)
			}
			ownBlock(t, o, line)
		}
	}
	return out
}

// ownBlock: what begins a block at the head of a line is one of the program's own.
func ownBlock(t *testing.T, o outputOf, line string) {
	t.Helper()
	head := strings.TrimLeft(line, " ")
	switch {
	case head == "", strings.HasPrefix(head,
		"# gaprof"), strings.HasPrefix(head, "## "), strings.HasPrefix(head,
		"### "), strings.HasPrefix(head, "- "), strings.HasPrefix(head, "!["), ownBold.MatchString(head):
	case foreignBlock.MatchString(head) || strings.HasPrefix(line, "    "):
		t.Errorf("%s: a block begins in %q", o.where, line)
	}
}

// htmlCheck: no element and no attribute that the page of harmless names does not have,
// and nothing that runs or leads elsewhere.
func htmlCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, out)
	out = withoutScripts(t, o, out)
	for _, mark := range []string{"<!--", "<script", "javascript:alert", "]]>", "</style></title>"} {
		if strings.Contains(out, mark) && (mark != "javascript:alert" || strings.Contains(out, `="javascript:`)) {
			t.Errorf("%s: holds %q", o.where, mark)
		}
	}
	d := xml.NewDecoder(strings.NewReader(out))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	return checkElements(t, o, "html", d)
}

var scripts = regexp.MustCompile(`(?s)<script( type="application/json" id="timelines")?>(.*?)</script>`)

// withoutScripts is a page without the scripts that its policy allows, by their hashes, and
// without their data. Those of the first page are those of all.
func withoutScripts(t *testing.T, o outputOf, page string) string {
	t.Helper()
	policy := html.UnescapeString(page[:min(len(page), 2000)])
	return scripts.ReplaceAllStringFunc(page, func(element string) string {
		part := scripts.FindStringSubmatch(element)
		sum := sha256.Sum256([]byte(part[2]))
		hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		switch data := part[1] != ""; {
		case data && json.Valid([]byte(part[2])) && !strings.ContainsAny(part[2], "<>&"):
		case !data && strings.Contains(policy, hash) && strings.HasPrefix(part[2], `"use strict";`):
		default:
			t.Errorf("%s: a script %.80q", o.where, part[2])
			return element
		}
		return ""
	})
}

func svgCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, out)
	return checkElements(t, o, "svg", xml.NewDecoder(strings.NewReader(out)))
}

func checkElements(t *testing.T, o outputOf, kind string, d *xml.Decoder) string {
	t.Helper()
	key := o.where + " " + kind
	if o.pages[key] == nil {
		o.pages[key] = make(map[string]bool)
	}
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%s: at byte %d: %v", o.where, d.InputOffset(), err)
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.Comment:
			t.Errorf("%s: a comment %q", o.where, token)
		case xml.StartElement:
			what := token.Name.Local
			for _, a := range token.Attr {
				what += " " + a.Name.Local
				value := strings.ToLower(strings.TrimSpace(a.Value))
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") ||
					a.Name.Local == "href" && !strings.HasPrefix(value, "#") || a.Name.Local == "src" {
					t.Errorf("%s: %s=%q of an element %s", o.where, a.Name.Local, a.Value, token.Name.Local)
				}
			}
			if o.first {
				o.pages[key][what] = true
			} else if !o.pages[key][what] {
				t.Errorf("%s: an element %q that the page of harmless names has not", o.where, what)
			}
		}
	}
}

var command = regexp.MustCompile(`^::(error|warning|notice) title=[^:,]*::(.*)$`)

// githubCheck: each line is one annotation, with nothing in its properties but the title.
func githubCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, strings.ReplaceAll("\n"+out, "\n::", "\n: :"))
	for line := range strings.Lines(out) {
		m := command.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Errorf("%s: no annotation: %q", o.where, line)
			continue
		}
		for part := range strings.SplitSeq(m[2], "%0A") {
			if strings.HasPrefix(strings.TrimSpace(part), "::") {
				t.Errorf("%s: a command within %q", o.where, line)
			}
		}
	}
	return out
}

// pprofCheck: go tool pprof prints every text of a profile as it is.
func pprofCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(out))
	must(t, err)
	data, err := io.ReadAll(z)
	must(t, err)
	p, err := profile.Parse(bytes.NewReader(data))
	must(t, err)
	checkTerminal(t, o.where, strings.ReplaceAll(p.String(), "\u00a0", " "))
	var text strings.Builder
	for _, f := range p.Function {
		text.WriteString(f.Name + "\n" + f.SystemName + f.Filename)
	}
	for _, s := range p.Sample {
		for key, values := range s.Label {
			text.WriteString(key + "=" + strings.Join(values, ",") + "\n")
		}
	}
	checkTerminal(t, o.where, text.String())
	return text.String()
}
