package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// platform is a system that programs are made for.
type platform struct {
	os, arch string
	wheel    string // the platform tag of its wheel
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the name of the program there.
func (p platform) program() string {
	if p.os == "windows" {
		return "gaprof.exe"
	}
	return "gaprof"
}

// The static program needs no C library, so that one wheel serves glibc and musl; the
// versions are the least that installers know. Go 1.26 needs macOS 12.
var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
}

// release is what is made of one commit.
type release struct {
	root, out, work string
	platforms       []platform
	version         string // such as 0.1
	commit, date    string // "" without a repository
	dirty           bool   // files differ from the commit
	time            time.Time
	built           map[platform]string // paths of programs
	made            []string            // names of files
}

var versionLine = regexp.MustCompile(`(?m)^const Version = "([0-9][0-9a-z.]*)"$`)

// newRelease reads the version from the source and the commit from git, if there is one.
func newRelease(root, out, only string) (*release, error) {
	list, err := wanted(only)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "internal/release/release.go"))
	if err != nil {
		return nil, err
	}
	found := versionLine.FindSubmatch(text)
	if found == nil {
		return nil, fmt.Errorf("internal/release/release.go names no version")
	}
	if !filepath.IsAbs(out) {
		out = filepath.Join(root, out)
	}
	r := &release{root: root, out: out, platforms: list, version: string(found[1]),
		built: make(map[platform]string), time: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := r.readCommit(); err != nil {
		return nil, err
	}
	r.work, err = os.MkdirTemp("", "dist")
	return r, err
}

// readCommit reads the commit, its date and the tag that it has. A tag that is not the
// version of the source is a mistake of the one who made it.
func (r *release) readCommit() error {
	r.commit, r.date = r.git("rev-parse", "HEAD"), r.git("show", "-s", "--format=%cI", "HEAD")
	r.dirty = r.git("status", "--porcelain", "--untracked-files=no") != ""
	if t, err := time.Parse(time.RFC3339, r.date); err == nil {
		r.time = t.UTC()
		r.date = r.time.Format(time.RFC3339)
	}
	if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		r.time = time.Unix(epoch, 0).UTC()
	}
	tag := r.git("describe", "--tags", "--exact-match", "--match", "v[0-9]*")
	if tag != "" && tag != "v"+r.version && tag != "v"+r.version+".0" {
		return fmt.Errorf("the tag is %s and internal/release says %s", tag, r.version)
	}
	return nil
}

// git is the output of a git command; "" where there is no repository, or no answer.
func (r *release) git(args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	text, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// build builds the program for a platform, once.
func (r *release) build(p platform) ([]byte, error) {
	const where = "github.com/gaprof/gaprof/internal/release."
	path, ok := r.built[p]
	if !ok {
		path = filepath.Join(r.work, p.os+"-"+p.arch, p.program())
		stamp := fmt.Sprintf("-s -w -X %scommit=%s -X %sdate=%s -X %sdirty=%t", where, r.commit, where, r.date, where,
			r.dirty)
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", stamp, "-o", path, "./cmd/gaprof")
		cmd.Dir = r.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0")
		var log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &log, &log
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", p, err, log.String())
		}
		r.built[p] = path
	}
	return os.ReadFile(path)
}

// license is the text that goes into everything.
func (r *release) license() ([]byte, error) { return os.ReadFile(filepath.Join(r.root, "LICENSE")) }
