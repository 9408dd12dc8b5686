package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archives writes an archive for each platform, what each program consists of, and the
// sums of all files of the release.
func (r *release) archives() error {
	license, err := r.license()
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(r.root, "README.md"))
	if err != nil {
		return err
	}
	for _, p := range r.platforms {
		program, err := r.build(p)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("gaprof_%s_%s_%s", r.version, p.os, p.arch)
		files := []file{{name + "/LICENSE", license, 0o644}, {name + "/README.md", readme, 0o644},
			{name + "/" + p.program(), program, 0o755}}
		pack, ending := packTarGz, ".tar.gz"
		if p.os == "windows" {
			pack, ending = packZip, ".zip"
		}
		content, err := pack(files, r.time)
		if err == nil {
			err = r.write(name+ending, content)
		}
		if err != nil {
			return err
		}
		list, err := r.contents(p)
		if err == nil {
			err = r.write(name+".cdx.json", list)
		}
		if err != nil {
			return err
		}
	}
	return r.sums()
}

// sums writes the sums of everything that lies in the folder, as sha256sum -c reads them.
func (r *release) sums() error {
	names, err := filepath.Glob(filepath.Join(r.out, "gaprof*"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	var b strings.Builder
	for _, path := range names {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), filepath.Base(path))
	}
	return r.write("checksums.txt", []byte(b.String()))
}

// packTarGz writes a compressed tar archive whose bytes depend on nothing but its arguments.
func packTarGz(files []file, at time.Time) ([]byte, error) {
	plain, err := packTar(files, at)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func packTar(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: at,
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag, h.Size = tar.TypeDir, 0
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := io.Copy(t, bytes.NewReader(f.content)); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}
