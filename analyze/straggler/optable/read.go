package optable

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/gaprof/gaprof/internal/bounded"
)

// mostRows bounds what is read, at about 50 bytes a row: 2,000 workers with 80 operations in
// each of 100 steps.
const mostRows = 16_000_000

var errTooLong = fmt.Errorf("more than %d rows", mostRows)

// Error is a table that cannot be read.
type Error struct {
	File   string
	Offset int64 // bytes from the start of the file, -1 where the format does not tell
	Err    error
}

// Error names the file and the place.
func (e *Error) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s: at byte %d: %v", e.File, e.Offset, e.Err)
}

// Unwrap is the reason.
func (e *Error) Unwrap() error { return e.Err }

// magic begins and ends Parquet files.
var magic = []byte("PAR1")

// Read reads the table of a file. Errors are an *Error, or those of opening the file.
func Read(path string) (*Table, error) {
	f, info, err := bounded.Plain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := bounded.Hollow(path, info); err != nil {
		return nil, err
	}
	t, err := ReadFrom(f, info.Size())
	var bad *Error
	if errors.As(err, &bad) {
		bad.File = path
	}
	return t, err
}

// ReadFrom reads a table of size bytes.
func ReadFrom(in io.ReaderAt, size int64) (*Table, error) {
	first := make([]byte, len(magic))
	if n, _ := in.ReadAt(first, 0); n < len(magic) {
		return nil, &Error{Offset: int64(n), Err: errors.New("not an operation table: the file ends here")}
	}
	read := func() (*Table, error) { return readCSV(io.NewSectionReader(in, 0, size)) }
	if bytes.Equal(first, magic) {
		read = func() (*Table, error) { return readParquet(in, size) }
	}
	t, err := read()
	if err == nil && t.Len() == 0 {
		return nil, &Error{Offset: -1, Err: errors.New("a table without rows")}
	}
	return t, err
}
