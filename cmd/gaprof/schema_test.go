package main

import (
	"strings"
	"testing"
)

// The published schemas are those of the code.
func TestSchemaFiles(t *testing.T) {
	for _, name := range schemaNames() {
		var b strings.Builder
		if err := printSchema(&b, name); err != nil {
			t.Fatal(err)
		}
		compareGolden(t, "../../docs/schema/"+name+"-1.json", b.String())
	}
}
