package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// place makes files, or folders where a name ends in a slash, or links where the text says so.
func place(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		target, isLink := strings.CutPrefix(text, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o777))
		case isLink:
			must(t, os.Symlink(target, path))
		default:
			must(t, os.WriteFile(path, []byte(text), 0o666))
		}
	}
}

// under lists the files below a folder, by name.
func under(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			list = append(list, path)
		}
		return err
	}))
	return list
}

// aRun are the files that a run leaves.
var aRun = map[string]string{
	"rank0.json.gz": "", "rank11.json.gz": "", "tokens.jsonl": "", "loss.jsonl": "",
	"gradients/rank0-step0.safetensors": "", "gradients/rank1-step12-micro3.safetensors": "",
}

// A folder that is not empty is left as it is, unless forced: then the files of a run go,
// and whatever else is there stays, however much its name is like theirs.
func TestOpenFolder(t *testing.T) {
	others := map[string]string{
		"keep.txt": "", "rank0.json": "", "ranking.json.gz": "", "rank_of_all.json.gz": "", "rank0.json.gz.bak": "",
		"old-rank0.json.gz": "", "tokens.jsonl.old": "", "gradients/notes.txt": "", "gradients/rank0.safetensors": "",
		"gradients/ranks-steps.safetensors": "", "more/rank0.json.gz": "", "gradients/more/rank0-step0.safetensors": "",
	}
	for _, name := range []string{"run", "a [run]*?"} {
		dir := filepath.Join(t.TempDir(), name)
		place(t, dir, aRun)
		place(t, dir, others)
		before := under(t, dir)
		_, err := openFolder(dir, false)
		var e *tracefile.Error
		if !errors.As(err, &e) || !errors.Is(err, fs.ErrExist) || e.Hint != "--force replaces the run in it" {
			t.Errorf("%s: %v", name, err)
		}
		if got := under(t, dir); !slices.Equal(got, before) {
			t.Errorf("%s: %q is left of %q", name, got, before)
		}
		folder, err := openFolder(dir, true)
		must(t, err)
		must(t, folder.Close())
		left := under(t, dir)
		for file := range others {
			if !slices.Contains(left, file) {
				t.Errorf("%s: %s was removed", name, file)
			}
		}
		if len(left) != len(others) {
			t.Errorf("%s: %q is left", name, left)
		}
	}
}

// An empty folder and one that is not there are as good as each other; one that a failed run
// has made goes with it.
func TestOpenFolderNew(t *testing.T) {
	empty, gone := t.TempDir(), filepath.Join(t.TempDir(), "a", "b")
	for _, dir := range []string{empty, gone} {
		folder, err := openFolder(dir, false)
		must(t, err)
		must(t, folder.discard())
		must(t, folder.Close())
		_, err = os.Stat(dir)
		if (dir == gone) != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// What has the name of a file of a run and is none is not touched, nor what it leads to, nor
// anything else.
func TestOpenFolderLinks(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		says  string
	}{
		"gradients elsewhere": {map[string]string{"gradients": "->../other/gradients"}, "gradients: is a link, "},
		"gradients here":      {map[string]string{"g/x": "", "gradients": "->g"}, "gradients: is a link, "},
		"gradients nowhere":   {map[string]string{"gradients": "->nowhere"}, "gradients: is a link, "},
		"gradients a file":    {map[string]string{"gradients": ""}, "gradients: is a file, "},
		"a trace elsewhere": {
			map[string]string{"rank0.json.gz": "->../other/rank0.json.gz"}, "rank0.json.gz: is a link, ",
		},
		"a log that is a folder": {map[string]string{"tokens.jsonl/": ""}, "tokens.jsonl: is a directory, "},
		"a gradient elsewhere": {
			map[string]string{"gradients/rank0-step0.safetensors": "->../../other/gradients/rank0-step0.safetensors"},
			"rank0-step0.safetensors: is a link, ",
		},
	} {
		parent := t.TempDir()
		dir, other := filepath.Join(parent, "run"), filepath.Join(parent, "other")
		place(t, other, aRun)
		place(t, dir, c.files)
		place(t, dir, map[string]string{"rank5.json.gz": "", "loss.jsonl": ""})
		before := under(t, parent)
		_, err := openFolder(dir, true)
		var e *tracefile.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), c.says) || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
		if got := under(t, parent); !slices.Equal(got, before) {
			t.Errorf("%s: %q is left of %q", name, got, before)
		}
	}
}

// A link that appears while a run is under way is not written through either.
func TestFolderLinksLater(t *testing.T) {
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "run"), filepath.Join(parent, "other")
	place(t, other, map[string]string{"rank0.json.gz": "theirs", "tokens.jsonl": "theirs", "g/": ""})
	folder, err := openFolder(dir, false)
	must(t, err)
	defer folder.Close()
	place(t, dir, map[string]string{
		"gradients": "->../other/g", "tokens.jsonl": "->../other/tokens.jsonl",
		"rank0.json.gz": "->../other/rank0.json.gz",
	})
	tensors := []sidecar.Tensor{{Name: "w", Dtype: sidecar.F32, Values: []float64{1}}}
	if err := folder.gradients(0, 0, 1, tensors); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("gradients: %v", err)
	}
	must(t, folder.write(&trained{job: &trainJob{}}))
	for _, name := range []string{"rank0.json.gz", "tokens.jsonl"} {
		if text, err := os.ReadFile(filepath.Join(other, name)); err != nil || string(text) != "theirs" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if info, err := os.Lstat(filepath.Join(dir, tokensFile)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
	if list := under(t, filepath.Join(other, "g")); len(list) > 0 {
		t.Errorf("%q were written elsewhere", list)
	}
}
