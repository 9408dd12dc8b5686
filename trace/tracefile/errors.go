package tracefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
)

// Error says that an input or output could not be opened, recognised or written.
type Error struct {
	File   string // as the user names it
	Reason string // what is wrong, without the name of the file
	Hint   string // what the user can do; may be empty
	Err    error  // the cause; may be nil
}

func (e *Error) Error() string { return e.File + ": " + e.Reason }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// systemError puts an error of the file system in words.
func systemError(file string, err error) *Error {
	e := &Error{File: file, Err: err}
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Reason = "no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		e.Reason = "permission denied"
	case errors.As(err, &path):
		e.Reason = path.Err.Error()
	default:
		e.Reason = err.Error()
	}
	return e
}

// inputError puts an error of package bounded, or of the file system, in words.
func inputError(file string, err error) *Error {
	var limit *bounded.Error
	if !errors.As(err, &limit) {
		return systemError(file, err)
	}
	reason := strings.TrimPrefix(limit.Error(), limit.File+": ")
	return &Error{File: file, Reason: reason, Hint: limit.Hint, Err: err}
}

// damage is the end of a compressed stream that is not its end.
type damage struct {
	kind   string // "gzip" or "zstd"
	offset int64  // in the compressed bytes
	err    error
}

func (d *damage) Error() string {
	if errors.Is(d.err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("%s stream ends early at compressed byte %d", d.kind, d.offset)
	}
	return fmt.Sprintf("%s stream is damaged at compressed byte %d: %v", d.kind, d.offset, d.err)
}

func (d *damage) Unwrap() error { return d.err }
