package sidecar

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The names of what the trainer leaves beside traces, where it is looked for without being
// named: in the folder of the traces.
const (
	TokensFile   = "tokens.jsonl"
	LossFile     = "loss.jsonl"
	GradientsDir = "gradients" // a folder of safetensors
)

// filesIn lists what in a folder has a name with some end, by name; none where there is
// no such folder. A folder may have any name, so it is no pattern.
func filesIn(dir, end string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var files []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), end) {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return files, err
}
