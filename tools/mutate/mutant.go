package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is the code with one edit.
type mutant struct {
	File         string // relative to the module
	Line, Column int
	Operator     string
	Before       string // the line, without the white space around it
	After        string
	path         string // absolute
	source       []byte
	edit         edit
	number       int           // in the schema
	constants    []newConstant // that it changes
}

// apply returns the text of the file with the edit.
func (m *mutant) apply() []byte {
	old := string(m.source[m.edit.from:m.edit.to])
	text := m.edit.text
	if m.edit.operator == "negated condition" {
		text = "!(" + old + ")"
	}
	return slices.Concat(m.source[:m.edit.from], []byte(text), m.source[m.edit.to:])
}

// mutants returns all edits of the files of a package, shuffled by seed.
func mutants(root, dir string, files []string, seed uint64) ([]*mutant, error) {
	var all []*mutant
	for _, name := range files {
		ms, err := ofFile(root, filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		all = append(all, ms...)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, nil
}

func ofFile(root, path string) ([]*mutant, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	relative, err := filepath.Rel(root, path)
	var ms []*mutant
	for _, e := range find(fset, file) {
		m := &mutant{File: filepath.ToSlash(relative), Operator: e.operator, path: path, source: source, edit: e}
		m.place()
		ms = append(ms, m)
	}
	return ms, err
}

// place fills in where the edit is and what the lines say that it touches.
func (m *mutant) place() {
	before := m.source[:m.edit.from]
	m.Line = bytes.Count(before, []byte("\n")) + 1
	m.Column = m.edit.from - (bytes.LastIndexByte(before, '\n') + 1) + 1
	m.Before = lines(m.source, m.edit.from, m.edit.to)
	changed := m.apply()
	m.After = lines(changed, m.edit.from, len(changed)-(len(m.source)-m.edit.to))
}

// lines returns the lines that hold [from,to), in one line.
func lines(text []byte, from, to int) string {
	start := bytes.LastIndexByte(text[:from], '\n') + 1
	end := to + max(bytes.IndexByte(append(text[to:len(text):len(text)], '\n'), '\n'), 0)
	return strings.Join(strings.Fields(string(text[start:end])), " ")
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d:%d: %s\n\t- %s\n\t+ %s", m.File, m.Line, m.Column, m.Operator, m.Before, m.After)
}

// key is what equivalent.txt calls a mutant: no line number, which the next change moves.
func (m *mutant) key() string { return strings.TrimSpace(m.File + ": " + m.Before + " => " + m.After) }
