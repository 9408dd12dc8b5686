package tracefile

import (
	"fmt"
	"os"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome/pool"
)

// TestMain fails where a worker panicked: what it should have read is read again, so no
// other test would see it.
func TestMain(m *testing.M) {
	code := m.Run()
	if all := pool.AllPanics(); all.Workers > 0 {
		fmt.Fprintf(os.Stderr, "%d workers panicked, the first: %s\n", all.Workers, all.First)
		code = 1
	}
	os.Exit(code)
}
