// Command site makes the static site of docs/, with a search, and fails where a link of it is dead
// or a page asks for something on another machine.
//
//	go run -C tools ./site            writes site/
//	go run -C tools ./site -out DIR   writes it there
//
// README is the first page. A page of docs/ that nav.go does not name stands at the end of the
// navigation. The generator, Zensical, is installed into a virtual environment ($VENV_SITE, else
// .venv-site) by requirements.txt; after that no network is needed.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	out := flag.String("out", "site", "folder to write, from the root of the repository; what is in it is replaced")
	flag.Parse()
	if err := run("..", *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	to := out
	if !filepath.IsAbs(out) {
		to = filepath.Join(root, out)
	}
	work, err := os.MkdirTemp("", "gaprof-site-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	n, err := stage(root, work)
	if err != nil {
		return err
	}
	generator, err := installed(root)
	if err != nil {
		return err
	}
	if err := quietly(generator, "build", "--strict", "-f", filepath.Join(work, "zensical.toml")); err != nil {
		return err
	}
	made := filepath.Join(work, "site")
	if faults := check(made); len(faults) > 0 {
		return errors.Join(faults...)
	}
	if err := replace(to, made); err != nil {
		return err
	}
	fmt.Printf("site: %d pages; python3 -m http.server -d %s shows them\n", n, out)
	return nil
}

// installed returns the generator, and installs what is not there yet.
func installed(root string) (string, error) {
	wanted, err := os.ReadFile("site/requirements.txt")
	if err != nil {
		return "", err
	}
	venv := os.Getenv("VENV_SITE")
	if venv == "" {
		venv = filepath.Join(root, ".venv-site")
	}
	mark := filepath.Join(venv, "requirements.txt")
	if have, err := os.ReadFile(mark); err == nil && bytes.Equal(have, wanted) {
		return filepath.Join(venv, "bin", "zensical"), nil
	}
	fmt.Println("site: installing the generator, Zensical")
	if err := quietly("python3", "-m", "venv", venv); err != nil {
		return "", err
	}
	err = quietly(filepath.Join(venv, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--no-deps", "--require-hashes", "-r", "site/requirements.txt")
	if err != nil {
		return "", fmt.Errorf("the package index is not reachable, or has no wheel of the pinned versions: %w", err)
	}
	return filepath.Join(venv, "bin", "zensical"), os.WriteFile(mark, wanted, 0o644)
}

// quietly runs a program, whose output is shown where it fails.
func quietly(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// replace puts the folder from in the place of out, if that is no folder of something else.
func replace(out, from string) error {
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(out, "sitemap.xml")); err != nil {
			return fmt.Errorf("%s is not a site; it is not replaced", out)
		}
		if err := os.RemoveAll(out); err != nil {
			return err
		}
	}
	return os.CopyFS(out, os.DirFS(from))
}
