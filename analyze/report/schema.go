package report

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/gaprof/gaprof/internal/contract"
)

// JSONSchema describes the JSON form of a Report. Fields that it does not name may be
// added in later versions.
func JSONSchema() (*jsonschema.Schema, error) { return contract.Of[Report]("report-1.json", Schema) }

// WhatIfJSONSchema describes the JSON form of a WhatIf. Fields that it does not name may be added
// in later versions.
func WhatIfJSONSchema() (*jsonschema.Schema, error) {
	return contract.Of[WhatIf]("whatif-1.json", WhatIfSchema)
}

// CalibrationJSONSchema describes the JSON form of a Calibration. Fields that it does not name may be
// added in later versions.
func CalibrationJSONSchema() (*jsonschema.Schema, error) {
	return contract.Of[Calibration]("calibration-1.json", CalibrationSchema)
}
