// Package contract describes the JSON forms that other programs read.
package contract

import "github.com/google/jsonschema-go/jsonschema"

// Draft is the version of JSON Schema that descriptions are written in, and Dir where
// they are published.
const (
	Draft = "https://json-schema.org/draft/2020-12/schema"
	Dir   = "https://github.com/gaprof/gaprof/docs/schema/"
)

// Of returns the JSON Schema of T, published as file, with that title. Fields that it does
// not name may be added in later versions. The only errors are types without a JSON
// form.
func Of[T any](file, title string) (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	s.Schema, s.ID, s.Title = Draft, Dir+file, title
	allowMore(s)
	return s, nil
}

// allowMore permits fields that a later version adds.
func allowMore(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.AdditionalProperties = nil
	allowMore(s.Items)
	for _, p := range s.Properties {
		allowMore(p)
	}
}
