package norm

import "github.com/google/jsonschema-go/jsonschema"

// JSONSchema describes the JSON form of a Report. Fields that it does not name may
// be added in later versions.
func JSONSchema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Report](nil)
	if err != nil {
		return nil, err
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "https://github.com/gaprof/gaprof/docs/schema/norm-1.json"
	s.Title = Schema
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
