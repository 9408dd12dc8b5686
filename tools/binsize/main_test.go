package main

import (
	"fmt"
	"testing"
)

func TestLargest(t *testing.T) {
	got := largest([]byte(`  1000  300 T github.com/a/b/c.(*T).F
  1000  100 r type:*github.com/a/b.T[example.org/x/y.Z]
  1000  50 D runtime.x
  1000  900 B big.zeros
  1000   33554432 D crypto/internal.memory
`), 5)
	if s := fmt.Sprint(got); s != "[{github.com/a/b 400} {runtime 50}]" {
		t.Error(s)
	}
}

func TestKeepers(t *testing.T) {
	got := keepers([]byte(`# linker
main.main -> main.run
main.run -> text/template.walk <UsedInIface>
text/template.walk -> text/template.evalField <ReflectMethod>
main.run -> text/template.evalField <ReflectMethod>
fmt.x -> reflect.Value.Method <ReflectMethod>
`))
	if s := fmt.Sprint(got); s != "[[text/template.evalField text/template.walk main.run main.main]]" {
		t.Error(s)
	}
}
