// Command dist makes what people install, from Go alone: wheels for pip, archives with
// checksums, a list of what is in them (SBOM), and a container image as an OCI archive.
// Each holds the static program of one platform. The same commit gives the same bytes.
//
//	go run -C tools ./dist wheels archives image
//
// What it makes lies in dist/. Times in it are that of SOURCE_DATE_EPOCH, else of the commit.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	only := flag.String("only", "", "platforms to make, such as linux/amd64,windows/amd64; empty for all")
	out := flag.String("out", "dist", "folder to write to, from the root of the repository")
	flag.Parse()
	if err := run(flag.Args(), *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// forms are what can be made.
var forms = map[string]func(*release) error{
	"wheels": (*release).wheels, "archives": (*release).archives, "image": (*release).image,
}

func run(words []string, only, out string) error {
	if len(words) == 0 {
		return errors.New("say what to make: wheels, archives, image")
	}
	r, err := newRelease("..", out, only)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, word := range words {
		make, ok := forms[word]
		if !ok {
			return fmt.Errorf("%q: there are wheels, archives and image", word)
		}
		if err := make(r); err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	return nil
}

// write writes a file of the release and says so.
func (r *release) write(name string, content []byte) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, name), content, 0o644); err != nil {
		return err
	}
	fmt.Printf("%9.1f MB  %s\n", float64(len(content))/1e6, name)
	r.made = append(r.made, name)
	return nil
}

// wanted are the platforms that a list names; all for an empty one.
func wanted(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var list []platform
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("no platform %s: there are %v", name, platforms)
		}
		list = append(list, platforms[i])
	}
	return list, nil
}
