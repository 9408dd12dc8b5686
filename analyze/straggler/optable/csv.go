package optable

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// readCSV reads a table whose first row names the columns.
func readCSV(in io.Reader) (*Table, error) {
	source := &rows{in: in}
	r := csv.NewReader(source)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, csvError(r, err)
	}
	places, err := placesOf(slices.Clone(header))
	if err != nil {
		return nil, &Error{Offset: 0, Err: err}
	}
	t := new(Table)
	for row := 1; ; row++ {
		at := r.InputOffset()
		source.since = 0
		record, err := r.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, csvError(r, err)
		}
		for i, place := range places {
			if err := columns[i].parse(t, strings.TrimSpace(record[place])); err != nil {
				return nil, &Error{Offset: at, Err: fmt.Errorf("row %d, %s: %w", row, columns[i].name, err)}
			}
		}
		if row > mostRows {
			return nil, &Error{Offset: at, Err: errTooLong}
		}
	}
}

// longestRow is how many bytes a row may have: quotes that are not closed go on to the end.
const longestRow = 1 << 20

// rows is a source of rows, none of which may be too long.
type rows struct {
	in    io.Reader
	since int // bytes since a row began, about
}

func (r *rows) Read(p []byte) (int, error) {
	if r.since > longestRow {
		return 0, fmt.Errorf("a row of more than %d bytes", longestRow)
	}
	n, err := r.in.Read(p)
	r.since += n
	return n, err
}

// placesOf finds each of the columns among those of a file.
func placesOf(header []string) ([]int, error) {
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff")))
	}
	var missing []string
	places := make([]int, len(columns))
	for i, c := range columns {
		if places[i] = slices.Index(header, c.name); places[i] < 0 {
			missing = append(missing, c.name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("not an operation table: no column %s", strings.Join(missing, ", "))
	}
	return places, nil
}

// parse takes a value that is text.
func (c *column) parse(t *Table, text string) error {
	switch {
	case c.text != nil:
		return c.text(t, text)
	case c.real != nil:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", short(text))
		}
		return c.real(t, v)
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number", short(text))
	}
	return c.whole(t, v)
}

func csvError(r *csv.Reader, err error) error {
	if err == io.EOF {
		err = errors.New("no rows")
	}
	return &Error{Offset: r.InputOffset(), Err: err}
}
