package bounded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Limit is how much is read of a file, and what messages call it.
type Limit struct {
	What  string // what the file is, with its article: a configuration
	Bytes int64  // it has at most
	Hint  string // what to do with one that has more; may be empty
	Pipes bool   // a pipe is read as well, for as long as its writer writes
}

// Error says why a file is not read, or not any further.
type Error struct {
	File   string // as the caller named it
	Offset int64  // the byte up to which it was read
	Reason string // what is wrong, without the name of the file
	Hint   string // what can be done; may be empty
	Err    error  // the cause; may be nil
}

func (e *Error) Error() string {
	if e.Offset > 0 {
		return fmt.Sprintf("%s: byte %d: %s", e.File, e.Offset, e.Reason)
	}
	return e.File + ": " + e.Reason
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// File is an open file of which no more than its limit is read.
type File struct {
	name  string
	limit Limit
	from  io.Reader
	file  *os.File
	size  int64
	read  int64
}

// Open opens a plain file, or a pipe where the limit says so; never a device, a directory or a
// socket, which have no end or no bytes. Links are followed. A plain file that is too large
// is refused at once, one that grows as soon as it has grown too far. Errors are *Error,
// but for fs.ErrNotExist and the like of the system, which are *fs.PathError.
func Open(name string, l Limit) (*File, error) {
	f, info, err := open(name, l.Pipes)
	if err != nil {
		return nil, err
	}
	b := &File{name: name, limit: l, from: f, file: f}
	if isPipe(info.Mode()) {
		b.from = newPipe(name, f)
		return b, nil
	}
	if b.size = info.Size(); b.size > l.Bytes {
		_ = f.Close()
		return nil, b.tooLarge(0, fmt.Sprintf("has %d bytes", b.size))
	}
	return b, nil
}

// Size is the size of the file when it was opened, in bytes; 0 for a pipe.
func (f *File) Size() int64 { return f.size }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Read reads up to the limit. What lies beyond is an *Error.
func (f *File) Read(p []byte) (int, error) {
	left := f.limit.Bytes - f.read
	if int64(len(p)) > left+1 {
		p = p[:left+1] // one more tells whether there is more
	}
	n, err := f.from.Read(p)
	if int64(n) > left {
		f.read += left
		return int(left), f.tooLarge(f.read, "goes on")
	}
	f.read += int64(n)
	return n, err
}

// tooLarge is the error of a file that has more than its limit.
func (f *File) tooLarge(offset int64, how string) *Error {
	reason := fmt.Sprintf("%s, and %s has at most %d bytes", how, f.limit.What, f.limit.Bytes)
	return &Error{File: f.name, Offset: offset, Reason: reason, Hint: f.limit.Hint}
}

// ReadFile is what a file holds. Errors are those of Open and Read.
func ReadFile(name string, l Limit) (data []byte, err error) {
	f, err := Open(name, l)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Plain opens a plain file of any size, for those who read it piece by piece.
// Errors are those of Open.
func Plain(name string) (*os.File, fs.FileInfo, error) { return open(name, false) }

// open opens a plain file, or a pipe. What stands there is looked at before it is opened,
// because to open a device or a pipe does something, and again afterwards, because
// somebody may have put another in its place.
func open(name string, pipes bool) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err == nil {
		err = refused(name, info.Mode(), pipes)
	}
	var missing *fs.PathError
	if errors.As(err, &missing) {
		missing.Op = "open"
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = refused(name, info.Mode(), pipes)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// A file may be mostHollow times as large as what is stored of it, where it is large at all:
// one that compresses well on a file system that does so is not.
const (
	mostHollow = 400
	freeHoles  = 256 << 20 // bytes
)

// Hollow is the error of a large file of which next to nothing is stored: the rest is holes,
// which take no room but time to read. It is nil for any other.
func Hollow(name string, info fs.FileInfo) error {
	stored, known := storedOf(info)
	if !known || info.Size() <= freeHoles || info.Size()/mostHollow <= stored {
		return nil
	}
	reason := fmt.Sprintf("is hollow: of %d bytes %d are stored", info.Size(), stored)
	return &Error{File: name, Reason: reason, Hint: "copy it, and see whether it was written to the end"}
}

func isPipe(mode fs.FileMode) bool { return mode&fs.ModeNamedPipe != 0 }

// others are what a name may lead to that is no plain file.
var others = []struct {
	mode fs.FileMode
	what string
}{
	{fs.ModeDir, "is a directory"},
	{fs.ModeSymlink, "is a link"},
	{fs.ModeNamedPipe, "is a pipe"},
	{fs.ModeSocket, "is a socket"},
	{fs.ModeDevice, "is a device"},
}

// refused is the error of what is no plain file, and no pipe where one may be.
func refused(name string, mode fs.FileMode, pipes bool) error {
	if mode.IsRegular() || pipes && isPipe(mode) {
		return nil
	}
	return &Error{File: name, Reason: What(mode) + ", not a plain file", Hint: "copy what it holds to a file"}
}

// What says what is there: is a directory, is a link.
func What(mode fs.FileMode) string {
	if mode.IsRegular() {
		return "is a file"
	}
	for _, o := range others {
		if mode&o.mode != 0 {
			return o.what
		}
	}
	return "is neither a file nor a directory"
}
