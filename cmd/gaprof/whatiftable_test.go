package main

import (
	"bytes"
	"testing"
)

// The schema of the result of an operation table is a file that others read.
func TestStragglerSchema(t *testing.T) {
	var b bytes.Buffer
	if err := printSchema(&b, "straggler"); err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "../../docs/schema/straggler-1.json", b.String())
}
