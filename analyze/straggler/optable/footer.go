package optable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// The library believes the sizes that a Parquet file states and takes memory for them. These
// bounds are far above those of real files; what is above them is refused before.
const (
	mostFooter = 16 << 20  // bytes of metadata
	mostPage   = 256 << 20 // bytes of a page, decompressed; writers aim at 1 MB
)

// checkFooter reads the metadata at the end of a Parquet file, checked for lengths that it
// cannot hold.
func checkFooter(in io.ReaderAt, size int64) ([]byte, error) {
	tail := make([]byte, 8)
	if size < 12 {
		return nil, errors.New("it ends before its metadata")
	}
	if _, err := in.ReadAt(tail, size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != string(magic) || n > size-12 {
		return nil, errors.New("it ends before its metadata")
	}
	if n > mostFooter {
		return nil, fmt.Errorf("%d bytes of metadata, more than %d", n, mostFooter)
	}
	text := make([]byte, n)
	if _, err := in.ReadAt(text, size-8-n); err != nil {
		return nil, err
	}
	_, err := skim(text, nil)
	return text, err
}

// The fields of a page's header that state sizes, by their numbers.
const (
	uncompressedSize = 2
	compressedSize   = 3
)

// mostHeader bounds the header of a page, in bytes: its statistics may hold values.
const mostHeader = 1 << 16

// checkPages reads the headers of the pages of a column for sizes that no writer uses.
func checkPages(in io.ReaderAt, meta *format.ColumnMetaData) error {
	at := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 {
		at = min(at, d)
	}
	buf := make([]byte, mostHeader)
	for end := at + meta.TotalCompressedSize; at < end; {
		n, err := in.ReadAt(buf, at)
		if n == 0 {
			return fmt.Errorf("a page at byte %d: %w", at, err)
		}
		sizes := make(map[int64]int64)
		header, err := skim(buf[:n], sizes)
		if err != nil {
			return fmt.Errorf("a page at byte %d: %w", at, err)
		}
		u, c := sizes[uncompressedSize], sizes[compressedSize]
		if u < 0 || u > mostPage || c < 0 || c > mostPage {
			return fmt.Errorf("a page at byte %d of %d bytes, more than %d", at, max(u, c), mostPage)
		}
		at += int64(header) + c
	}
	return nil
}
