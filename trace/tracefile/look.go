package tracefile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/gaprof/gaprof/internal/bounded"
)

// marks are words of which a trace holds one in its first bytes.
var marks = []string{`"traceEvents"`, `"schemaVersion"`, `"deviceProperties"`, `"distributedInfo"`, `"ph"`}

// mayBeTrace reports whether a file that was found, not named, looks like a trace.
// What is empty or cannot be read does, so that reading it says why.
func mayBeTrace(path string) bool {
	buf := heads.Get().(*[headBytes]byte)
	defer heads.Put(buf)
	head, err := headOf(path, buf[:])
	if what := (*bounded.Error)(nil); errors.As(err, &what) {
		return false // no plain file
	}
	if len(head) == 0 || err != nil && err != io.EOF {
		return true
	}
	format, ok := sniff(head)
	if !ok || format.name != "chrome" {
		return ok
	}
	for _, m := range marks {
		if bytes.Contains(head, []byte(m)) {
			return true
		}
	}
	return false
}

// headBytes is how much of a file is looked at.
const headBytes = 64 << 10

// heads are buffers for the first bytes of files.
var heads = sync.Pool{New: func() any { return new([headBytes]byte) }}

// headOf is the first bytes of a file's text, in buf where it is not compressed.
func headOf(path string, buf []byte) (head []byte, err error) {
	f, info, err := bounded.Plain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf[:min(int64(len(buf)), info.Size())])
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	if head = buf[:n]; !isCompressed(head) {
		return head, err
	}
	in, err := unpack(&counter{r: io.MultiReader(bytes.NewReader(bytes.Clone(head)), f)})
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(in, headBytes).Peek(headBytes)
}

// isCompressed reports whether text begins as one of the compressions does.
func isCompressed(text []byte) bool {
	return slices.ContainsFunc(compressions, func(c compression) bool { return bytes.HasPrefix(text, []byte(c.magic)) })
}
