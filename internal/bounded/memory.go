package bounded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// TooMuch says that JSON would take more memory than there may be.
type TooMuch struct {
	Offset int64 // the byte of the text at which it is more
	Most   int64 // bytes that there may be
}

func (e *TooMuch) Error() string {
	return fmt.Sprintf("byte %d: decoded up to here, it takes more than %d bytes of memory", e.Offset, e.Most)
}

// Unmarshal is json.Unmarshal of a text into a value, unless that would take more than so
// many bytes of memory besides the text: then it is a *TooMuch, and nothing is decoded.
func Unmarshal(text []byte, into any, most int64) error {
	if _, err := Memory(text, into, most); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// What values take besides what their types say, in bytes. Slices grow by a quarter at a
// time or double, and what they have outgrown is garbage.
const (
	grown     = 2   // times the elements of a slice
	entryCost = 96  // an entry of a map, without its key and value
	mapCost   = 320 // a map with its first entries
	boxCost   = 32  // a value behind a pointer or an interface, at least
	deepest   = 200 // what is nested deeper than any type is only skipped
)

// Memory is how many bytes of memory a JSON text takes when it is decoded into a value, a
// pointer to which is into. It is an estimate that is rather too high, of one pass over the
// text without decoding anything; at most it is a *TooMuch. The text need not be valid.
func Memory(text []byte, into any, most int64) (int64, error) {
	m := meter{text: text, most: most, fields: make(map[reflect.Type][]field)}
	m.stack = append(m.stack, level{of: reflect.TypeOf(into).Elem()})
	for m.at < len(m.text) && m.bytes <= most {
		m.step()
	}
	if m.bytes > most {
		return m.bytes, &TooMuch{int64(m.at), most}
	}
	return m.bytes, nil
}

// meter goes over a text and adds up.
type meter struct {
	text   []byte
	at     int
	bytes  int64
	most   int64
	stack  []level // open lists and objects; the first is the whole
	below  int     // levels that are open beyond deepest
	fields map[reflect.Type][]field
}

// level is a list or an object that is open.
type level struct {
	of     reflect.Type // of the value; nil where nothing of it is kept
	next   reflect.Type // of the next value in it
	object bool
	isKey  bool // a string that comes next is a key
}

type field struct {
	name string
	of   reflect.Type
}

// step goes over one token.
func (m *meter) step() {
	c := m.text[m.at]
	m.at++
	switch c {
	case '{', '[':
		m.open(c == '{')
	case '}', ']':
		m.close()
	case ',':
		top := &m.stack[len(m.stack)-1]
		top.isKey = top.object
	case '"':
		m.quoted()
	case ' ', '\n', '\t', '\r', ':':
	default:
		m.pay(m.value(), 0)
		for m.at < len(m.text) && !endsWord(m.text[m.at]) {
			m.at++
		}
	}
}

// endsWord reports whether a number or a word ends before a byte.
func endsWord(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// value is the type of the value that begins here, nil where it is not kept.
func (m *meter) value() reflect.Type {
	top := &m.stack[len(m.stack)-1]
	switch {
	case m.below > 0:
		return nil
	case len(m.stack) == 1:
		return top.of
	}
	return top.next
}

// pay adds what a value of a type takes, with so many bytes of text of its own. What stands
// in a struct is part of it already, and costs what is behind it.
func (m *meter) pay(of reflect.Type, text int) {
	if of == nil {
		return
	}
	top := &m.stack[len(m.stack)-1]
	inStruct := top.of != nil && top.of.Kind() == reflect.Struct
	cost := int64(text)
	if !inStruct {
		cost += grown * int64(of.Size())
	}
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
		cost += max(boxCost, int64(of.Size()))
	}
	if of.Kind() == reflect.Interface || reads(of) {
		cost += boxCost
	}
	m.bytes += cost
}

// open begins a list or an object.
func (m *meter) open(object bool) {
	of := m.value()
	m.pay(of, 0)
	if len(m.stack) == deepest {
		m.below++
		return
	}
	for of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	l := level{of: of, object: object, isKey: object}
	switch {
	case of == nil:
	case of.Kind() == reflect.Interface || reads(of):
		l.next = reflect.TypeFor[any]()
		m.bytes += mapCost
	case of.Kind() == reflect.Slice || of.Kind() == reflect.Array || of.Kind() == reflect.Map:
		l.next = of.Elem()
	case of.Kind() != reflect.Struct:
		l.of = nil
	}
	m.stack = append(m.stack, l)
}

func (m *meter) close() {
	switch {
	case m.below > 0:
		m.below--
	case len(m.stack) > 1:
		m.stack = m.stack[:len(m.stack)-1]
	}
}

// quoted goes over a string, which may be a key.
func (m *meter) quoted() {
	from, end := m.at, endOfString(m.text, m.at)
	m.at = end + 1
	top := &m.stack[len(m.stack)-1]
	if m.below > 0 || !top.isKey {
		m.pay(m.value(), decoded(m.text[from:end]))
		return
	}
	top.isKey = false
	if top.of == nil {
		return
	}
	if top.of.Kind() == reflect.Struct {
		top.next = m.fieldOf(top.of, m.text[from:end])
		return
	}
	m.bytes += int64(decoded(m.text[from:end])) + entryCost
}

// endOfString is where the string that begins at i ends: at its quote, or with the text.
func endOfString(text []byte, i int) int {
	end := nextQuote(text, i)
	for {
		escape := bytes.IndexByte(text[i:end], '\\')
		if escape < 0 {
			return end
		}
		if i += escape + 2; i > end { // the quote was escaped
			i = min(i, len(text))
			end = nextQuote(text, i)
		}
	}
}

// nextQuote is where the next quote stands at i or after it, or the text ends.
func nextQuote(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '"'); n >= 0 {
		return i + n
	}
	return len(text)
}

// decoded is at most how many bytes a string has when it is decoded: each byte that is not
// UTF-8 becomes the three of U+FFFD.
func decoded(text []byte) int {
	if utf8.Valid(text) {
		return len(text)
	}
	return len(text) * utf8.RuneLen(utf8.RuneError)
}

// fieldOf is the type of the field of a struct that a key belongs to, nil for none.
func (m *meter) fieldOf(of reflect.Type, key []byte) reflect.Type {
	list, ok := m.fields[of]
	if !ok {
		list = fieldsOf(of)
		m.fields[of] = list
	}
	if bytes.IndexByte(key, '\\') >= 0 {
		var name string
		if json.Unmarshal(slices.Concat([]byte{'"'}, key, []byte{'"'}), &name) != nil {
			return nil
		}
		key = []byte(name)
	}
	for i := range list {
		if list[i].name == string(key) {
			return list[i].of
		}
	}
	for i := range list {
		if strings.EqualFold(list[i].name, string(key)) { // as encoding/json does
			return list[i].of
		}
	}
	return nil
}

// fieldsOf are the fields of a struct, with those of structs that are embedded in it.
func fieldsOf(of reflect.Type) []field {
	var list []field
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		list = append(list, field{name, f.Type})
	}
	return list
}

// reads reports whether a type reads JSON itself.
func reads(of reflect.Type) bool {
	return reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]())
}
