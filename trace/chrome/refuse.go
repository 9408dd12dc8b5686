package chrome

import (
	"bytes"
	"fmt"

	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// magics are the heads of files that are given to trace readers by mistake.
var magics = []struct{ head, what string }{
	{"\x89PNG", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"%PDF", "a PDF document"},
	{"PK\x03\x04", "a zip archive"},
	{"\x1f\x8b", "gzip data"},
	{"\x28\xb5\x2f\xfd", "zstd data"},
	{"\x7fELF", "a program"},
	{"<!", "an HTML or XML page"},
	{"<html", "an HTML page"},
	{"<?xml", "an XML document"},
	{"\xff\xfe", "UTF-16 text"},
	{"\xfe\xff", "UTF-16 text"},
}

// notJSON says what an input is that begins with head, which is no JSON trace.
func notJSON(head []byte) string {
	lower := bytes.ToLower(head[:min(len(head), 16)])
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.head)) || bytes.HasPrefix(lower, []byte(m.head)) {
			return "not a JSON trace but " + m.what
		}
	}
	return fmt.Sprintf("not a JSON trace: it begins with %q", scan.Cut(head, 16))
}
