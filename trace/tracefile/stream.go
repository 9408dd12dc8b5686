package tracefile

import (
	"io"

	"github.com/gaprof/gaprof/trace"
)

// ReadFrom reads the traces of a stream, as Read does those of a file. name is what errors
// call it.
func ReadFrom(r io.Reader, name string, o Options) ([]*trace.Trace, error) {
	return readStream(r, name, 0, o)
}
