package straggler

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gaprof/gaprof/internal/contract"
)

// JSONSchema is the JSON Schema of a Result.
func JSONSchema() (*jsonschema.Schema, error) {
	return contract.Of[Result]("straggler-1.json", Schema)
}
