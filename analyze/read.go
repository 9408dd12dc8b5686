package analyze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// ReadReport reads the JSON form of a report. Fields that it does not know are passed
// over. Errors name the schema where that is another one.
func ReadReport(r io.Reader) (*Report, error) {
	d := json.NewDecoder(r)
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
	return &report, nil
}

// IsReport tells, by the beginning of a file, whether it is a report's JSON form and
// not a trace: an object whose first key is one of a report.
func IsReport(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
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
