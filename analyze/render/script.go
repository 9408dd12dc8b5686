package render

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"

	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/markup"
)

//go:embed page.js
var pageScript string

//go:embed timeline.js
var timelineScript string

// policy allows a page its own scripts and style, and nothing else: not even another script
// within it, should a name get by the template.
func policy(scripts []markup.JS) string {
	text := "default-src 'none'; style-src 'unsafe-inline'; script-src"
	for _, s := range scripts {
		sum := sha256.Sum256([]byte(s))
		text += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return text + "; base-uri 'none'; form-action 'none'"
}

// mostSpans bounds the spans of timelines that a page carries as data: about eight bytes each.
const mostSpans = 60_000

// timelineData is what the script of timelines draws, as JSON; "" where there is none.
func timelineData(r *report.Report) markup.JS {
	views, _ := plots.Views(r, mostSpans)
	if len(views) == 0 {
		return ""
	}
	for i := range views {
		for j := range views[i].Rows {
			views[i].Rows[j] = printable(views[i].Rows[j])
		}
		for j := range views[i].Names {
			views[i].Names[j] = printable(views[i].Names[j])
		}
	}
	text, err := json.Marshal(views) // escapes <, > and &
	if err != nil {
		return ""
	}
	return markup.JS(text)
}
