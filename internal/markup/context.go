package markup

import (
	"bytes"
	"strings"
)

// place is where in an HTML document the output stands: what was written so far, fed byte
// by byte, leads to a state.
type place struct {
	state   state
	element string // the tag that was opened last; the one whose text this is
	closing bool   // within </element
	name    string // of the attribute
	value   string // of the attribute, so far
	tail    []byte // the last bytes of a script, a style, a comment or a declaration
}

type state int

const (
	inText     state = iota
	afterLess        // <
	inTagName        // <na
	inTag            // <name
	inName           // <name attribute
	afterName        // <name attribute_
	beforeText       // <name attribute=
	inDouble         // <name attribute="
	inSingle         // <name attribute='
	inBare           // <name attribute=x
	inRaw            // <script> or <style>
	inPlain          // <title> or <textarea>: text without elements
	inBang           // <! of comments and declarations
)

// steps are what a byte does in each state.
var steps = [...]func(*place, byte){
	inText: (*place).text, afterLess: (*place).less, inTagName: (*place).tagName, inTag: (*place).tag,
	inName: (*place).attribute, afterName: (*place).named, beforeText: (*place).equals,
	inDouble: func(p *place, b byte) { p.quoted(b, '"') }, inSingle: func(p *place, b byte) { p.quoted(b, '\'') },
	inBare: (*place).bare, inRaw: (*place).raw, inPlain: (*place).raw, inBang: (*place).bang,
}

func (p *place) feed(text []byte) {
	for _, b := range text {
		steps[p.state](p, b)
	}
}

func space(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' || b == '\f' }

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func (p *place) text(b byte) {
	if b == '<' {
		p.state = afterLess
	}
}

func (p *place) less(b byte) {
	switch {
	case b == '!' || b == '?':
		p.state, p.tail = inBang, nil
	case b == '/':
		p.state, p.element, p.closing = inTagName, "", true
	case letter(b):
		p.state, p.element, p.closing = inTagName, strings.ToLower(string(b)), false
	case b != '<':
		p.state = inText
	}
}

func (p *place) tagName(b byte) {
	switch {
	case b == '>':
		p.content()
	case space(b) || b == '/':
		p.state = inTag
	default:
		p.element += strings.ToLower(string(b))
	}
}

func (p *place) tag(b byte) {
	switch {
	case b == '>':
		p.content()
	case !space(b) && b != '/':
		p.state, p.name, p.value = inName, strings.ToLower(string(b)), ""
	}
}

func (p *place) attribute(b byte) {
	switch {
	case b == '=':
		p.state = beforeText
	case b == '>':
		p.content()
	case space(b) || b == '/':
		p.state = afterName
	default:
		p.name += strings.ToLower(string(b))
	}
}

func (p *place) named(b byte) {
	if b == '=' {
		p.state = beforeText
		return
	}
	p.tag(b)
}

func (p *place) equals(b byte) {
	switch {
	case space(b):
	case b == '"':
		p.state = inDouble
	case b == '\'':
		p.state = inSingle
	case b == '>':
		p.content()
	default:
		p.state = inBare
	}
}

func (p *place) quoted(b, quote byte) {
	if b == quote {
		p.state = inTag
		return
	}
	p.value += string(b)
}

func (p *place) bare(b byte) {
	switch {
	case b == '>':
		p.content()
	case space(b):
		p.state = inTag
	}
}

// content is what begins after the > of a tag.
func (p *place) content() {
	p.state, p.tail = inText, nil
	if p.closing {
		return
	}
	switch p.element {
	case "script", "style":
		p.state = inRaw
	case "title", "textarea":
		p.state = inPlain
	}
}

// raw waits for the end of an element whose content has no elements.
func (p *place) raw(b byte) {
	if b == '>' || b == '/' || space(b) {
		if end := []byte("</" + p.element); bytes.HasSuffix(bytes.ToLower(p.tail), end) {
			p.state, p.closing = inTag, true
			p.tag(b)
			return
		}
	}
	p.keep(b)
}

// bang waits for the end of a comment or a declaration.
func (p *place) bang(b byte) {
	if comment := bytes.HasPrefix(p.tail, []byte("--")); b == '>' &&
		(!comment || len(p.tail) > 3 && bytes.HasSuffix(p.tail, []byte("--"))) {
		p.state = inText
		return
	}
	p.keep(b)
}

// kept is how many bytes of a text are remembered: more than the longest end of one.
const kept = 16

// keep remembers the last bytes, and of comments the first two.
func (p *place) keep(b byte) {
	p.tail = append(p.tail, b)
	if len(p.tail) <= 4*kept {
		return
	}
	first := 0
	if p.state == inBang {
		first = 2
	}
	p.tail = append(p.tail[:first], p.tail[len(p.tail)-kept:]...)
}
