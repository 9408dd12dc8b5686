package render

import (
	"encoding/json"
	"io"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/internal/escape"
)

// JSON writes the contract gaprof.report/1. What a terminal would obey stands as \u escapes,
// here and in all other JSON: the values are the names as they are.
func JSON(w io.Writer, r *analyze.Report, _ Options) error {
	enc := json.NewEncoder(escape.JSONWriter(w))
	enc.SetIndent("", " ")
	return enc.Encode(r)
}
