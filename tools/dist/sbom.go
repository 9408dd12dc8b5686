package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// component is a part of a program in CycloneDX.
type component struct {
	Type     string     `json:"type"`
	Ref      string     `json:"bom-ref"`
	Name     string     `json:"name"`
	Version  string     `json:"version"`
	Licenses []any      `json:"licenses,omitempty"`
	PURL     string     `json:"purl"`
	Hashes   []hashText `json:"hashes,omitempty"`
}

type hashText struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// bill is a bill of materials: CycloneDX 1.6.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

// contents lists the modules that a program was linked from, as the program itself says.
// The hash of a module is that of go.sum, which covers its files.
func (r *release) contents(p platform) ([]byte, error) {
	program, err := r.build(p)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(r.built[p])
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	main := component{Type: "application", Name: "gaprof", Version: r.version, Ref: "gaprof",
		PURL:     fmt.Sprintf("pkg:golang/%s@v%s?goos=%s&goarch=%s", info.Main.Path, r.version, p.os, p.arch),
		Hashes:   []hashText{{"SHA-256", hex.EncodeToString(sum[:])}},
		Licenses: []any{map[string]any{"license": map[string]string{"id": "Apache-2.0"}}}}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Serial: serial(sum),
		Metadata: metadata{r.time.Format(time.RFC3339), main}}
	b.add(component{Type: "library", Name: "std", Version: info.GoVersion,
		PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")})
	for _, d := range info.Deps {
		c, err := library(d)
		if err != nil {
			return nil, err
		}
		b.add(c)
	}
	return json.MarshalIndent(b, "", " ")
}

// add adds a component on which the program depends.
func (b *bill) add(c component) {
	c.Ref = c.PURL
	b.Components = append(b.Components, c)
	if b.Dependencies == nil {
		b.Dependencies = []dependency{{Ref: "gaprof"}}
	}
	b.Dependencies[0].On = append(b.Dependencies[0].On, c.Ref)
}

// library is a module.
func library(m *debug.Module) (component, error) {
	c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version}
	text, ok := strings.CutPrefix(m.Sum, "h1:")
	if !ok {
		return c, nil
	}
	sum, err := base64.StdEncoding.DecodeString(text)
	c.Hashes = []hashText{{"SHA-256", hex.EncodeToString(sum)}}
	return c, err
}

// serial is a UUID that follows from the program, so that the same program has the same.
func serial(sum [32]byte) string {
	b := sum[:16]
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
