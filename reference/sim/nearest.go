package sim

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/spelling"
)

// nearest names what was probably meant, or all there is.
func nearest(name string, names []string) string {
	name = strings.ToLower(name)
	for _, n := range names {
		if name != "" && (strings.HasPrefix(n, name) || letters(n) == letters(name)) {
			return "did you mean " + n + "?"
		}
	}
	if best := spelling.Nearest(name, names); best != "" {
		return "did you mean " + best + "?"
	}
	return "take one of " + strings.Join(names, ", ")
}

// called is a name in a sentence, also where there is none.
func called(name string) string {
	if name == "" {
		return "without a name"
	}
	return name
}

// letters are those of a name in order of the alphabet.
func letters(name string) string {
	list := []byte(name)
	slices.Sort(list)
	return string(list)
}
