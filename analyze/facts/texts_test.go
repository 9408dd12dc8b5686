package facts

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/memory"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
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

// filled returns a Rank in which no list is empty.
func filled() *Rank {
	r := &Rank{}
	fields(reflect.ValueOf(r).Elem(), "", func(string, reflect.Value) {})
	return r
}

// constantTexts are the texts in the facts that are constants of the program.
var constantTexts = []reflect.Type{
	reflect.TypeFor[steps.Source](),
	reflect.TypeFor[timeline.Site](),
	reflect.TypeFor[gradients.SyncPattern](),
	reflect.TypeFor[memory.Phase](),
	reflect.TypeFor[gradients.PassKind](),
	reflect.TypeFor[gradients.Place](),
	reflect.TypeFor[gradients.TokenPlace](),
	reflect.TypeFor[LossReduction](),
	reflect.TypeFor[Phase](),
	reflect.TypeFor[trace.Code](),
}

// Every text of a trace in the facts is copied: one of them would hold many others.
func TestEveryTextIsCopied(t *testing.T) {
	r := filled()
	n := 0
	texts := func(visit func(path string, v reflect.Value)) {
		fields(reflect.ValueOf(r).Elem(), "", func(path string, v reflect.Value) {
			if v.Kind() == reflect.String && !slices.Contains(constantTexts, v.Type()) {
				visit(path, v)
			}
		})
	}
	texts(func(_ string, v reflect.Value) {
		n++
		v.SetString(fmt.Sprint(n))
	})
	r.texts(func(s *string) { *s = "copied" })
	texts(func(path string, v reflect.Value) {
		if v.String() != "copied" {
			t.Errorf("%s: texts does not visit it", path)
		}
	})
	if n < 20 {
		t.Errorf("%d texts", n)
	}
}

// Facts hold no reference into a trace: no type in them could.
func TestFactsHoldNoTrace(t *testing.T) {
	seen := make(map[reflect.Type]bool)
	var walk func(ty reflect.Type, path string)
	walk = func(ty reflect.Type, path string) {
		if seen[ty] {
			return
		}
		seen[ty] = true
		switch ty.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(ty.Elem(), path+"[]")
		case reflect.Map, reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer:
			t.Errorf("%s is a %s: a value can be written down", path, ty)
		case reflect.Struct:
			switch ty {
			case reflect.TypeFor[trace.Trace](), reflect.TypeFor[trace.Event](), reflect.TypeFor[trace.Meta](),
				reflect.TypeFor[timeline.Index](), reflect.TypeFor[timeline.Rank](),
				reflect.TypeFor[timeline.Rows](), reflect.TypeFor[timeline.Device]():
				t.Errorf("%s is a %s", path, ty)
				return
			}
			for i := range ty.NumField() {
				walk(ty.Field(i).Type, path+"."+ty.Field(i).Name)
			}
		}
	}
	walk(reflect.TypeFor[Rank](), "Rank")
	if len(seen) < 40 {
		t.Errorf("%d types", len(seen))
	}
}
