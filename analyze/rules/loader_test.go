package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A loader that has workers already is not told to use workers.
func TestLoaderWithWorkers(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("examples", "ID001", "fires.txt"))
	if err != nil {
		t.Fatal(err)
	}
	const single = "_SingleProcessDataLoaderIter"
	for _, test := range []struct{ iterator, want string }{
		{single, "num_workers=4"},
		{"_MultiProcessingDataLoaderIter", "the workers do not keep up"},
	} {
		path := filepath.Join(t.TempDir(), "loader.txt")
		text := strings.ReplaceAll(string(source), single, test.iterator)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := analyse(t, path)
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Fix, test.want) {
			t.Errorf("%s: findings %+v, want the fix %q", test.iterator, r.Findings, test.want)
		}
	}
}
