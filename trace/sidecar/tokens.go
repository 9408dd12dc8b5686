package sidecar

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// TokenCount is the number of valid tokens of one micro-batch of one rank: those whose
// loss counts.
type TokenCount struct {
	Rank, Step int64 // from 0
	MicroBatch int64 // from 0; -1 where the log gives a step as a whole
	Tokens     int64 // 0 where every label is ignored
	Global     int64 // of all ranks and micro-batches of the step, -1 unknown
}

// ReadTokens reads a token log: CSV with the columns rank, step, micro_batch and tokens
// in any order, or one JSON object a line as torchtitan writes them, with
// local_valid_tokens (or tokens), step, rank and micro_batch; rank is what a line
// without one gets. Errors are *trace.FormatError with the byte offset of the line.
func ReadTokens(r io.Reader, file string, rank int64) ([]TokenCount, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(512)
	var limit *bounded.Error
	if errors.As(err, &limit) {
		return nil, limit
	}
	if len(head) == 0 {
		return nil, &trace.FormatError{File: file, Reason: "empty token log: " + reason(err)}
	}
	if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{")) {
		return readJSONL(br, file, rank)
	}
	return readCSV(br, file, rank)
}

func reason(err error) string {
	if err == nil || errors.Is(err, io.EOF) {
		return "no bytes"
	}
	return err.Error()
}

// tokenLine is the part of a log line that says how many tokens there were.
type tokenLine struct {
	Rank       *int64 `json:"rank"`
	Step       *int64 `json:"step"`
	MicroBatch *int64 `json:"micro_batch"`
	Local      *int64 `json:"local_valid_tokens"`
	Tokens     *int64 `json:"tokens"`
	Global     *int64 `json:"global_valid_tokens"`
}

// readJSONL reads JSON lines; lines about other things are passed over.
func readJSONL(r io.Reader, file string, rank int64) ([]TokenCount, error) {
	var list []TokenCount
	var all tokenSum
	err := readLines(r, file, "token log", func(l *tokenLine) error {
		if l.Local == nil {
			l.Local = l.Tokens
		}
		if l.Local == nil || l.Step == nil {
			return nil
		}
		c := TokenCount{orElse(l.Rank, rank), *l.Step, orElse(l.MicroBatch, -1), *l.Local, orElse(l.Global, -1)}
		list = append(list, c)
		return c.check(&all)
	})
	if err != nil {
		return nil, err
	}
	return checked(list, file)
}

func readCSV(r io.Reader, file string, rank int64) ([]TokenCount, error) {
	c := csv.NewReader(r)
	c.TrimLeadingSpace = true
	head, err := c.Read()
	if err != nil {
		return nil, &trace.FormatError{File: file, Reason: "token log: " + err.Error()}
	}
	columns := make(map[string]int)
	for i, name := range head {
		columns[strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))] = i
	}
	for _, need := range []string{"step", "tokens"} {
		if _, ok := columns[need]; !ok {
			reason := fmt.Sprintf("token log: no column %q; the header is %s", need, strings.Join(head, ","))
			return nil, &trace.FormatError{File: file, Reason: reason}
		}
	}
	var list []TokenCount
	var all tokenSum
	for {
		offset := c.InputOffset()
		row, err := c.Read()
		var limit *bounded.Error
		if errors.As(err, &limit) {
			return nil, limit
		}
		if errors.Is(err, io.EOF) {
			return checked(list, file)
		}
		if err != nil {
			return nil, &trace.FormatError{File: file, Offset: offset, Reason: "token log: " + err.Error()}
		}
		line, _ := c.FieldPos(0)
		count, err := csvRow(row, columns, rank)
		if err == nil {
			err = count.check(&all)
		}
		if err != nil {
			reason := fmt.Sprintf("token log: line %d: %v", line, err)
			return nil, &trace.FormatError{File: file, Offset: offset, Reason: reason}
		}
		list = append(list, count)
	}
}

func csvRow(row []string, columns map[string]int, rank int64) (TokenCount, error) {
	count := TokenCount{Rank: rank, MicroBatch: -1, Global: -1}
	for _, field := range []struct {
		name string
		to   *int64
	}{
		{"rank", &count.Rank}, {"step", &count.Step}, {"micro_batch", &count.MicroBatch},
		{"tokens", &count.Tokens}, {"global_valid_tokens", &count.Global},
	} {
		i, ok := columns[field.name]
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(row[i]), 10, 64)
		if err != nil {
			return count, fmt.Errorf("%s is %q, not a whole number", field.name, row[i])
		}
		*field.to = n
	}
	return count, nil
}

// check refuses impossible counts and places; all are the counts so far.
func (c *TokenCount) check(all *tokenSum) error {
	if c.Tokens < 0 || c.Global >= 0 && c.Global < c.Tokens {
		return fmt.Errorf("rank %d step %d has %d tokens of %d", c.Rank, c.Step, c.Tokens, c.Global)
	}
	if c.Global > mostTokens {
		return fmt.Errorf("rank %d step %d has %d tokens of %d, which no run has", c.Rank, c.Step, c.Tokens, c.Global)
	}
	if err := all.add(c.Tokens); err != nil {
		return err
	}
	return checkPlace(c.Rank, c.Step, c.MicroBatch)
}

// checked refuses logs without a single count.
func checked(list []TokenCount, file string) ([]TokenCount, error) {
	if len(list) == 0 {
		return nil, &trace.FormatError{File: file, Reason: "token log without a single count"}
	}
	return list, nil
}

// WriteTokens writes a log that ReadTokens reads, a JSON object a line.
func WriteTokens(w io.Writer, list []TokenCount) error {
	b := bufio.NewWriter(w)
	for _, c := range list {
		fmt.Fprintf(b, `{"step":%d,"rank":%d`, c.Step, c.Rank)
		if c.MicroBatch >= 0 {
			fmt.Fprintf(b, `,"micro_batch":%d`, c.MicroBatch)
		}
		fmt.Fprintf(b, `,"local_valid_tokens":%d`, c.Tokens)
		if c.Global >= 0 {
			fmt.Fprintf(b, `,"global_valid_tokens":%d`, c.Global)
		}
		b.WriteString("}\n")
	}
	return b.Flush()
}
