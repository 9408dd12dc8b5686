package markup

import (
	"errors"
	"html/template"
	"io"
	"strings"
	"testing"
)

type inner struct{ Deep, Hidden string }

type data struct {
	*inner
	Text, Address string
	Number        int
	Real          float64
	Yes           bool
	List          []string
	Rows          [][]int
	Map           map[string]int
	Any           any
	None          *inner
	Raw           HTML
	Style         CSS
	Script        JS
	Link          URL
}

func sample() data {
	return data{inner: &inner{Deep: "d"}, Text: `<b> "x" & 'y' +1` + "\x00", Address: "javascript:alert(1)",
		Number: 3, Real: 1.5, Yes: true, List: []string{"a", "<b>"}, Rows: [][]int{{1, 2}, {3}},
		Map: map[string]int{"k": 1, "a": 2},
		Any: &inner{Deep: "any"}, Raw: "<i>raw</i>", Style: "a{b:c}", Script: "f()", Link: "javascript:f()"}
}

// TestAsHTMLTemplate: what both understand comes out the same.
func TestAsHTMLTemplate(t *testing.T) {
	for _, source := range []string{
		"plain", "{{.Text}}", "a {{- .Number }} b", "{{.Deep}}{{.Any.Deep}}{{.Real}}{{.Yes}}",
		"<p title=\"{{.Text}}\" class='{{.Text}}'>{{.Text}}</p>", "<title>{{.Text}}{{.Text}}</title>{{.Text}}",
		"<textarea>{{.Text}}</textarea><b>{{.Number}}</b>",
		"{{if .Yes}}y{{else}}n{{end}}{{if .None}}y{{else if .Number}}z{{else}}n{{end}}{{with .Any}}{{.Deep}}{{end}}",
		"{{with .None}}x{{else}}none{{end}}", "{{range .List}}{{.}},{{else}}none{{end}}",
		"{{range $i, $e := .List}}{{if $i}}, {{end}}{{$e}}{{$.Number}}{{end}}", "{{range $e := .List}}{{$e}}{{end}}",
		"{{range .Rows}}{{range .}}{{.}} {{end}};{{end}}", "{{range $k, $v := .Map}}{{$k}}={{$v}} {{end}}",
		"{{range .List}}{{if eq . \"a\"}}{{continue}}{{end}}{{.}}{{break}}{{end}}", "{{range 3}}{{.}}{{end}}",
		"{{$x := .Number}}{{if .Yes}}{{$x = 7}}{{end}}{{$x}}",
		"{{len .List}}{{len .Text}}{{index .List 1}}{{index .Map \"k\"}}",
		"{{and .Yes .Number}} {{or .None .Number}} {{not .Yes}} {{eq .Number 1 3}} {{ne .Text \"x\"}}",
		"{{lt .Number 4}}{{le .Number 3}}{{gt .Number 3}}{{ge .Real 1.5}}{{eq .Yes true}}{{lt \"a\" .Text}}",
		"{{define \"t\"}}[{{.}}]{{end}}{{template \"t\" .Text}}{{template \"t\" 5}}",
		"{{printf \"%03d|%s\" .Number .Text}}",
		"{{.Number | printf \"%d!\"}}", "{{(index .Rows 0) | len}}", "<a href=\"{{.Address}}x\">",
		"<a href=\"https://a/b\">{{.Text}}</a>", "<a href='#{{.Number}}'>", "<!DOCTYPE html><p>{{.Text}}",
		"<p {{if .Yes}}class=\"n\"{{end}}>{{.Text}}</p >", "<br/>{{.Text}}<img alt=\"{{.Text}}\"/>x",
		"<script>var x = {{.Number}};</script>{{.Text}}", "<style>p{}</style >{{.Text}}", "<P TITLE=\"{{.Text}}\">",
	} {
		theirs := template.Must(template.New("page").Parse(source))
		var got, want strings.Builder
		if err := theirs.Execute(&want, sample()); err != nil {
			t.Fatal(source, err)
		}
		if err := MustParse("page", source).Execute(&got, sample()); err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		text := strings.ReplaceAll(want.String(), "#ZgotmplZ", "#") // how theirs refuses an address
		if strings.ReplaceAll(got.String(), " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%s\ngot  %q\nwant %q", source, got.String(), text)
		}
	}
}

// TestPlaces: what is written where it belongs to, and what is refused.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"{{.Raw}}", "<i>raw</i>"},
		{"<p title=\"{{.Raw}}\">", "<p title=\"&lt;i&gt;raw&lt;/i&gt;\">"},
		{"<title>{{.Raw}}</title>", "<title>&lt;i&gt;raw&lt;/i&gt;</title>"},
		{"<style>{{.Style}}</style>{{.Raw}}", "<style>a{b:c}</style><i>raw</i>"},
		{"<script>{{.Script}}</script>", "<script>f()</script>"},
		{"<script type=\"application/json\">{{.List}}</script>", `["a","\u003cb\u003e"]`},
		{"<script>x = {{.Text}}, y={{.None}}</script>", `x = "\u003cb\u003e \"x\" \u0026 'y' +1\u0000", y=null`},
		{"<script>if (a < b) x({{.Number}})</script><p>{{.Text}}", "x(3)</script><p>&lt;b&gt;"},
		{"<a href=\"{{.Link}}\">", "<a href=\"javascript:f()\">"},
		{"<a href=\"HTTPS://a\" src=\"{{.List}}\">", "src=\"[a &lt;b&gt;]\""},
		{"<a href=\"/x?{{.Address}}\">", "<a href=\"/x?javascript:alert(1)\">"},
		{"1 < 2 << {{.Raw}}", "1 < 2 << <i>"},
		{"<!-- {{.Number}} -->", "within a tag, a comment"},
		{"<!--> a --> {{.Number}}", "3"},
		{"<!-- a > b {{.Number}}", "within a tag, a comment"},
		{"<!-- " + strings.Repeat("long ", 40) + "-->{{.Number}}", "-->3"},
		{"<{{.Text}}>", "within a tag"}, {"<p {{.Text}}>", "within a tag"}, {"<p a={{.Text}}>", "within a tag"},
		{"<p a=b{{.Text}}>", "within a tag"}, {"</p{{.Text}}>", "within a tag"}, {"<p a {{.Text}}>", "within a tag"},
		{"<p onclick=\"{{.Number}}\">", "attribute onclick, which browsers execute"},
		{"<p STYLE=\"{{.Number}}\">", "attribute style"},
		{"<style>{{.Text}}</style>", "that is not CSS"},
		{"<script>'{{.Text}}'</script>", "no expression begins"},
		{"<script>x {{.Text}}</script>", "no expression begins"},
		{"{{.Gone}}", "has no field Gone"}, {"{{.None.Deep}}", "field Deep of nothing"},
		{"{{.Number.Deep}}", "has no field Deep"}, {"{{.Text.Len 3}}", "no methods"},
		{"{{template \"gone\"}}", "no template"},
		{"{{range .Number}}{{end}}{{range .Real}}{{end}}", "range over float64"}, {"{{len .Number}}", "len of int"},
		{"{{not 1 2}}", "2 arguments, not 1"}, {"{{eq 1}}", "eq needs two values"},
		{"{{lt .List 1}}", "cannot be compared"},
		{"{{index .List 9}}", "index out of range"}, {"{{index .Text 9}}", "index of string"},
		{"{{printf 3}}", "without a format"},
		{"{{define \"t\"}}{{template \"t\"}}{{end}}{{template \"t\"}}", "calls itself without end"},
	} {
		var b strings.Builder
		got := ""
		if err := MustParse("page", c.source).Execute(&b, sample()); err != nil {
			got = err.Error()
			if b.Len() > 0 {
				t.Errorf("%s: %q was written before %v", c.source, b.String(), err)
			}
		} else {
			got = b.String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.source, got, c.want)
		}
	}
}

// TestScript: what cannot be JSON is refused.
func TestScript(t *testing.T) {
	if err := MustParse("t", "<script>{{.}}</script>").Execute(io.Discard, func() {}); err == nil {
		t.Error("a function was written")
	}
}

func TestParse(t *testing.T) {
	for _, source := range []string{"{{", "{{.X", "{{nothing .X}}", "{{if}}{{end}}"} {
		if _, err := Parse("t", source); err == nil {
			t.Error(source, "was parsed")
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse returned")
		}
	}()
	MustParse("t", "{{")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriterFails(t *testing.T) {
	if err := MustParse("t", "x").Execute(broken{}, nil); err == nil || err.Error() != "full" {
		t.Error(err)
	}
}
