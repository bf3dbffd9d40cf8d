package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
)

// The provenance is an in-toto statement with the predicate of SLSA: which files
// were made, from which commit and modules, with which compiler. It contains no time
// and no machine name, so that whoever builds the commit again makes the same one.
const (
	provenanceType = "https://slsa.dev/provenance/v1"
	buildType      = "https://github.com/tidegate/tidegate/blob/main/docs/setup.md#provenance"
	repository     = "git+https://github.com/tidegate/tidegate"
)

type provenance struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		InternalParameters   map[string]string `json:"internalParameters"`
		ResolvedDependencies []resource        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

type resource struct {
	URI    string            `json:"uri"`
	Digest map[string]string `json:"digest"`
}

// provenance writes the statement, signed if a key is named.
func (r *release) provenance(ctx context.Context) error {
	var p provenance
	p.BuildDefinition.BuildType = buildType
	p.BuildDefinition.ExternalParameters = map[string]string{"version": r.version}
	p.BuildDefinition.InternalParameters = map[string]string{"go": runtime.Version()}
	p.BuildDefinition.ResolvedDependencies = []resource{{repository + "@refs/tags/" + r.version, map[string]string{"gitCommit": r.commit}}}
	p.BuildDefinition.ResolvedDependencies = append(p.BuildDefinition.ResolvedDependencies, r.modules...)
	p.RunDetails.Builder.ID = repository + "/internal/release"
	text, err := codec.MarshalLine(p)
	if err != nil {
		return err
	}
	predicate, err := codec.Parse(text)
	if err != nil {
		return err
	}
	var subjects []seal.Subject
	for _, m := range r.made {
		subjects = append(subjects, seal.Subject{Name: m.name, SHA256: m.digest})
	}
	var key *seal.Key
	if r.key != "" {
		if key, err = seal.OpenKey(artifact.Everywhere, "sign", r.key, seal.Unlock{}); err != nil {
			return err
		}
	}
	statement, err := seal.Attest(ctx, key, subjects, provenanceType, predicate)
	if err != nil {
		return err
	}
	name := "provenance.intoto.json"
	if key != nil {
		name = "provenance.dsse.json"
	}
	return r.write(name, append(statement, '\n'))
}

// modulesOf are the modules that the programs were built from, by the digests in go.sum.
func (r *release) modulesOf() ([]resource, error) {
	var found []resource
	seen := map[string]bool{}
	for _, t := range r.targets {
		for _, program := range [][]byte{r.programs[t], r.workers[t]} {
			info, err := buildinfo.Read(bytes.NewReader(program))
			if err != nil {
				return nil, fmt.Errorf("a program for %s/%s: %w", t.os, t.arch, err)
			}
			for _, m := range info.Deps {
				uri := "pkg:golang/" + m.Path + "@" + m.Version
				if m.Path != ours && !seen[uri] {
					seen[uri] = true
					found = append(found, resource{uri, map[string]string{"goModuleH1": m.Sum}})
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b resource) int { return strings.Compare(a.URI, b.URI) })
	return found, nil
}
