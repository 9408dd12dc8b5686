// Package jsonerr reads the errors of encoding/json.
package jsonerr

import (
	"encoding/json"
	"errors"
)

// Offset is where in the text an error of encoding/json occurred, in bytes; 0 where the
// error does not say.
func Offset(err error) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset
	}
	return 0
}
