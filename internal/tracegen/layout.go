package tracegen

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// field is a member of an object: a key and the JSON text of its value.
type field struct{ key, value string }

// event is one entry of the event list; args may be empty.
type event struct{ fields, args []field }

// layout appends an event, without the comma behind it, in one way of writing JSON.
type layout func(out []byte, e event) []byte

// kineto writes an event over several lines, as Kineto does: readers that are fast owe it
// to the fact that each event of a kind is laid out like the one before.
func kineto(out []byte, e event) []byte {
	out = append(out, "\n  {\n    "...)
	for i, f := range e.fields {
		if i > 0 {
			out = append(out, ',')
			if f.key == "ts" {
				out = append(out, "\n    "...)
			} else {
				out = append(out, ' ')
			}
		}
		out = member(out, f, ": ")
	}
	if len(e.args) > 0 {
		out = append(out, ",\n    \"args\": {\n      "...)
		for i, f := range e.args {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = member(out, f, ": ")
		}
		out = append(out, "\n    }"...)
	}
	return append(out, "\n  }"...)
}

// member writes a key and its value, colon between them.
func member(out []byte, f field, colon string) []byte {
	out = append(append(append(out, '"'), f.key...), '"')
	return append(append(out, colon...), f.value...)
}

// dense writes an event without any white space, as traces are that went through a tool.
func dense(out []byte, e event) []byte {
	start := len(out)
	out = kineto(out, e)
	var b bytes.Buffer
	if err := json.Compact(&b, out[start:]); err != nil {
		panic(fmt.Sprintf("tracegen wrote no JSON: %v", err)) // a bug of this package
	}
	return append(out[:start], b.Bytes()...)
}

// indented writes an event with one value a line, as json.tool and editors leave it.
func indented(out []byte, e event) []byte {
	start := len(out)
	out = kineto(out, e)
	var b bytes.Buffer
	b.WriteString("\n    ")
	if err := json.Indent(&b, out[start:], "    ", "  "); err != nil {
		panic(fmt.Sprintf("tracegen wrote no JSON: %v", err)) // a bug of this package
	}
	return append(out[:start], b.Bytes()...)
}

// micros is a time as Kineto writes it: microseconds with three digits behind the point.
func micros(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

func quote(s string) string { return `"` + s + `"` }

func num(n int) string { return fmt.Sprint(n) }
