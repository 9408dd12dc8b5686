package optable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// codecs decompress pages; nil is none.
var codecs = map[format.CompressionCodec]func(dst, src []byte) ([]byte, error){
	format.Uncompressed: nil,
	format.Snappy:       new(snappy.Codec).Decode,
	format.Gzip:         new(gzip.Codec).Decode,
	format.Brotli:       new(brotli.Codec).Decode,
	format.Zstd:         new(zstd.Codec).Decode,
	format.Lz4Raw:       new(lz4.Codec).Decode,
}

// pages are the pages of one column in one group of rows.
type pages struct {
	meta       *format.ColumnMetaData
	codec      func(dst, src []byte) ([]byte, error)
	optional   bool
	in         *io.SectionReader
	at         int64 // where the next page begins, in in
	dictionary *values
}

// chunkOf is the part of a file that holds a column.
func chunkOf(in io.ReaderAt, size int64, meta *format.ColumnMetaData) *io.SectionReader {
	at := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 {
		at = min(at, d)
	}
	return io.NewSectionReader(in, at, max(0, min(meta.TotalCompressedSize, size-at)))
}

// next is the next page with values. checkPages has bounded the sizes that headers state.
func (p *pages) next() (*values, error) {
	for {
		header, body, err := p.page()
		if err != nil {
			return nil, err
		}
		switch header.Type {
		case format.DictionaryPage:
			dictionary, ok := header.DictionaryPageHeader.Get()
			if !ok {
				return nil, errors.New("a dictionary without a header")
			}
			if body, err = p.plain(body, header.UncompressedPageSize); err == nil {
				p.dictionary, err = decode(p.meta.Type, format.Plain, body, int(dictionary.NumValues))
			}
		case format.DataPage:
			return p.version1(header, body)
		case format.DataPageV2:
			return p.version2(header, body)
		}
		if err != nil {
			return nil, err
		}
	}
}

// page reads the header and the bytes of a page.
func (p *pages) page() (*format.PageHeader, []byte, error) {
	head := make([]byte, min(mostHeader, max(0, p.in.Size()-p.at)))
	if len(head) == 0 {
		return nil, nil, errors.New("fewer values than rows")
	}
	if _, err := p.in.ReadAt(head, p.at); err != nil && err != io.EOF {
		return nil, nil, err
	}
	n, err := skim(head, nil)
	if err != nil {
		return nil, nil, err
	}
	header := new(format.PageHeader)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), head[:n], header); err != nil {
		return nil, nil, err
	}
	from := p.at + int64(n)
	p.at = from + int64(header.CompressedPageSize)
	if header.CompressedPageSize < 0 || p.at > p.in.Size() {
		return nil, nil, errors.New("a page reaches beyond its column")
	}
	body := make([]byte, header.CompressedPageSize)
	_, err = io.ReadFull(io.NewSectionReader(p.in, from, int64(len(body))), body)
	return header, body, err
}

// plain decompresses a page of a size that its header states.
func (p *pages) plain(body []byte, size int32) ([]byte, error) {
	if p.codec == nil || size == 0 {
		return body, nil
	}
	if size < 0 || size > mostPage {
		return nil, fmt.Errorf("a page of %d bytes", size)
	}
	plain, err := p.codec(make([]byte, 0, size), body)
	if err == nil && len(plain) != int(size) {
		err = fmt.Errorf("a page of %d bytes where %d are stated", len(plain), size)
	}
	return plain, err
}

// version1 reads a data page whose levels are compressed with its values.
func (p *pages) version1(header *format.PageHeader, body []byte) (*values, error) {
	head, ok := header.DataPageHeader.Get()
	if !ok || head.NumValues < 0 {
		return nil, errors.New("a page without a header")
	}
	body, err := p.plain(body, header.UncompressedPageSize)
	if err != nil {
		return nil, err
	}
	if p.optional {
		if len(body) < 4 {
			return nil, errThrift
		}
		n := binary.LittleEndian.Uint32(body)
		if uint64(n) > uint64(len(body)-4) {
			return nil, errThrift
		}
		if err := present(body[4:4+n], int(head.NumValues)); err != nil {
			return nil, err
		}
		body = body[4+n:]
	}
	return p.decode(head.Encoding, body, int(head.NumValues))
}

// version2 reads a data page whose levels stand before its values.
func (p *pages) version2(header *format.PageHeader, body []byte) (*values, error) {
	head, ok := header.DataPageHeaderV2.Get()
	if !ok || head.NumValues < 0 {
		return nil, errors.New("a page without a header")
	}
	repeated, defined := int(head.RepetitionLevelsByteLength), int(head.DefinitionLevelsByteLength)
	if repeated < 0 || defined < 0 || repeated+defined > len(body) {
		return nil, errors.New("levels reach beyond their page")
	}
	if p.optional {
		if err := present(body[repeated:repeated+defined], int(head.NumValues)); err != nil {
			return nil, err
		}
	}
	body = body[repeated+defined:]
	if compressed, ok := head.IsCompressed.Get(); !ok || compressed {
		var err error
		if body, err = p.plain(body, header.UncompressedPageSize-int32(repeated+defined)); err != nil {
			return nil, err
		}
	}
	return p.decode(head.Encoding, body, int(head.NumValues))
}

// present reports levels that say that a value is missing.
func present(levels []byte, n int) error {
	list, err := hybrid(levels, 1, n)
	if err == nil && bytes.IndexByte(bytesOf(list), 0) >= 0 {
		err = errors.New("no value")
	}
	return err
}

func bytesOf(list []uint32) []byte {
	b := make([]byte, len(list))
	for i, v := range list {
		b[i] = byte(v)
	}
	return b
}

// plainDictionary is what writers of old call entries of a dictionary.
const plainDictionary format.Encoding = 2

// decode decodes the values of a data page, by the dictionary if they are entries of it.
func (p *pages) decode(encoding format.Encoding, body []byte, n int) (*values, error) {
	if encoding != plainDictionary && encoding != format.RLEDictionary {
		return decode(p.meta.Type, encoding, body, n)
	}
	if p.dictionary == nil {
		return nil, errors.New("entries of a dictionary that is not there")
	}
	if n == 0 {
		return &values{kind: p.meta.Type}, nil
	}
	if len(body) == 0 || body[0] > 32 {
		return nil, errThrift
	}
	entries, err := hybrid(body[1:], uint(body[0]), n)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if int64(e) >= int64(p.dictionary.len()) {
			return nil, errors.New("an entry that the dictionary does not have")
		}
	}
	v := *p.dictionary
	v.entries = entries
	return &v, nil
}

// hybrid decodes n numbers of a width in bits: runs of one number, and groups of eight that
// are packed (https://parquet.apache.org/docs/file-format/data-pages/encodings/).
func hybrid(text []byte, width uint, n int) ([]uint32, error) {
	if n > mostRows {
		return nil, errTooLong
	}
	list := make([]uint32, 0, n)
	for len(list) < n {
		head, size := binary.Uvarint(text)
		if size <= 0 || head>>1 > math.MaxInt32 {
			return nil, errThrift
		}
		text = text[size:]
		var err error
		if count := int(head >> 1); head&1 == 0 {
			list, text, err = repeated(list, text, width, min(count, n-len(list)))
		} else {
			list, text, err = packed(list, text, width, count, n)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// repeated appends one number several times.
func repeated(list []uint32, text []byte, width uint, count int) ([]uint32, []byte, error) {
	size := int(width+7) / 8
	if len(text) < size || count == 0 {
		return nil, nil, errThrift
	}
	v := uint32(0)
	for i, b := range text[:size] {
		v |= uint32(b) << (8 * i)
	}
	for range count {
		list = append(list, v)
	}
	return list, text[size:], nil
}

// packed appends groups of eight numbers, up to n in all.
func packed(list []uint32, text []byte, width uint, groups, n int) ([]uint32, []byte, error) {
	size := min(uint64(groups)*uint64(width), uint64(len(text))) // the last group may be cut
	if groups == 0 {
		return nil, nil, errThrift
	}
	bits, have, at := uint64(0), uint(0), 0
	for i := 0; i < 8*groups && len(list) < n; i++ {
		for ; have < width; have += 8 {
			if uint64(at) >= size {
				return nil, nil, errThrift
			}
			bits |= uint64(text[at]) << have
			at++
		}
		list = append(list, uint32(bits&(1<<width-1)))
		bits >>= width
		have -= width
	}
	return list, text[size:], nil
}
