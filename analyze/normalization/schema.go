package normalization

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gaprof/gaprof/internal/contract"
)

// JSONSchema describes the JSON form of a Report. Fields that it does not name may be
// added in later versions.
func JSONSchema() (*jsonschema.Schema, error) { return contract.Of[Report]("norm-1.json", Schema) }
