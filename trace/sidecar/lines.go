package sidecar

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"sync"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// maxLine bounds one line of a log, in bytes.
const maxLine = 1 << 20

// readLines reads JSON objects, one a line, and hands each to take, with its number
// from 1 and its offset in bytes. NaN and infinities, which Python writes, are null.
func readLines[T any](r io.Reader, file, what string, take func(line *T) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 64<<10), maxLine)
	scanner.Split(scanRaw)
	offset, number := int64(0), 0
	fail := func(err error) error {
		return &trace.FormatError{File: file, Offset: offset, Reason: fmt.Sprintf("%s: line %d: %v", what, number, err)}
	}
	for ; scanner.Scan(); offset += int64(len(scanner.Bytes())) {
		number++
		text := bytes.TrimSpace(bytes.TrimPrefix(scanner.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		var line T
		err := json.Unmarshal(text, &line)
		if err != nil && notFinite().Match(text) {
			line = *new(T)
			err = json.Unmarshal(notFinite().ReplaceAll(text, []byte("${1}null")), &line)
			if l, ok := any(&line).(interface{ notFinite(text []byte) }); ok {
				l.notFinite(text)
			}
		}
		if err == nil {
			err = take(&line)
		}
		if err != nil {
			return fail(err)
		}
	}
	var limit *bounded.Error
	err := scanner.Err()
	switch number++; {
	case err == nil || errors.As(err, &limit): // which says all that is to be said
		return err
	case errors.Is(err, bufio.ErrTooLong):
		return fail(fmt.Errorf("has more than %d bytes", maxLine))
	}
	return fail(err)
}

// notFinite matches values of objects that are not valid JSON: NaN and infinities.
var notFinite = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(:\s*)(NaN|-?Infinity)\b`) })

// scanRaw splits lines and keeps their ends, so that lengths are those of the file.
func scanRaw(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// orElse is n, or other where there is none.
func orElse[T any](n *T, other T) T {
	if n == nil {
		return other
	}
	return *n
}

// mostTokens is the greatest sum of token counts: what a float64 still holds exactly, and a
// thousand times what the longest run has.
const mostTokens = 1 << 53

// tokenSum adds up all token counts of a log, so that no sum of some of them can overflow.
type tokenSum int64

func (s *tokenSum) add(tokens int64) error {
	if tokens < 0 {
		return nil
	}
	sum := bounded.Add(int64(*s), tokens)
	if sum > mostTokens {
		return fmt.Errorf("%d tokens: with those before it the log has more than %d, which no run has", tokens,
			int64(mostTokens))
	}
	*s = tokenSum(sum)
	return nil
}

// checkPlace refuses impossible ranks, steps and micro-batches.
func checkPlace(rank, step, microBatch int64) error {
	if min(rank, step, microBatch+1) < 0 || max(rank, step, microBatch) >= math.MaxInt32 {
		return fmt.Errorf("there is no rank %d, step %d, micro-batch %d", rank, step, microBatch)
	}
	return nil
}
