package optable

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The packages of parquet-go below its root are used one by one: footers and headers of
// pages, encodings, compression. The root, which also writes and converts, links
// protobuf and others, three megabytes of program (docs/decisions/0006).

// readParquet reads a Parquet file. What the library makes of damage, also a panic, is an error.
func readParquet(in io.ReaderAt, size int64) (t *Table, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			t, err = nil, &Error{Offset: -1, Err: fmt.Errorf("damaged Parquet file: %v", bug)}
		}
	}()
	meta, err := readFooter(in, size)
	if err != nil {
		return nil, &Error{Offset: -1, Err: fmt.Errorf("damaged Parquet file: %w", err)}
	}
	leaves := flatColumns(meta.Schema)
	header := make([]string, len(leaves))
	for i, l := range leaves {
		header[i] = l.name
	}
	places, err := placesOf(header)
	if err != nil {
		return nil, &Error{Offset: -1, Err: err}
	}
	rows := int64(0)
	for i := range meta.RowGroups {
		n := meta.RowGroups[i].NumRows
		if n < 0 || n > mostRows-rows {
			return nil, &Error{Offset: -1, Err: errTooLong}
		}
		rows += n
	}
	t = new(Table)
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		for k, place := range places {
			if err := readColumn(t, in, size, g, place, leaves[place], &columns[k]); err != nil {
				return nil, &Error{Offset: -1, Err: fmt.Errorf("%s: %w", columns[k].name, err)}
			}
		}
	}
	return t, t.check()
}

// readFooter reads the metadata at the end of a file.
func readFooter(in io.ReaderAt, size int64) (*format.FileMetaData, error) {
	text, err := checkFooter(in, size)
	if err != nil {
		return nil, err
	}
	meta := new(format.FileMetaData)
	return meta, thrift.Unmarshal(new(thrift.CompactProtocol), text, meta)
}

// leaf is a column that holds values.
type leaf struct {
	name     string // "" for one within a group: no column of a table is nested
	optional bool   // values may be missing
}

// flatColumns are the columns with values, in the order in which files hold them.
func flatColumns(schema []format.SchemaElement) []leaf {
	var leaves []leaf
	if len(schema) == 0 {
		return nil
	}
	inside := int64(0) // elements that are left of groups
	for _, e := range schema[1:] {
		nested := inside > 0
		if nested {
			inside--
		}
		if n, ok := e.NumChildren.Get(); ok && n > 0 {
			inside += int64(n)
			continue
		}
		l := leaf{name: e.Name}
		repetition, ok := e.RepetitionType.Get()
		if nested || ok && repetition == format.Repeated {
			l.name = ""
		}
		l.optional = ok && repetition == format.Optional
		leaves = append(leaves, l)
	}
	return leaves
}

// readColumn reads the values of one column in one group of rows.
func readColumn(t *Table, in io.ReaderAt, size int64, g *format.RowGroup, place int, l leaf, c *column) error {
	if place >= len(g.Columns) {
		return errors.New("a group of rows without the column")
	}
	meta := &g.Columns[place].MetaData
	if err := checkPages(in, meta); err != nil {
		return err
	}
	codec, ok := codecs[meta.Codec]
	if !ok {
		return fmt.Errorf("compression %v is not known", meta.Codec)
	}
	p := pages{meta: meta, codec: codec, optional: l.optional, in: chunkOf(in, size, meta)}
	row := int64(0)
	for row < g.NumRows {
		values, err := p.next()
		if err != nil {
			return err
		}
		for i := range values.len() {
			if row++; row > g.NumRows {
				return errors.New("more values than rows")
			}
			if err := c.take(t, values, i); err != nil {
				return fmt.Errorf("row %d of a group: %w", row, err)
			}
		}
	}
	return nil
}

// check reports columns of different lengths, which only a damaged file has.
func (t *Table) check() error {
	n := len(t.Type)
	for _, m := range []int{
		len(t.Step), len(t.DP), len(t.Stage), len(t.Rank), len(t.Seq), len(t.Chunk), len(t.ModelChunk), len(t.Start),
		len(t.Duration),
	} {
		if m != n {
			return &Error{Offset: -1, Err: errors.New("damaged Parquet file: its columns differ in length")}
		}
	}
	return nil
}
