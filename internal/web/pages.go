package web

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/markup"
	"github.com/gaprof/gaprof/internal/units"
)

//go:embed index.html.tmpl wait.html.tmpl opener.html.tmpl flame.html.tmpl style.css opener.js
var files embed.FS

// template parses a page when it is first asked for.
func template(name string) func() *markup.Template {
	return sync.OnceValue(func() *markup.Template {
		text, err := files.ReadFile(name + ".html.tmpl")
		if err != nil {
			panic(err)
		}
		return markup.MustParse(name, string(text))
	})
}

var (
	indexPage, waitPage   = template("index"), template("wait")
	openerPage, flamePage = template("opener"), template("flame")
)

// policy allows our pages their own scripts, style and requests.
const policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; " +
	"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (s *Server) show(w http.ResponseWriter, t *markup.Template, view any) {
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

// fail answers with an error of ours, or of a trace.
func fail(w http.ResponseWriter, err error) {
	http.Error(w, escape.Control(err.Error()), http.StatusInternalServerError)
}

func static(w http.ResponseWriter, r *http.Request) {
	kinds := map[string]string{"style.css": "text/css; charset=utf-8", "opener.js": "text/javascript; charset=utf-8"}
	name := r.PathValue("name")
	kind, ok := kinds[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	text, err := files.ReadFile(name)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Write(text)
}

// indexView is what the index shows.
type indexView struct {
	Title   string
	Rows    []indexRow
	History bool
}

type indexRow struct {
	Href, Name, Ranks, Steps, Time, Findings, Verdict, State string
}

func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	if err := s.refresh(); err != nil {
		fail(w, err)
		return
	}
	list := s.known()
	if s.Single && len(list) == 1 {
		redirect(w, "run/"+list[0].id+"/")
		return
	}
	view := indexView{Title: escape.Control(s.Title)}
	analyzed := 0
	for _, e := range slices.Backward(list) { // the newest first
		view.Rows = append(view.Rows, e.rows()...)
		analyzed += len(e.runs)
	}
	view.History = analyzed > 1
	s.show(w, indexPage(), view)
}

// known are all units, in their order.
func (s *Server) known() []entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []entry
	for _, id := range s.order {
		list = append(list, *s.entries[id])
	}
	return list
}

// rows are those of a unit: one for each of its runs, or one that says what is known.
func (e *entry) rows() []indexRow {
	href := "run/" + e.id + "/"
	row := indexRow{Href: href, Name: escape.Control(e.Name), State: units.Count(len(e.Files), "file")}
	switch {
	case e.done == nil:
		row.State += ", not analyzed yet"
		return []indexRow{row}
	case e.err != nil:
		row.State = escape.Control(e.err.Error())
		return []indexRow{row}
	case e.progress != "":
		row.State = escape.Control(e.progress)
		return []indexRow{row}
	}
	var rows []indexRow
	for i := range e.runs {
		sum := &e.runs[i]
		one := indexRow{Href: href + strconv.Itoa(i) + "/", Name: escape.Control(sum.Name),
			Ranks: strconv.Itoa(sum.Ranks), Steps: strconv.Itoa(sum.Steps), Time: "unknown",
			Findings: strconv.Itoa(sum.Findings), Verdict: escape.Control(sum.Verdict)}
		if sum.StepTime != nil {
			one.Time = fmt.Sprintf("%.3f ms", float64(*sum.StepTime)/1e6)
		}
		rows = append(rows, one)
	}
	return rows
}

// redirect leads to an address relative to this one, which holds in front of a proxy too.
func redirect(w http.ResponseWriter, to string) {
	w.Header()["Location"] = []string{to}
	w.WriteHeader(http.StatusSeeOther)
}

// patience is how long an answer waits for an analysis before it says how far that is.
const patience = 400 * time.Millisecond

// ready is the unit of a request once it is analyzed; nil where the answer was given: a page that waits, an
// error, or nothing.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) *entry {
	id := r.PathValue("unit")
	e := s.start(id)
	if e == nil && s.refresh() == nil {
		e = s.start(id)
	}
	if e == nil {
		http.NotFound(w, r)
		return nil
	}
	select {
	case <-e.done:
		e = s.start(id) // with what it came to
	case <-r.Context().Done():
		return nil
	case <-time.After(patience):
		s.wait(w, e)
		return nil
	}
	if e == nil {
		http.NotFound(w, r)
		return nil
	}
	if e.err != nil {
		s.again(id)
		http.Error(w, escape.Control(e.Name+": "+e.err.Error()), http.StatusUnprocessableEntity)
		return nil
	}
	return e
}

// wait shows how far an analysis is, and asks again by itself.
func (s *Server) wait(w http.ResponseWriter, e *entry) {
	w.Header().Set("Refresh", "1")
	s.show(w, waitPage(), struct{ Name, Progress string }{escape.Control(e.Name), escape.Control(e.progress)})
}

// unit shows the runs of a unit: almost always there is one.
func (s *Server) unit(w http.ResponseWriter, r *http.Request) {
	e := s.ready(w, r)
	switch {
	case e == nil:
	case len(e.runs) == 1:
		redirect(w, "0/")
	default:
		rows := e.rows()
		for i := range rows {
			rows[i].Href = strconv.Itoa(i) + "/"
		}
		s.show(w, indexPage(), indexView{Title: escape.Control(e.Name), Rows: rows})
	}
}

// run is a run of a unit that is analyzed; e is nil where the answer was given.
func (s *Server) run(w http.ResponseWriter, r *http.Request) (e *entry, run int) {
	e = s.ready(w, r)
	if e == nil {
		return nil, 0
	}
	run, err := strconv.Atoi(r.PathValue("run"))
	if err != nil || run < 0 || run >= len(e.runs) {
		http.NotFound(w, r)
		return nil, 0
	}
	return e, run
}

// drawn calls draw with the report of a run, one at a time.
func (s *Server) drawn(w http.ResponseWriter, r *http.Request, draw func(e *entry, run int, of *report.Report)) {
	e, run := s.run(w, r)
	if e == nil {
		return
	}
	s.draw.Lock()
	defer s.draw.Unlock()
	of, err := s.report(e, run)
	switch {
	case err != nil:
		fail(w, err)
	case of == nil:
		e.progress = "once more, because its memory was needed"
		s.wait(w, e)
	default:
		draw(e, run, of)
	}
}

func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	s.drawn(w, r, func(e *entry, run int, of *report.Report) {
		o := s.Page
		o.Links = s.links(&e.runs[run])
		var b bytes.Buffer
		if err := render.HTML(&b, of, o); err != nil {
			fail(w, err)
			return
		}
		sendPage(w, b.Bytes())
	})
}

func (s *Server) links(sum *summary) []render.Link {
	var list []render.Link
	if !s.Single {
		list = append(list, render.Link{Text: "all runs", Href: "../../../"})
	}
	if len(sum.Traces) > 0 {
		list = append(list, render.Link{Text: "open in Perfetto", Href: "perfetto"})
		if sum.Device {
			list = append(list, render.Link{Text: "flame graph", Href: "flame"})
		}
	}
	return append(list, render.Link{Text: "report.json", Href: "report.json"})
}

var metaPolicy = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)

// sendPage sends a page with the policy that it states of itself, which knows its scripts.
func sendPage(w http.ResponseWriter, text []byte) {
	if m := metaPolicy.FindSubmatch(text); m != nil {
		w.Header().Set("Content-Security-Policy", html.UnescapeString(string(m[1]))+"; frame-ancestors 'none'")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(text)
}

func (s *Server) json(w http.ResponseWriter, r *http.Request) {
	s.drawn(w, r, func(_ *entry, _ int, of *report.Report) {
		of.Drawing = nil
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Disposition", `attachment; filename="report.json"`)
		if err := render.JSON(w, of, s.Page); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

// mostHistory is how many runs a history is of, those that stand last.
const mostHistory = 40

// history is one page of all runs that are analyzed, in their order.
func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	if err := s.refresh(); err != nil {
		fail(w, err)
		return
	}
	s.draw.Lock()
	defer s.draw.Unlock()
	var runs []render.Run
	for _, ref := range s.analyzedRuns() {
		of, err := s.report(ref.e, ref.run)
		if err != nil {
			fail(w, err)
			return
		}
		if of != nil {
			of.Drawing, of.WhatIf = nil, nil
			runs = append(runs, render.Run{Name: ref.name, Report: of})
		}
	}
	if len(runs) == 0 {
		http.Error(w, "no run is analyzed yet", http.StatusNotFound)
		return
	}
	o := s.Page
	o.Links = []render.Link{{Text: "all runs", Href: "./"}}
	var b bytes.Buffer
	if err := render.HistoryHTML(&b, runs, o); err != nil {
		fail(w, err)
		return
	}
	sendPage(w, b.Bytes())
}

type runOf struct {
	e    *entry
	run  int
	name string
}

func (s *Server) analyzedRuns() []runOf {
	var list []runOf
	for _, e := range s.known() {
		for i := range e.runs {
			list = append(list, runOf{&e, i, e.runs[i].Name})
		}
	}
	return list[max(0, len(list)-mostHistory):]
}
