package markup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// write writes a value, made safe for the place where it stands.
func (x *execution) write(v reflect.Value) {
	p := &x.place
	switch p.state {
	case inText:
		x.out.WriteString(inElement(v))
	case inPlain:
		x.out.WriteString(escaped(textOf(v)))
	case inDouble, inSingle:
		x.out.WriteString(p.inAttribute(v))
		p.value += "x" // there is something before what follows
	case inRaw:
		x.out.WriteString(p.inRaw(v))
		p.tail = append(p.tail, 'x')
	default:
		fail("a value within a tag, a comment or an attribute without quotes, after %.40q", ending(&x.out))
	}
}

func ending(b *bytes.Buffer) string {
	return string(b.Bytes()[max(0, b.Len()-40):])
}

// special are the characters that mean something in HTML. A plus is among them for the
// sake of old browsers, as in html/template.
var special = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;",
	"<", "&lt;", ">", "&gt;")

func escaped(s string) string { return special.Replace(s) }

// textOf is a value as text.
func textOf(v reflect.Value) string {
	switch {
	case !v.IsValid():
		return ""
	case v.Kind() == reflect.String:
		return v.String()
	}
	return fmt.Sprint(v.Interface())
}

// is reports whether a value has one of the types that are written as they are.
func is[T any](v reflect.Value) bool { return v.IsValid() && v.Type() == reflect.TypeFor[T]() }

func inElement(v reflect.Value) string {
	if is[HTML](v) {
		return v.String()
	}
	return escaped(textOf(v))
}

// addresses are the attributes that browsers follow.
var addresses = []string{"action", "background", "cite", "data", "formaction", "href", "longdesc", "manifest", "ping",
	"poster", "src", "srcset", "xlink:href"}

func (p *place) inAttribute(v reflect.Value) string {
	switch name := p.name; {
	case strings.HasPrefix(name, "on") || name == "style" || name == "srcdoc" || name == "http-equiv":
		fail("a value within the attribute %s, which browsers execute", name)
	case slices.Contains(addresses, name) && p.value == "" && !is[URL](v) && !harmless(textOf(v)):
		return "#"
	}
	return escaped(textOf(v))
}

// harmless reports whether an address leads to a page, not to a script.
func harmless(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return true
	}
	return slices.Contains([]string{"http", "https", "mailto"}, strings.ToLower(scheme))
}

// inRaw is a value within a style or a script: in a script what is not JS is JSON, which
// stands where an expression may stand.
func (p *place) inRaw(v reflect.Value) string {
	if p.element == "style" {
		if !is[CSS](v) {
			fail("a value within a style sheet that is not CSS")
		}
		return v.String()
	}
	if is[JS](v) {
		return v.String()
	}
	before := bytes.TrimRight(p.tail, " \n\t")
	if len(before) > 0 && !bytes.ContainsAny(before[len(before)-1:], "=([{,:;?&|") {
		fail("a value within a script after %q, where no expression begins", before[len(before)-1:])
	}
	if !v.IsValid() {
		return "null"
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		fail("a value within a script: %w", err)
	}
	return string(text)
}
