package tracefile

import (
	"os"
	"time"
)

// patience is how long a pipe may take to open before Options.Waiting is called.
var patience = 2 * time.Second

// open opens a file to read. Opening a named pipe blocks until somebody writes to it,
// which may be never, so waiting is called.
func open(path string, waiting func()) (*os.File, error) {
	if waiting == nil || !isPipe(path) {
		return os.Open(path)
	}
	timer := time.AfterFunc(patience, waiting)
	defer timer.Stop()
	return os.Open(path)
}

func isPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
