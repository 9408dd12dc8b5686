package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake is a release whose programs are small files.
func fake(t *testing.T) *release {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := &release{root: "../..", out: t.TempDir(), version: "1.2", commit: "abc", platforms: platforms,
		time: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), built: make(map[platform]string)}
	for _, p := range platforms {
		r.built[p] = program
	}
	return r
}

// self is this test, a program that says what it is made of.
func self(t *testing.T) string {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func unzip(t *testing.T, path string) map[string]string {
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := make(map[string]string)
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(content)
		wantMode := map[bool]fs.FileMode{true: 0o755, false: 0o644}[strings.Contains(f.Name, "/scripts/")]
		if f.Mode() != wantMode {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
	return files
}

// TestWheels: every file is in RECORD with its sum and size, and only RECORD has none.
func TestWheels(t *testing.T) {
	r := fake(t)
	if err := r.wheels(); err != nil {
		t.Fatal(err)
	}
	if len(r.made) != len(platforms) {
		t.Fatal(r.made)
	}
	for i, p := range platforms {
		name := "gaprof-1.2-py3-none-" + p.wheel + ".whl"
		if r.made[i] != name {
			t.Errorf("%s, want %s", r.made[i], name)
		}
		files := unzip(t, filepath.Join(r.out, r.made[i]))
		for line := range strings.Lines(files["gaprof-1.2.dist-info/RECORD"]) {
			part := strings.Split(strings.TrimSpace(line), ",")
			content, ok := files[part[0]]
			sum := sha256.Sum256([]byte(content))
			want := []string{"sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), fmt.Sprint(len(content))}
			if strings.HasSuffix(part[0], "/RECORD") {
				want = []string{"", ""}
			}
			if !ok || !slices.Equal(part[1:], want) {
				t.Errorf("%s: %v, want %v", part[0], part[1:], want)
			}
			delete(files, part[0])
		}
		if len(files) != 0 {
			t.Errorf("not in RECORD: %d files", len(files))
		}
	}
	files := unzip(t, filepath.Join(r.out, r.made[0]))
	for _, name := range []string{"gaprof/__init__.py", "gaprof/__main__.py", "gaprof/py.typed",
		"gaprof-1.2.data/scripts/gaprof", "gaprof-1.2.dist-info/licenses/LICENSE"} {
		if _, ok := files[name]; !ok {
			t.Error("no", name)
		}
	}
	const tags = "Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-manylinux2014_x86_64\n" +
		"Tag: py3-none-musllinux_1_1_x86_64\n"
	if text := files["gaprof-1.2.dist-info/WHEEL"]; !strings.HasSuffix(text, tags) {
		t.Error(text)
	}
}

// TestSameBytes: the same release twice.
func TestSameBytes(t *testing.T) {
	a, b := fake(t), fake(t)
	for _, r := range []*release{a, b} {
		r.platforms = []platform{platforms[4]}
		r.built[platforms[4]] = self(t)
		for _, make := range []func() error{r.wheels, r.image, r.archives} {
			if err := make(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range a.made {
		x, err := os.ReadFile(filepath.Join(a.out, name))
		y, err2 := os.ReadFile(filepath.Join(b.out, name))
		if err != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs (%v, %v)", name, err, err2)
		}
	}
	sums, err := os.ReadFile(filepath.Join(a.out, "checksums.txt"))
	if n := strings.Count(string(sums), "\n"); err != nil || n != len(a.made)-1 {
		t.Errorf("%d sums of %v, %v", n, a.made, err)
	}
}

func untar(t *testing.T, in io.Reader) map[string]string {
	files := make(map[string]string)
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(content)
	}
}

// TestImage: every name leads to a blob of that sum and size, down to the program.
func TestImage(t *testing.T) {
	r := fake(t)
	if err := r.image(); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(filepath.Join(r.out, r.made[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	files := untar(t, in)
	blob := func(d descriptor) string {
		content := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content))) != d.Digest || len(content) != d.Size {
			t.Fatalf("no blob of %+v", d)
		}
		return content
	}
	type parts struct {
		Manifests, Layers []descriptor
		Config            descriptor
	}
	read := func(text string) (p parts) {
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	var seen []string
	for _, d := range read(blob(read(files["index.json"]).Manifests[0])).Manifests {
		m := read(blob(d))
		seen = append(seen, d.Platform["os"]+"/"+d.Platform["architecture"])
		z, err := gzip.NewReader(strings.NewReader(blob(m.Layers[0])))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		layer := untar(t, bytes.NewReader(plain))
		config := blob(m.Config)
		for _, want := range []string{fmt.Sprintf(`"sha256:%x"`, sha256.Sum256(plain)), `"User":"65532:65532"`,
			`"Entrypoint":["/gaprof"]`, `"architecture":"` + d.Platform["architecture"]} {
			if !strings.Contains(config, want) {
				t.Errorf("no %s in %s", want, config)
			}
		}
		if len(layer["gaprof"]) == 0 || len(layer["LICENSE"]) == 0 {
			t.Error("no program, or no license")
		}
	}
	if fmt.Sprint(seen) != "[linux/amd64 linux/arm64]" {
		t.Error(seen)
	}
}

// TestContents: the bill names the program, the standard library and the modules.
func TestContents(t *testing.T) {
	r := fake(t)
	r.built[platforms[0]] = self(t)
	text, err := r.contents(platforms[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if b.Spec != "1.6" || b.Metadata.Component.Hashes[0].Alg != "SHA-256" || b.Components[0].Name != "std" ||
		len(b.Dependencies[0].On) != len(b.Components) || b.Metadata.Timestamp != "2026-01-02T03:04:06Z" {
		t.Errorf("%s", text)
	}
}

func TestWanted(t *testing.T) {
	if list, err := wanted("linux/arm64,windows/amd64"); err != nil || fmt.Sprint(list) != "[linux/arm64 windows/amd64]" {
		t.Error(list, err)
	}
	if _, err := wanted("plan9/386"); err == nil {
		t.Error("an unknown platform")
	}
	if err := run([]string{"nothing"}, "", t.TempDir()); err == nil {
		t.Error("an unknown form")
	}
	if err := run(nil, "", t.TempDir()); err == nil {
		t.Error("no form")
	}
}
