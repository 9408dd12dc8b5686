package optable

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
)

// readParquet reads a Parquet file. What the library makes of damage, also a panic, is an error.
func readParquet(in io.ReaderAt, size int64) (t *Table, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			t, err = nil, &Error{Offset: -1, Err: fmt.Errorf("damaged Parquet file: %v", bug)}
		}
	}()
	if err := checkFooter(in, size); err != nil {
		return nil, &Error{Offset: -1, Err: fmt.Errorf("damaged Parquet file: %w", err)}
	}
	f, err := parquet.OpenFile(in, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, &Error{Offset: -1, Err: fmt.Errorf("damaged Parquet file: %w", err)}
	}
	var header []string
	for _, path := range f.Schema().Columns() {
		name := ""
		if len(path) == 1 { // no column of a table is nested
			name = path[0]
		}
		header = append(header, name)
	}
	places, err := placesOf(header)
	if err != nil {
		return nil, &Error{Offset: -1, Err: err}
	}
	rows := int64(0)
	for _, g := range f.RowGroups() {
		if n := g.NumRows(); n < 0 || n > mostRows-rows {
			return nil, &Error{Offset: -1, Err: errTooLong}
		}
		rows += g.NumRows()
	}
	t = new(Table)
	for n, g := range f.RowGroups() {
		chunks, meta := g.ColumnChunks(), f.Metadata().RowGroups[n].Columns
		for i, place := range places {
			err := checkPages(in, &meta[place].MetaData)
			if err == nil {
				err = readChunk(t, &columns[i], chunks[place], g.NumRows())
			}
			if err != nil {
				return nil, &Error{Offset: -1, Err: fmt.Errorf("%s: %w", columns[i].name, err)}
			}
		}
	}
	return t, t.check()
}

// readChunk reads the values of one column in one group of so many rows.
func readChunk(t *Table, c *column, chunk parquet.ColumnChunk, rows int64) error {
	pages := chunk.Pages()
	defer pages.Close()
	buf := make([]parquet.Value, 1024)
	row := int64(0)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buf)
			for _, v := range buf[:n] {
				if row++; row > rows {
					return errors.New("more values than rows")
				}
				if err := c.take(t, v); err != nil {
					return fmt.Errorf("row %d of a group: %w", row, err)
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}

// take takes a value of a Parquet file.
func (c *column) take(t *Table, v parquet.Value) error {
	switch kind := v.Kind(); {
	case v.IsNull():
		return errors.New("no value")
	case c.text != nil && kind == parquet.ByteArray:
		return c.text(t, string(v.ByteArray()))
	case c.text != nil:
		return fmt.Errorf("%v is not text", v)
	case c.real != nil:
		x, err := real(v)
		if err != nil {
			return err
		}
		return c.real(t, x)
	case kind == parquet.Int32:
		return c.whole(t, int64(v.Int32()))
	case kind == parquet.Int64:
		return c.whole(t, v.Int64())
	}
	x, err := real(v)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return fmt.Errorf("%v is not a whole number", v)
	}
	return c.whole(t, int64(x))
}

// real is a value as a number.
func real(v parquet.Value) (float64, error) {
	switch v.Kind() {
	case parquet.Float:
		return float64(v.Float()), nil
	case parquet.Double:
		return v.Double(), nil
	case parquet.Int32:
		return float64(v.Int32()), nil
	case parquet.Int64:
		return float64(v.Int64()), nil
	}
	return 0, fmt.Errorf("%v is not a number", v)
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
