//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// counting are the numbers of an event that go on from one recording to the next.
var counting = regexp.MustCompile(
	`("ts": |"External id": |"correlation": |"id": |"Sequence number": |"Ev Idx": )([0-9]+)`)

// recordedFile writes the steps of a real recording of 10 MB several times into one file,
// a second apart and with ids that go on, as a longer recording has them. It is empty
// where ../shared is not here.
func recordedFile(b *testing.B, times int) (path string, size int64) {
	b.Helper()
	const source = "../../../shared/traces/gpu/nanogpt-hook.json.gz"
	if _, err := os.Stat(source); err != nil {
		return "", 0
	}
	r, done := unpacked(b, source)
	defer done()
	text, err := io.ReadAll(r)
	must(b, err)
	list := []byte(`"traceEvents": [`)
	first, last := bytes.Index(text, list)+len(list), bytes.LastIndexByte(text, ']')
	path = filepath.Join(b.TempDir(), "recorded.json")
	f, err := os.Create(path)
	must(b, err)
	defer f.Close()
	write := func(part []byte) { n, err := f.Write(part); must(b, err); size += int64(n) }
	write(text[:first])
	for i := range int64(times) {
		if i > 0 {
			write([]byte(","))
		}
		write(counting.ReplaceAllFunc(text[first:last], func(number []byte) []byte { return goOn(number, i) }))
	}
	write(text[last:])
	return path, size
}

// goOn is a number of the recording in its copy i.
func goOn(number []byte, i int64) []byte {
	k := bytes.LastIndexByte(number, ' ') + 1
	n, err := strconv.ParseInt(string(number[k:]), 10, 64)
	step := int64(100_000)
	switch {
	case err != nil || n == 0: // no id
		return number
	case bytes.HasPrefix(number, []byte(`"ts"`)):
		step = 1e6
	}
	return fmt.Appendf(nil, "%s%d", number[:k], n+i*step)
}
