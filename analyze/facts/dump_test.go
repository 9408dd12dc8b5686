package facts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// dump writes a value in words: what is zero is left out, what fits on a line is on one.
func dump(v any) string {
	var b strings.Builder
	dumpInto(&b, "", "", reflect.ValueOf(v))
	return b.String()
}

const dumpWidth = 118

func dumpInto(b *strings.Builder, indent, name string, v reflect.Value) {
	if line := inline(v); len(indent)+len(name)+1+len(line) <= dumpWidth {
		fmt.Fprintf(b, "%s%s %s\n", indent, name, line)
		return
	}
	fmt.Fprintf(b, "%s%s\n", indent, name)
	indent += " "
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		dumpInto(b, indent, "", v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				dumpInto(b, indent, v.Type().Field(i).Name, v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			dumpInto(b, indent, fmt.Sprint(i), v.Index(i))
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			dumpInto(b, indent, inline(key), v.MapIndex(key))
		}
	default:
		fmt.Fprintf(b, "%s%s\n", indent, inline(v))
	}
}

// inline is a value on one line.
func inline(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return inline(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				parts = append(parts, v.Type().Field(i).Name+" "+inline(v.Field(i)))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			parts = append(parts, inline(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			parts = append(parts, inline(key)+": "+inline(v.MapIndex(key)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	case reflect.Func:
		return "func"
	}
	return fmt.Sprint(v)
}

func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(inline(a), inline(b)) })
	return keys
}
