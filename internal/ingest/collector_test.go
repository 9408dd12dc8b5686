package ingest

import (
	"runtime/debug"
	"testing"
)

// The collector runs as small files need it even where it ran before they were measured, as
// it does where they are many.
func TestSmallFilesAreCollectedSeldom(t *testing.T) {
	stored := gcPercent.Swap(gcOfLarge)
	before := debug.SetGCPercent(gcOfLarge)
	defer func() { gcPercent.Store(stored); debug.SetGCPercent(before) }()
	jobOf := func(text int64) []*job { return []*job{{memory: &reservation{text: text}}} }
	tuneCollector(jobOf(2 * smallText))
	if got := debug.SetGCPercent(gcOfLarge); got != gcOfLarge {
		t.Errorf("a large file: %d %%", got)
	}
	tuneCollector(jobOf(18))
	if got := debug.SetGCPercent(gcOfLarge); got != gcOfSmall {
		t.Errorf("a small file: %d %%", got)
	}
}
