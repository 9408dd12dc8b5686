// Package markup fills HTML templates. It reads the language of html/template and escapes
// each value for the place where it stands, but calls no methods: templates that may call
// any method by its name make the linker keep every exported method of every type, which
// is a fifth of the program (docs/decisions/0006).
//
// What a template may use: fields of structs and keys of maps, if, with, range, break,
// continue, template, define, variables, comparisons, and, or, not, len, index and printf.
// Everything else is an error of Parse or Execute, and so is a value in a place for which
// it cannot be made safe: a name of a tag or attribute, a comment, an attribute without
// quotes, an event handler.
//
//	markup.go   Template
//	walk.go     the nodes of a template
//	eval.go     what stands between {{ and }}
//	compare.go  its functions
//	context.go  where in an HTML document the output stands
//	escape.go   values made safe for that place
package markup

import (
	"bytes"
	"fmt"
	"io"
	"text/template/parse"
)

// Values of these types are written as they are, where text of their kind belongs. They
// must not hold anything that was not made for this: they are not looked at.
type (
	HTML string // whole elements and text
	CSS  string // a style sheet
	JS   string // a script, or part of one
	URL  string // an address
)

// Template is a parsed template. It may be executed by several goroutines at a time.
type Template struct {
	name  string
	trees map[string]*parse.Tree
}

// Parse parses a template with all templates that it defines.
func Parse(name, source string) (*Template, error) {
	known := make(map[string]any)
	for name := range functions {
		known[name] = true
	}
	trees, err := parse.Parse(name, source, "", "", known)
	if err != nil {
		return nil, err
	}
	return &Template{name, trees}, nil
}

// MustParse is Parse for templates that are part of the program.
func MustParse(name, source string) *Template {
	t, err := Parse(name, source)
	if err != nil {
		panic(err)
	}
	return t
}

// Execute writes a template filled with data. Nothing is written if it fails.
func (t *Template) Execute(w io.Writer, data any) (err error) {
	x := execution{template: t}
	defer func() {
		switch bug := recover().(type) {
		case nil:
		case failure:
			err = bug
		default:
			err = fmt.Errorf("template %s: %v", t.name, bug)
		}
	}()
	x.call(t.name, valueOf(data))
	_, err = w.Write(x.out.Bytes())
	return err
}

// failure is what is wrong with a template or its data.
type failure struct{ error }

func fail(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

// execution is one run of a template.
type execution struct {
	template  *Template
	out       bytes.Buffer
	place     place
	variables []variable
	depth     int // of templates within templates
}
