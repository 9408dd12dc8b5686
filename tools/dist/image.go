package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// The media types of an OCI image.
const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// nobody is the user of the image: no root, no name to look up.
const nobody = "65532:65532"

// descriptor names a blob.
type descriptor struct {
	Type        string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// layout is an OCI image layout in the making.
type layout struct{ blobs []file }

// add adds a blob and returns what names it.
func (l *layout) add(kind string, content []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	name := "blobs/sha256/" + sum
	if !slices.ContainsFunc(l.blobs, func(f file) bool { return f.name == name }) {
		l.blobs = append(l.blobs, file{name, content, 0o644})
	}
	return descriptor{Type: kind, Digest: "sha256:" + sum, Size: len(content)}
}

func (l *layout) addJSON(kind string, v any) (descriptor, error) {
	text, err := json.Marshal(v)
	return l.add(kind, text), err
}

// image writes an image for each Linux platform as one OCI archive: what the Containerfile
// says, for those who have no builder. skopeo, podman and docker load it.
func (r *release) image() error {
	var l layout
	var manifests []descriptor
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		d, err := r.manifest(&l, p)
		if err != nil {
			return err
		}
		manifests = append(manifests, d)
	}
	type object = map[string]any
	all, err := l.addJSON(indexType, object{"schemaVersion": 2, "mediaType": indexType, "manifests": manifests})
	if err != nil {
		return err
	}
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.version,
		"io.containerd.image.name": "ghcr.io/gaprof/gaprof:" + r.version}
	index, err := json.Marshal(object{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{all}})
	if err != nil {
		return err
	}
	files := []file{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644}, {"index.json", index, 0o644},
		{"blobs/", nil, 0o755}, {"blobs/sha256/", nil, 0o755}}
	content, err := packTar(append(files, l.blobs...), r.time)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("gaprof_%s_image.oci.tar", r.version), content)
}

// manifest adds the image of one platform: one layer with the program and its license.
func (r *release) manifest(l *layout, p platform) (descriptor, error) {
	program, err := r.build(p)
	if err != nil {
		return descriptor{}, err
	}
	license, err := r.license()
	if err != nil {
		return descriptor{}, err
	}
	files := []file{{"gaprof", program, 0o755}, {"LICENSE", license, 0o644}, {"work/", nil, 0o755}}
	plain, err := packTar(files, r.time)
	if err != nil {
		return descriptor{}, err
	}
	packed, err := packTarGz(files, r.time)
	if err != nil {
		return descriptor{}, err
	}
	labels := map[string]string{"org.opencontainers.image.source": "https://github.com/gaprof/gaprof",
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.version": r.version,
		"org.opencontainers.image.revision": r.commit}
	type object = map[string]any
	created := r.time.Format(time.RFC3339)
	config, err := l.addJSON(configType, object{"created": created, "architecture": p.arch, "os": p.os,
		"config":  object{"User": nobody, "WorkingDir": "/work", "Entrypoint": []string{"/gaprof"}, "Labels": labels},
		"rootfs":  object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}},
		"history": []object{{"created": created, "created_by": "COPY gaprof /gaprof"}}})
	if err != nil {
		return descriptor{}, err
	}
	layer := l.add(layerType, packed)
	d, err := l.addJSON(manifestType, object{"schemaVersion": 2, "mediaType": manifestType, "config": config,
		"layers": []descriptor{layer}})
	d.Platform = map[string]string{"os": p.os, "architecture": p.arch}
	return d, err
}
