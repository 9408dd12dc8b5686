package sim

import (
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/ops"
)

// TestSuite runs what every backend has to pass.
func TestSuite(t *testing.T) {
	m, err := Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Suite{Open: Backend{Machine: m}.Open, Kernel: ones}.Run(t)
}

func ones(y *device.Buffer) device.Kernel { return ops.OnesLike{Y: y} }
