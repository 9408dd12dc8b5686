package tracefile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// Options say how to read.
type Options struct {
	KeepArgs bool      // keep all arguments, for writing; else those that analyses ask for
	Strict   bool      // damage is an error
	Stdin    io.Reader // read for the path Stdin
	// Progress is told the bytes read so far of the file as it is stored, and
	// their number in all, 0 where that is not known. It may be called from
	// another goroutine, but by one at a time.
	Progress func(done, total int64)
	// Grow is told how long a text has become whose length is not known for certain,
	// before it is read on, and the density of its format, as in Size. Its error ends
	// reading and is what Read returns. It is called by one goroutine at a time, not
	// always the caller's.
	Grow func(text int64, density float64) error
	// Tables is told now and then how many bytes of memory reading takes. Its error ends
	// reading and is what Read returns. It is called by the caller's goroutine.
	Tables func(bytes int64) error
	Reach  int // bytes that one event may span, 0 for the default of the format
	// Waiting is told, from another goroutine, that opening a named pipe waits for somebody
	// who writes to it.
	Waiting func()
	// Panicked is told, by the caller's goroutine, of goroutines that read ahead and
	// panicked: how many, and what the first of them said. What they had was read again,
	// so the traces are right, but each is a fault of this program.
	Panicked func(workers int64, first string)
	Alone    bool // read a large file on one core, because the others have work
}

// Stdin is the path that means standard input.
const Stdin = "-"

// Read reads the traces in the file at path, one or more: a file may hold several
// documents. Errors are *Error and *trace.FormatError.
func Read(path string, o Options) ([]*trace.Trace, error) {
	if path == Stdin {
		if o.Stdin == nil {
			return nil, &Error{File: path, Reason: "there is no standard input"}
		}
		return readStream(o.Stdin, "stdin", 0, o)
	}
	f, err := open(path, o.Waiting)
	if err != nil {
		return nil, systemError(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, systemError(path, err)
	}
	if info.IsDir() {
		return nil, &Error{File: path, Reason: "is a directory"}
	}
	if !info.Mode().IsRegular() {
		return readStream(f, path, 0, o)
	}
	if err := bounded.Hollow(path, info); err != nil {
		return nil, inputError(path, err)
	}
	return readStream(f, path, info.Size(), o)
}

// headSize is how much of the text is looked at to tell its format.
const headSize = 4 << 10

// readStream reads traces from r, which holds size bytes (0: unknown).
func readStream(r io.Reader, file string, size int64, o Options) ([]*trace.Trace, error) {
	c := &counter{r: r, total: size, progress: o.Progress}
	in, err := unpack(c)
	if err != nil {
		return nil, &Error{File: file, Reason: err.Error(), Err: err}
	}
	head, err := in.Peek(headSize)
	if len(head) == 0 {
		return nil, nothing(file, in, err)
	}
	f, ok := sniff(head)
	if !ok {
		return nil, unknown(file, head)
	}
	src := newSource(file, in, c, o)
	defer src.close()
	if src.growing != nil {
		src.growing.density = f.density
	}
	traces, err := f.read(src, o)
	if refused := src.refused(); refused != nil {
		return nil, refused
	}
	return traces, err
}

// nothing explains an input without a single byte.
func nothing(file string, in *input, err error) *Error {
	e := &Error{File: file, Reason: "is empty", Hint: "did the profiler finish writing it?", Err: err}
	switch {
	case err != nil && err != io.EOF:
		e.Reason = err.Error()
	case in.layers != "":
		e.Reason = "holds nothing but an empty " + in.layers + " stream"
	}
	return e
}

// foreign are inputs that people pass by mistake, by their first bytes.
var foreign = []struct{ magic, what, hint string }{
	{"\x89PNG", "a PNG image", ""},
	{"\xff\xd8\xff", "a JPEG image", ""},
	{"GIF8", "a GIF image", ""},
	{"%PDF", "a PDF document", ""},
	{"\x7fELF", "an ELF binary", ""},
	{"PK\x03\x04", "a zip archive", "unpack it first"},
	{"BZh", "a bzip2 file", "unpack it first"},
	{"7z\xbc\xaf", "a 7z archive", "unpack it first"},
	{"\xfd7zXZ", "an xz file", "unpack it first"},
	{"SQLite format 3", "an SQLite database", "export a Chrome trace from the profiler instead"},
	{"\xff\xfe", "UTF-16 text", "save it as UTF-8"},
	{"\xfe\xff", "UTF-16 text", "save it as UTF-8"},
	{"<", "HTML or XML", "was it downloaded from a page that asks for a login?"},
}

// tarMark is where an archive of tar says that it is one.
const tarMark = 257

// unknown explains an input that no format recognises.
func unknown(file string, head []byte) *Error {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &Error{File: file, Reason: "is " + f.what + ", not a trace", Hint: f.hint}
		}
	}
	if len(head) > tarMark && bytes.HasPrefix(head[tarMark:], []byte("ustar")) {
		return &Error{File: file, Reason: "is a tar archive, not a trace", Hint: "unpack it first"}
	}
	const hint = "expected the JSON that torch.profiler writes, plain or compressed by gzip or zstd"
	if bytes.IndexByte(head, 0) >= 0 {
		return &Error{File: file, Reason: "is binary data, not a trace", Hint: hint}
	}
	reason := fmt.Sprintf("is not a trace; it starts with %q", head[:min(len(head), 20)])
	return &Error{File: file, Reason: reason, Hint: hint}
}
