//go:build !linux

package tracefile

import "io"

// mapFile maps nothing here: files are read.
func mapFile(io.ReaderAt, int64, *counter) Mapped { return nil }
