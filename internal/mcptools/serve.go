package mcptools

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostLine is how long a message of a client may be, in bytes.
const mostLine = 1 << 20

// Serve answers one client, a JSON-RPC message a line, until in ends or ctx does.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	m, err := New(o)
	if err != nil {
		return err
	}
	err = m.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: writer{out}, MaxLineLength: mostLine})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// writer is not closed: the stream is the program's.
type writer struct{ io.Writer }

func (writer) Close() error { return nil }
