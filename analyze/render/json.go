package render

import (
	"encoding/json"
	"io"

	"github.com/gaprof/gaprof/analyze"
)

// JSON writes the contract gaprof.report/1.
func JSON(w io.Writer, r *analyze.Report, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}
