package tracefile

import (
	"errors"
	"io"
	"os"

	"github.com/gaprof/gaprof/internal/bounded"
)

// Text is the text of a plain file that is no trace, such as a report, whatever it is
// compressed with.
type Text struct {
	io.Reader       // ends with an *Error where a small file has far too much text
	Stored    int64 // bytes of the file

	file *os.File
}

// OpenText opens a plain file to read its text. Errors are *Error.
func OpenText(path string) (*Text, error) {
	f, info, err := bounded.Plain(path)
	if err != nil {
		return nil, inputError(path, err)
	}
	if err := bounded.Hollow(path, info); err != nil {
		return nil, errors.Join(inputError(path, err), f.Close())
	}
	c := &counter{r: f, total: info.Size()}
	in, err := unpack(c)
	if err != nil {
		_ = f.Close()
		return nil, &Error{File: path, Reason: err.Error(), Err: err}
	}
	g := newGrowing(path, in, c, nil)
	g.free = freeOther
	return &Text{g, info.Size(), f}, nil
}

// Close closes the file.
func (t *Text) Close() error { return t.file.Close() }
