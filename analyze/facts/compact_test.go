package facts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gaprof/gaprof/trace"
)

// fields walks everything that a value holds and calls visit for what cannot be walked
// into, with the names on the way there. Traces are not walked into.
func fields(v reflect.Value, path string, visit func(path string, v reflect.Value)) {
	if v.CanAddr() { // unexported fields, too
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	switch {
	case v.Type() == reflect.TypeFor[*trace.Trace]():
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fields(v.Elem(), path, visit)
	case v.Kind() == reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			fields(v.Index(i), path+"[]", visit)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			fields(v.Index(i), path+"[]", visit)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fields(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	default:
		visit(path, v)
	}
}

// filled returns a Rank in which no list is empty, without what release lets go of.
func filled() *Rank {
	r := &Rank{}
	fields(reflect.ValueOf(r).Elem(), "", func(string, reflect.Value) {})
	r.release()
	return r
}

// scratch are the fields that release empties: filling them again would only test
// the test.
func scratch(r *Rank, path string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "."), "[")
	v := reflect.ValueOf(r).Elem().FieldByName(name)
	return v.Kind() == reflect.Slice && v.Len() == 0
}

// Every int32 in the facts is the number of a row, and eachRow knows it: a field that
// it forgets would name another row once the trace is compacted.
func TestEveryRowIsRenumbered(t *testing.T) {
	r, empty := filled(), filled()
	row := int32(0)
	fields(reflect.ValueOf(r).Elem(), "", func(path string, v reflect.Value) {
		if v.Type() == reflect.TypeFor[int32]() && !scratch(empty, path) {
			row++
			v.SetInt(int64(row))
		}
	})
	visits := make([]int, row+1)
	r.eachRow(func(n *int32) {
		visits[*n]++
		*n = -*n
	})
	found := 0
	fields(reflect.ValueOf(r).Elem(), "", func(path string, v reflect.Value) {
		switch {
		case scratch(empty, path):
		case v.Type() == reflect.TypeFor[int32]():
			found++
			if n := v.Int(); n >= 0 || visits[-n] != 1 {
				t.Errorf("%s: eachRow does not visit it, or more than once", path)
			}
		case v.Type() == reflect.TypeFor[launched]():
			t.Errorf("%s holds rows and outlives release", path)
		}
	})
	if found != int(row) || found < 20 {
		t.Errorf("%d rows of %d", found, row)
	}
}

// constantTexts are the texts in the facts that are constants of this package.
var constantTexts = []reflect.Type{
	reflect.TypeFor[StepSource](), reflect.TypeFor[Site](), reflect.TypeFor[SyncPattern](), reflect.TypeFor[PassKind](),
	reflect.TypeFor[Place](), reflect.TypeFor[TokenPlace](), reflect.TypeFor[LossReduction](), reflect.TypeFor[trace.Code](),
}

// Every text of a trace in the facts is copied: one of them would hold many others.
func TestEveryTextIsCopied(t *testing.T) {
	r, empty := filled(), filled()
	n := 0
	fields(reflect.ValueOf(r).Elem(), "", func(path string, v reflect.Value) {
		if v.Kind() == reflect.String && !scratch(empty, path) && !slices.Contains(constantTexts, v.Type()) {
			n++
			v.SetString(fmt.Sprint(n))
		}
	})
	r.eachText(func(s *string) { *s = "copied" })
	fields(reflect.ValueOf(r).Elem(), "", func(path string, v reflect.Value) {
		if v.Kind() == reflect.String && !scratch(empty, path) && !slices.Contains(constantTexts, v.Type()) && v.String() != "copied" {
			t.Errorf("%s: eachText does not visit it", path)
		}
	})
	if n < 20 {
		t.Errorf("%d texts", n)
	}
}
