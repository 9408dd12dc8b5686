package markup

import (
	"cmp"
	"fmt"
	"reflect"
)

// functions are those that templates may call.
var functions = map[string]func([]reflect.Value) reflect.Value{
	"and":    func(args []reflect.Value) reflect.Value { return until(args, false) },
	"or":     func(args []reflect.Value) reflect.Value { return until(args, true) },
	"not":    func(args []reflect.Value) reflect.Value { return reflect.ValueOf(!truth(only(args, 1)[0])) },
	"len":    func(args []reflect.Value) reflect.Value { return reflect.ValueOf(length(only(args, 1)[0])) },
	"index":  func(args []reflect.Value) reflect.Value { return index(args) },
	"printf": func(args []reflect.Value) reflect.Value { return printf(args) },
	"eq":     equal,
	"ne":     func(args []reflect.Value) reflect.Value { return reflect.ValueOf(compare(args) != 0) },
	"lt":     func(args []reflect.Value) reflect.Value { return reflect.ValueOf(compare(args) < 0) },
	"le":     func(args []reflect.Value) reflect.Value { return reflect.ValueOf(compare(args) <= 0) },
	"gt":     func(args []reflect.Value) reflect.Value { return reflect.ValueOf(compare(args) > 0) },
	"ge":     func(args []reflect.Value) reflect.Value { return reflect.ValueOf(compare(args) >= 0) },
}

// only checks the number of arguments.
func only(args []reflect.Value, n int) []reflect.Value {
	if len(args) != n {
		fail("%d arguments, not %d", len(args), n)
	}
	return args
}

// until is the first argument whose truth is as wanted, else the last one.
func until(args []reflect.Value, wanted bool) reflect.Value {
	for _, a := range args {
		if truth(a) == wanted {
			return a
		}
	}
	return args[len(args)-1]
}

func length(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Invalid:
		return 0
	case reflect.Slice, reflect.Array, reflect.Map, reflect.String:
		return v.Len()
	}
	fail("len of %s", v.Type())
	return 0
}

func index(args []reflect.Value) reflect.Value {
	v, at := only(args, 2)[0], args[1]
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		return settled(v.Index(int(at.Int())))
	case reflect.Map:
		return settled(v.MapIndex(at))
	}
	fail("index of %s", v.Kind())
	return v
}

func printf(args []reflect.Value) reflect.Value {
	if len(args) == 0 || args[0].Kind() != reflect.String {
		fail("printf without a format")
	}
	values := make([]any, len(args)-1)
	for i, a := range args[1:] {
		values[i] = a.Interface()
	}
	return reflect.ValueOf(fmt.Sprintf(args[0].String(), values...))
}

// equal reports whether the first argument is one of the others.
func equal(args []reflect.Value) reflect.Value {
	if len(args) < 2 {
		fail("eq needs two values")
	}
	for _, a := range args[1:] {
		if compare([]reflect.Value{args[0], a}) == 0 {
			return reflect.ValueOf(true)
		}
	}
	return reflect.ValueOf(false)
}

// compare orders two values of one kind: numbers, texts or truths.
func compare(args []reflect.Value) int {
	a, b := only(args, 2)[0], args[1]
	switch {
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.Kind() == reflect.Bool && b.Kind() == reflect.Bool:
		if a.Bool() == b.Bool() {
			return 0
		}
		return 1
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	}
	return cmp.Compare(number(a), number(b))
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	fail("%s cannot be compared with the other value", v.Kind())
	return 0
}
