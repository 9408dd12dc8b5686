package model

import "strings"

// BlockOf returns the block that a parameter is in, by its name: blocks.0 of
// blocks.0.ln1.weight, and "" outside of all blocks. Blocks are those of a list of modules,
// and named by their numbers.
func BlockOf(param string) string {
	end := 0
	for part := range strings.SplitSeq(param, ".") {
		end += len(part)
		if part != "" && strings.Trim(part, "0123456789") == "" {
			return param[:end]
		}
		end++
	}
	return ""
}
