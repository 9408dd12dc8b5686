package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/jsonerr"
)

// What a report may have. The report of a thousand ranks has some tens of megabytes, and is
// about as large in memory as it is as text.
const (
	mostText   = 256 << 20 // bytes
	mostMemory = 4 << 30   // bytes, where nobody says how many there are
	freeMemory = 64 << 20  // bytes that a short text may take
	mostTimes  = 8         // times the text that a long one may take
)

// Read reads the JSON form of a report. Fields that it does not know are passed
// over. Errors name the schema where that is another one, and what is only half known.
func Read(r io.Reader) (*Report, error) {
	report, _, err := ReadWithin(r, mostMemory)
	return report, err
}

// ReadWithin is Read within so many bytes of memory, text included, and returns how many
// stay in use at most. Where they are not enough the error is a *bounded.TooMuch, and
// nothing was decoded.
func ReadWithin(r io.Reader, memory int64) (_ *Report, used int64, err error) {
	text, err := textOf(r, memory)
	if err != nil {
		return nil, 0, err
	}
	known := freeMemory + mostTimes*int64(len(text))
	most := min(memory-int64(len(text)), known)
	used, err = bounded.Memory(text, new(Report), most)
	var much *bounded.TooMuch
	switch {
	case errors.As(err, &much) && most == known:
		return nil, 0, fmt.Errorf("not a report: byte %d: up to here it takes %d bytes of memory, as no report does",
			much.Offset, most)
	case err != nil:
		return nil, 0, &bounded.TooMuch{Offset: much.Offset, Most: memory}
	}
	report, err := decode(text)
	return report, used, err
}

// textOf reads the text, as long as it and its copies while it grows leave memory. A reader that
// says how long it is, as bytes.Reader does, saves these copies.
func textOf(r io.Reader, memory int64) ([]byte, error) {
	most := max(0, min(mostText, memory/3))
	var into bytes.Buffer
	if known, ok := r.(interface{ Len() int }); ok {
		into.Grow(int(min(int64(known.Len()), most)) + bytes.MinRead)
	}
	_, err := into.ReadFrom(io.LimitReader(r, most+1))
	text := into.Bytes()
	if err != nil {
		return nil, fmt.Errorf("not a report: %w", err)
	}
	if int64(len(text)) > most {
		if most < mostText {
			return nil, &bounded.TooMuch{Offset: most, Most: memory}
		}
		return nil, fmt.Errorf("not a report: byte %d: it goes on, and reports have at most that", most)
	}
	return bytes.TrimPrefix(text, []byte(byteOrderMark)), nil // which some editors and shells put there
}

// decode makes a report of a text.
func decode(text []byte) (*Report, error) {
	var report Report
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("not a report: byte %d: %w", jsonerr.Offset(err), err)
	}
	if report.Schema != Schema {
		return nil, fmt.Errorf("not a report of schema %s but of %q", Schema, report.Schema)
	}
	if half := report.halfKnown(); half != "" {
		return nil, fmt.Errorf("not a whole report: %s", half)
	}
	if wrong := report.impossible(); wrong != "" {
		return nil, fmt.Errorf("not a report of a run: %s", wrong)
	}
	return &report, nil
}

const byteOrderMark = "\xef\xbb\xbf"

// halfKnown names figures that are known or unknown together and are not, in a report
// that something else than gaprof wrote or changed; empty where there are none.
func (r *Report) halfKnown() string {
	for i := range r.Steps {
		if s := &r.Steps[i]; !together(s.Start != nil, s.Duration != nil, s.Ledger != nil) {
			return fmt.Sprintf("steps[%d] has some of start_ns, duration_ns and ledger_ns", i)
		}
	}
	for i := range r.TokenAllReduce {
		if t := &r.TokenAllReduce[i]; t.Present != nil && *t.Present && t.Where == nil {
			return fmt.Sprintf("token_all_reduce[%d] is present nowhere", i)
		}
	}
	for i := range r.Ranks {
		if w := &r.Ranks[i]; !together(w.Wait != nil, w.WaitCaused != nil, w.Last != nil) {
			return fmt.Sprintf("ranks[%d] has some of wait_ns, wait_caused_ns and last_arrivals", i)
		}
	}
	if m := &r.Matching; !together(m.EndSkewMedian != nil, m.EndSkewMax != nil, m.TransferMedian != nil) {
		return "matching has some of end_skew_median_ns, end_skew_max_ns and transfer_median_ns"
	}
	return ""
}

// together reports whether all are known or none.
func together(known ...bool) bool {
	return !slices.Contains(known, true) || !slices.Contains(known, false)
}

// Sniff reports whether the beginning of a file is that of a report's JSON form and not of
// a trace: an object whose first key is one of a report.
func Sniff(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte(byteOrderMark))))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	key, err := d.Token()
	name, isText := key.(string)
	if err != nil || !isText {
		return false
	}
	fields := reflect.TypeFor[Report]()
	for i := range fields.NumField() {
		if tag, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ","); tag == name {
			return true
		}
	}
	return false
}
