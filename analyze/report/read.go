package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Read reads the JSON form of a report. Fields that it does not know are passed
// over. Errors name the schema where that is another one, and what is only half known.
func Read(r io.Reader) (*Report, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = in.Discard(len(byteOrderMark)) // which some editors and shells put there
	}
	d := json.NewDecoder(in)
	var report Report
	if err := d.Decode(&report); err != nil {
		return nil, fmt.Errorf("not a report: %w", err)
	}
	if report.Schema != Schema {
		return nil, fmt.Errorf("not a report of schema %s but of %q", Schema, report.Schema)
	}
	if d.More() {
		return nil, fmt.Errorf("not a report: more follows after it")
	}
	if half := report.halfKnown(); half != "" {
		return nil, fmt.Errorf("not a whole report: %s", half)
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
