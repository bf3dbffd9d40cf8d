package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// The image is an OCI layout in a tar: a static program in an empty file system, for
// each Linux platform. It is what the Containerfile makes, but needs no container
// engine.

// nobody is the user that the program runs as in the image.
const nobody = 65532

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitzero"`
	Annotations map[string]string `json:"annotations,omitzero"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type imageIndex struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type imageManifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type imageConfig struct {
	Created      string `json:"created"`
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Config       struct {
		User       string            `json:"User"`
		Env        []string          `json:"Env"`
		Entrypoint []string          `json:"Entrypoint"`
		Cmd        []string          `json:"Cmd"`
		WorkingDir string            `json:"WorkingDir"`
		Labels     map[string]string `json:"Labels"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// layout is an OCI layout under construction.
type layout struct{ blobs []entry }

// add adds a blob and describes it.
func (l *layout) add(mediaType string, data []byte) descriptor {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	l.blobs = append(l.blobs, entry{"blobs/sha256/" + name, data, 0o644})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: len(data)}
}

func (l *layout) addJSON(mediaType string, v any) (descriptor, error) {
	data, err := codec.MarshalLine(v)
	return l.add(mediaType, data), err
}

func (r *release) image() error {
	index := imageIndex{SchemaVersion: 2, MediaType: typeIndex}
	l := &layout{}
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		d, err := r.imageOf(l, t)
		if err != nil {
			return err
		}
		index.Manifests = append(index.Manifests, d)
	}
	if index.Manifests == nil {
		return nil
	}
	whole, err := l.addJSON(typeIndex, index)
	if err != nil {
		return err
	}
	whole.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.number()}
	top, err := codec.MarshalLine(imageIndex{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{whole}})
	if err != nil {
		return err
	}
	entries := append([]entry{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644}, {"index.json", top, 0o644}, {"blobs/", nil, 0o755}, {"blobs/sha256/", nil, 0o755}}, l.blobs...)
	data, err := tarOf(entries, r.time, owner{0})
	if err != nil {
		return err
	}
	return r.write("tidegate_"+r.number()+"_oci.tar", data)
}

func (r *release) imageOf(l *layout, t target) (descriptor, error) {
	entries := []entry{{"runs/", nil, 0o755}, {"tidegate", r.programs[t], 0o755}, {"tmp/", nil, 0o1777}, {"work/", nil, 0o755}}
	for _, e := range r.share {
		if strings.HasPrefix(e.name, "LICENSE") {
			entries = append(entries, e)
		}
	}
	plain, err := tarOf(entries, r.time, owner{nobody})
	if err != nil {
		return descriptor{}, err
	}
	packed, err := gz(plain)
	if err != nil {
		return descriptor{}, err
	}
	sum := sha256.Sum256(plain)
	var config imageConfig
	config.Created, config.Architecture, config.OS = r.time.Format(time.RFC3339), t.arch, t.os
	config.Config.User, config.Config.WorkingDir = "65532:65532", "/work"
	config.Config.Env = []string{"TIDEGATE_HOME=/"}
	config.Config.Entrypoint, config.Config.Cmd = []string{"/tidegate"}, []string{"--help"}
	config.Config.Labels = map[string]string{
		"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.source": "https://github.com/tidegate/tidegate",
		"org.opencontainers.image.version": r.number(), "org.opencontainers.image.licenses": "Apache-2.0",
	}
	config.RootFS.Type, config.RootFS.DiffIDs = "layers", []string{"sha256:" + hex.EncodeToString(sum[:])}
	described, err := l.addJSON(typeConfig, config)
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON(typeManifest, imageManifest{SchemaVersion: 2, MediaType: typeManifest, Config: described, Layers: []descriptor{l.add(typeLayer, packed)}})
	d.Platform = &platform{t.arch, t.os}
	return d, err
}
