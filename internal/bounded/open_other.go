//go:build !unix

package bounded

import "io/fs"

// nonblocking is not needed where pipes are no files.
const nonblocking = 0

// storedOf is not known here.
func storedOf(fs.FileInfo) (int64, bool) { return 0, false }
