package tracefile

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gaprof/gaprof/internal/bounded"
)

// Size is what can be told of a file before it is read.
type Size struct {
	Stored int64 // bytes of the file; 0 for what is no regular file
	Text   int64 // bytes after decompression; a guess where the file is compressed, 0 unknown
	Plain  bool  // it is not compressed: Text is exact

	// Density is how many bytes of memory a byte of text takes at most, while it is read
	// and analysed. It is that of the file's format, or the greatest of all where the file
	// is no trace or cannot be looked at before it is read.
	Density float64
}

// Measure looks at the ends of a file. Errors are *Error.
func Measure(path string) (Size, error) {
	s := Size{Density: densest()}
	if path == Stdin {
		return s, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return s, systemError(path, err)
	}
	if !info.Mode().IsRegular() {
		return s, nil
	}
	f, info, err := bounded.Plain(path)
	if err != nil {
		return s, inputError(path, err)
	}
	defer f.Close()
	if err := bounded.Hollow(path, info); err != nil {
		return s, inputError(path, err)
	}
	s.Stored = info.Size()
	buf := heads.Get().(*[headBytes]byte)
	defer heads.Put(buf)
	n, _ := f.ReadAt(buf[:min(headSize, s.Stored)], 0)
	head := buf[:n]
	if kind := kindOf(string(head)); kind == "" {
		s.Text, s.Plain = s.Stored, true
	} else {
		s.Text = textSize(kind, f, s.Stored)
		head = textHead(head)
	}
	if format, ok := sniff(head); ok {
		s.Density = format.density
	}
	return s, nil
}

// textHead is the beginning of the text of a compressed file, as far as the beginning of
// that file says it: to tell a format takes no more. Files are measured by the thousand,
// so gzip is read by the library, whose reader is slower than ours but a tenth as large.
func textHead(stored []byte) []byte {
	for range maxLayers {
		var r io.Reader
		var err error
		switch kindOf(string(stored)) {
		case "":
			return stored
		case "gzip":
			r, err = gzip.NewReader(bytes.NewReader(stored))
		case "zstd":
			r, err = openZstd(bytes.NewReader(stored))
		}
		if err != nil {
			return nil
		}
		head := make([]byte, headSize)
		n, _ := io.ReadFull(r, head)
		stored = head[:n]
	}
	return stored
}

// kindOf is the compression of a stream by its first bytes, or empty.
func kindOf(head string) string {
	for _, k := range compressions {
		if strings.HasPrefix(head, k.magic) {
			return k.kind
		}
	}
	return ""
}

// Texts of traces are about typicalRatio times as large as their compressed files,
// and never more than maxRatio times in practice.
const typicalRatio, maxRatio = 15, 60

// textSize guesses the length of the text in a compressed file of size bytes, from
// what the file says of itself where it does.
func textSize(kind string, file io.ReaderAt, size int64) int64 {
	n := int64(0)
	switch kind {
	case "gzip":
		n = gzipText(file, size)
	case "zstd":
		n = zstdText(file)
	}
	if size < n && n < size*maxRatio {
		return n
	}
	return size * typicalRatio // several members, a cut, or something else at the end
}

// gzipText reads the last four bytes of a gzip file, which say the length of its last
// member modulo 2^32. Of the lengths that they may mean it returns the one nearest to
// what is typical.
func gzipText(file io.ReaderAt, size int64) int64 {
	var tail [4]byte
	if size < int64(len(tail)) {
		return 0
	}
	if _, err := file.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return 0
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	const wrap = 1 << 32
	if extra := size*typicalRatio - n; extra > wrap/2 {
		n += (extra + wrap/2) / wrap * wrap
	}
	return n
}

// zstdText reads the length in the head of a zstd file's first frame, 0 unknown.
func zstdText(file io.ReaderAt) int64 {
	var head [zstd.HeaderMaxSize]byte
	n, _ := file.ReadAt(head[:], 0)
	var h zstd.Header
	if h.Decode(head[:n]) != nil || !h.HasFCS || h.FrameContentSize > 1<<62 {
		return 0
	}
	return int64(h.FrameContentSize)
}
