package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// A program that is handed on comes with the licences of what it is built from: one
// file with all of them, which names each module. A module whose licence is not among
// those listed here stops the release.

// licence is a licence, recognised by a sentence that only it has.
type licence struct {
	name string
	said *regexp.Regexp
}

// licences are the licences that a module may have.
var licences = []licence{
	{"Apache-2.0", regexp.MustCompile(`Apache License\s+Version 2\.0`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
	{"BSD-3-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms[\s\S]*Neither the name`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify, and/?(or)? distribute this software`)},
}

// licenceOf is the name of the licence in a text, "" for an unknown one.
func licenceOf(text []byte) string {
	for _, l := range licences {
		if l.said.Match(text) {
			return l.name
		}
	}
	return ""
}

// module is a module that the program is built from.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// ours is the module that the worker has beside its own.
const ours = "github.com/tidegate/tidegate"

// builtFrom lists the modules of the packages that a program is built from on any of
// the platforms, in byte order.
func builtFrom(ctx context.Context, dir, program string, targets []target) ([]module, error) {
	var found []module
	for _, t := range targets {
		out, err := command(ctx, folderOf(dir, program), []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOFLAGS="}, "go", "list", "-deps", "-json=Module", "./cmd/"+program)
		if err != nil {
			return nil, err
		}
		for packages := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			err := packages.Decode(&p)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			if p.Module != nil && !p.Module.Main && p.Module.Path != ours && !slices.Contains(found, *p.Module) {
				found = append(found, *p.Module)
			}
		}
	}
	slices.SortFunc(found, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return found, nil
}

// third is the text with the licences of other people's work in the program.
func third(ctx context.Context, dir, program string, targets []target) ([]byte, error) {
	modules, err := builtFrom(ctx, dir, program, targets)
	if err != nil {
		return nil, err
	}
	root, err := command(ctx, dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules = append(modules, module{Path: "the Go standard library and runtime", Version: runtime.Version(), Dir: strings.TrimSpace(string(root))})
	var out bytes.Buffer
	out.WriteString(program + " is built from the work of others, under these licences.\n")
	for _, m := range modules {
		name, text, err := m.licence()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "\n%s\n%s %s: %s\n%s\n\n%s\n", strings.Repeat("-", 80), m.Path, m.Version, name, strings.Repeat("-", 80), bytes.TrimSpace(text))
	}
	return out.Bytes(), nil
}

// withoutLicence are versions of modules that come without a licence and were taken
// nevertheless, with what the release says of them. Another version stops it.
var withoutLicence = map[string]string{
	"github.com/nexus-rpc/nexus-proto-annotations v0.1.0": "The module has no licence file. It is a dependency of go.temporal.io/api, whose licence is MIT.",
}

// licence reads the licence of a module.
func (m module) licence() (name string, text []byte, err error) {
	for _, file := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", "LICENCE"} {
		text, err = os.ReadFile(filepath.Join(m.Dir, file))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if name = licenceOf(text); name == "" {
			return "", nil, fmt.Errorf("%s %s has a licence that nobody decided on: %s", m.Path, m.Version, file)
		}
		return name, text, nil
	}
	if said := withoutLicence[m.Path+" "+m.Version]; said != "" {
		return "no licence", []byte(said), nil
	}
	return "", nil, fmt.Errorf("%s %s has no licence", m.Path, m.Version)
}
