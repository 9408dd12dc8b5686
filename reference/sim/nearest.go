package sim

import (
	"strings"

	"github.com/gaprof/gaprof/internal/spelling"
)

// nearest names what was probably meant, or all there is.
func nearest(name string, names []string) string {
	for _, n := range names {
		if name != "" && strings.HasPrefix(n, name) {
			return "did you mean " + n + "?"
		}
	}
	if best := spelling.Nearest(name, names); best != "" {
		return "did you mean " + best + "?"
	}
	return "take one of " + strings.Join(names, ", ")
}
