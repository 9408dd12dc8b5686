package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// file is a file of a wheel or an archive.
type file struct {
	name    string
	content []byte
	mode    fs.FileMode
}

// wheels writes a wheel for each platform: the program as a script, and the package that
// finds it.
func (r *release) wheels() error {
	python, err := r.python()
	if err != nil {
		return err
	}
	license, err := r.license()
	if err != nil {
		return err
	}
	for _, p := range r.platforms {
		program, err := r.build(p)
		if err != nil {
			return err
		}
		base := "gaprof-" + r.version
		info := base + ".dist-info/"
		files := append(python, file{base + ".data/scripts/" + p.program(), program, 0o755},
			file{info + "licenses/LICENSE", license, 0o644}, file{info + "METADATA", []byte(r.metadata()), 0o644},
			file{info + "WHEEL", []byte(wheelText(p)), 0o644})
		content, err := packWheel(files, info+"RECORD", r.time)
		if err == nil {
			err = r.write(fmt.Sprintf("%s-py3-none-%s.whl", base, p.wheel), content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// python are the files of the package gaprof, in the order of their names.
func (r *release) python() ([]file, error) {
	var files []file
	root := filepath.Join(r.root, "python")
	err := filepath.WalkDir(filepath.Join(root, "gaprof"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if name := d.Name(); !strings.HasSuffix(name, ".py") && name != "py.typed" && !strings.HasSuffix(name, ".pyi") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files = append(files, file{filepath.ToSlash(name), content, 0o644})
		return err
	})
	return files, err
}

// metadata describes the distribution: core metadata, version 2.4.
func (r *release) metadata() string {
	const home = "https://github.com/gaprof/gaprof"
	return `Metadata-Version: 2.4
Name: gaprof
Version: ` + r.version + `
Summary: What the gap between backward() and optimizer.step() costs: findings from PyTorch traces
Author: The gaprof authors
License-Expression: Apache-2.0
License-File: LICENSE
Keywords: pytorch,profiler,trace,training,distributed,nccl
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Developers
Classifier: Operating System :: MacOS
Classifier: Operating System :: Microsoft :: Windows
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Quality Assurance
Classifier: Typing :: Typed
Requires-Python: >=3.9
Project-URL: Homepage, ` + home + `
Project-URL: Documentation, ` + home + `/tree/main/docs
Project-URL: Issues, ` + home + `/issues
Description-Content-Type: text/markdown

# gaprof

gaprof reads the traces that PyTorch's profiler writes and says what a training step loses, why, what it costs and what
to change. It is one static program without dependencies; this wheel installs it as ` + "`gaprof`" + `, and ` + "`python -m gaprof`" + `
runs it.

    gaprof trace.json.gz
    gaprof report trace.json.gz -o report.html
    gaprof check trace.json.gz --baseline main.json
`
}

// wheelText is the file WHEEL.
func wheelText(p platform) string {
	text := "Wheel-Version: 1.0\nGenerator: gaprof dist\nRoot-Is-Purelib: false\n"
	for tag := range strings.SplitSeq(p.wheel, ".") {
		text += "Tag: py3-none-" + tag + "\n"
	}
	return text
}

// packWheel writes a wheel: the files, and last the list of all with their sums.
func packWheel(files []file, record string, at time.Time) ([]byte, error) {
	var list strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&list, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&list, "%s,,\n", record)
	return packZip(append(files, file{record, []byte(list.String()), 0o644}), at)
}

// packZip writes a zip archive whose bytes depend on nothing but its arguments.
func packZip(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.content)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
