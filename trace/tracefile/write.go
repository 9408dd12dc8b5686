package tracefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gaprof/gaprof/trace"
)

// WriteOptions say how to write.
type WriteOptions struct {
	Format string // one of Writable; empty: by the extension of the path
	Force  bool   // overwrite a file
}

// UnknownFormat says that no format to write is called so or has this extension.
type UnknownFormat struct{ Name string }

func (e *UnknownFormat) Error() string {
	return fmt.Sprintf("no format to write is called %q; there are %s", e.Name, strings.Join(Writable(), ", "))
}

// Encode writes t to w in the format called name, not compressed.
func Encode(w io.Writer, t *trace.Trace, name string) error {
	f, ok := writer("", name)
	if !ok {
		return &UnknownFormat{name}
	}
	return f.write(w, t)
}

// Write writes t to a file, compressed where path ends in .gz or .zst, as Create does.
// Errors are *Error and *UnknownFormat.
func Write(path string, t *trace.Trace, o WriteOptions) error {
	f, ok := writer(path, o.Format)
	if !ok && o.Format != "" {
		return &UnknownFormat{o.Format}
	}
	if !ok {
		return &UnknownFormat{filepath.Base(path)}
	}
	_, ext := compressionOf(path)
	return Create(path, o.Force, func(w io.Writer) error {
		return compress(w, ext, false, func(w io.Writer) error { return f.write(w, t) })
	})
}

// EncodeAs writes t to w as Write would to a file of some name.
func EncodeAs(w io.Writer, t *trace.Trace, name string) error { return encodeAs(w, t, name, false) }

// EncodeAsFast is EncodeAs with the compression at its fastest, as of EncodeFast.
func EncodeAsFast(w io.Writer, t *trace.Trace, name string) error { return encodeAs(w, t, name, true) }

func encodeAs(w io.Writer, t *trace.Trace, name string, fast bool) error {
	f, ok := writer(name, "")
	if !ok {
		return &UnknownFormat{filepath.Base(name)}
	}
	_, ext := compressionOf(name)
	return compress(w, ext, fast, func(w io.Writer) error { return f.write(w, t) })
}

// EncodeFast runs encode into w through the compression that a name ends in, at its fastest: for
// very many files, of which each is compressed once and read once.
func EncodeFast(w io.Writer, name string, encode func(io.Writer) error) error {
	_, ext := compressionOf(name)
	return compress(w, ext, true, encode)
}

// compress runs encode into w through the compression called ext.
func compress(w io.Writer, ext string, fast bool, encode func(io.Writer) error) error {
	var z io.WriteCloser
	switch ext {
	case ".gz":
		if fast {
			return compressFast(w, encode)
		}
		z = gzip.NewWriter(w)
	case ".zst":
		var err error
		if z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	default:
		return encode(w)
	}
	return errors.Join(encode(z), z.Close())
}

// fastest are compressors of very many files, which take more room than such a file.
var fastest = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // there is this level
	}
	return z
}}

// compressFast runs encode into w through gzip at its fastest.
func compressFast(w io.Writer, encode func(io.Writer) error) error {
	z := fastest.Get().(*gzip.Writer)
	defer fastest.Put(z)
	z.Reset(w)
	return errors.Join(encode(z), z.Close())
}

// Create makes a file of what encode writes. It appears when it is whole: it is written
// under another name beside it and renamed, so a failure leaves what was there. A file
// that exists is replaced only with force, and keeps its permissions. What is no file
// (/dev/null, a named pipe) is written to as it is. Errors are *Error.
func Create(path string, force bool, encode func(io.Writer) error) error {
	if err := Refused(path, force); err != nil {
		return err
	}
	write := writeFile
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		write = writeDevice
	}
	if err := write(path, encode); err != nil {
		return systemError(path, err)
	}
	return nil
}

// Refused says why Create would not write to path, without writing: it exists and force
// is false, it is a directory, or its directory is missing. It is an *Error or nil.
func Refused(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return &Error{File: path, Reason: "is a directory"}
	case err == nil && info.Mode().IsRegular() && !force:
		return &Error{File: path, Reason: "exists already", Err: fs.ErrExist}
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return systemError(path, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return systemError(path, err)
	}
	return nil
}

// writeDevice writes to what is not a file and must not be replaced by one.
func writeDevice(path string, encode func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(encode(f), f.Close())
}

func writeFile(path string, encode func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%08x", filepath.Base(path), rand.Uint32()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if old, statErr := os.Stat(path); statErr == nil {
		err = f.Chmod(old.Mode().Perm())
	}
	err = errors.Join(err, encode(f), f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}
