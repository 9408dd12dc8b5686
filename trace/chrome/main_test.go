package chrome

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome/pool"
)

// planted is how many workers panicked because a test wanted that.
var planted atomic.Int64

// TestMain fails where a worker panicked that was not to: what it should have read is read
// again, so no other test would see it.
func TestMain(m *testing.M) {
	code := m.Run()
	all := pool.AllPanics()
	if n := all.Workers - planted.Load(); n != 0 {
		fmt.Fprintf(os.Stderr, "%d workers panicked of which no test knows; the first of all: %s\n", n, all.First)
		code = 1
	}
	os.Exit(code)
}
