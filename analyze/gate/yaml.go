package gate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/gaprof/gaprof/internal/bounded"
)

// form is what a node of a YAML file is.
type form string

const (
	scalar   form = "a value"
	mapping  form = "a mapping"
	sequence form = "a list"
	empty    form = "nothing"
)

// node is a value of a YAML file with its place: the part of YAML that configurations
// are written in. Anchors, tags and several documents are rejected.
type node struct {
	form         form
	line, column int
	text         string // of a scalar, without quotes
	fields       []field
	items        []*node
}

// field is one key of a mapping.
type field struct {
	key   *node
	value *node
}

// Bounds of what is read: a configuration is written by hand.
const (
	mostBytes = 1 << 16
	mostDepth = 16
)

// FileLimit is how a configuration is opened. One that was asked for by name may be a pipe,
// such as <(envsubst < gaprof.yaml); one that was found may not.
func FileLimit(asked bool) bounded.Limit {
	return bounded.Limit{What: "a configuration", Bytes: mostBytes, Pipes: asked,
		Hint: "docs/ci.md says what a configuration holds"}
}

// readYAML reads the one document of a file; an empty one is nil.
func readYAML(file string, text []byte) (root *node, err error) {
	if len(text) > mostBytes {
		return nil, &ConfigError{File: file, Message: fmt.Sprintf("a configuration has at most %d bytes", mostBytes)}
	}
	if depth := nesting(string(text)); depth > mostDepth {
		return nil, &ConfigError{File: file, Message: fmt.Sprintf("values are nested more than %d deep", mostDepth)}
	}
	defer func() {
		if bug := recover(); bug != nil { // a bug of the library, brought out by a typing error
			root, err = nil, &ConfigError{File: file, Message: fmt.Sprintf("not YAML: %v", bug)}
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // a byte order mark, as some editors write
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	var docs []*ast.DocumentNode
	for _, d := range f.Docs {
		if d != nil && d.Body != nil {
			docs = append(docs, d)
		}
	}
	switch len(docs) {
	case 0:
		return nil, nil
	case 1:
		return treeOf(file, docs[0].Body, 0)
	}
	return nil, errorAt(file, docs[1].Body.GetToken(), "a second document")
}

// nesting is the greatest depth of brackets, and of dashes and question marks at the
// beginning of one line, quotes or not; the library takes quadratic time for it.
func nesting(text string) int {
	depth, marks, most := 0, 0, 0
	begin := true
	for _, r := range text {
		switch r {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '-', '?':
			if begin {
				marks++
			}
		case '\n', '\r':
			marks = 0
		}
		begin = strings.ContainsRune(" \t-?\n\r", r) && (begin || r == '\n' || r == '\r')
		most = max(most, depth, marks)
	}
	return most
}

// syntaxError adds its place to an error of the library.
func syntaxError(file string, err error) error {
	var placed interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &placed) {
		return errorAt(file, placed.GetToken(), firstLine(placed.GetMessage()))
	}
	return &ConfigError{File: file, Message: "not YAML: " + firstLine(err.Error())}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func errorAt(file string, t *token.Token, message string) *ConfigError {
	e := &ConfigError{File: file, Message: message}
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

// treeOf converts a tree of the library.
func treeOf(file string, n ast.Node, depth int) (*node, error) {
	t := n.GetToken()
	at := errorAt(file, t, "")
	out := &node{line: at.Line, column: at.Column}
	if depth > mostDepth {
		return nil, errorAt(file, t, "nested too deeply")
	}
	switch n := n.(type) {
	case *ast.NullNode:
		out.form = empty
	case *ast.StringNode:
		out.form, out.text = scalar, n.Value
	case *ast.LiteralNode:
		out.form, out.text = scalar, n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.form, out.text = scalar, t.Value
	case *ast.MappingNode:
		return mappingOf(file, out, n.Values, depth)
	case *ast.SequenceNode:
		out.form = sequence
		for _, v := range n.Values {
			item, err := treeOf(file, v, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
	default:
		return nil, errorAt(file, t, "anchors, aliases, tags and merges are not allowed in a configuration")
	}
	return out, nil
}

func mappingOf(file string, out *node, values []*ast.MappingValueNode, depth int) (*node, error) {
	out.form = mapping
	for i, v := range values {
		key, err := treeOf(file, v.Key, depth+1)
		if err != nil {
			return nil, err
		}
		if key.form != scalar {
			return nil, &ConfigError{File: file, Line: key.line, Column: key.column, Message: "a key is a word"}
		}
		value, err := treeOf(file, v.Value, depth+1)
		if err != nil {
			return nil, err
		}
		if value.line == 0 {
			value.line, value.column = key.line, key.column
		}
		if i == 0 {
			out.line, out.column = key.line, key.column
		}
		out.fields = append(out.fields, field{key, value})
	}
	return out, nil
}
