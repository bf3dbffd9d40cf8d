package main

import (
	"context"
	"io"
	"io/fs"
	"mime"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/store"
)

const (
	schemaURI = "tidegate://schema/"
	runURI    = "tidegate://run/"
	auditURI  = "tidegate://audit/"

	// maxResource bounds what is sent of a run: a client gives it to a model.
	maxResource = 4 << 20
)

// runTemplates are the artifacts of the runs in home and of the audits beside them, only for
// reading.
func runTemplates(desk run.Desk, home string) []mcp.Template {
	return []mcp.Template{
		{
			URITemplate: runURI + "{run}",
			Name:        "run",
			Description: "the artifacts of a run, by the run's id: a list of their URIs and sizes",
			MIMEType:    "application/json",
			Read: func(ctx context.Context, uri string) ([]byte, string, error) {
				folder, _, err := openRun(ctx, desk, home, uri)
				if err != nil {
					return nil, "", err
				}
				defer folder.Close()
				data, err := listArtifacts(folder, strings.TrimSuffix(uri, "/"))
				return data, "application/json", err
			},
		},
		{
			URITemplate: runURI + "{run}/{+path}",
			Name:        "artifact",
			Description: "one artifact of a run, by the run's id and its path in the run's folder, such as wave-1/p1.md",
			Read: func(ctx context.Context, uri string) ([]byte, string, error) {
				folder, name, err := openRun(ctx, desk, home, uri)
				if err != nil {
					return nil, "", err
				}
				defer folder.Close()
				data, err := readArtifact(folder, name)
				return data, mimeTypeOf(name), err
			},
		},
		{
			URITemplate: auditURI + "{audit}/{+path}",
			Name:        "audit",
			Description: "one artifact of an audit, by the audit's id and its path in the audit's folder, such as " + audit.ResultFile,
			Read: func(_ context.Context, uri string) ([]byte, string, error) {
				id, name, err := namesIn(auditURI, uri)
				if err != nil {
					return nil, "", err
				}
				folder, err := desk.Reach.Open("uri", filepath.Join(store.Audits.Home(home), id))
				if err != nil {
					return nil, "", err
				}
				defer folder.Close()
				data, err := readArtifact(folder, name)
				return data, mimeTypeOf(name), err
			},
		},
	}
}

// linksOf are the report and the archive that a result leaves in home, as far as they are
// there.
func linksOf(desk run.Desk, home string) func(result any) []mcp.Link {
	return func(result any) (links []mcp.Link) {
		prefix, place, report := "", "", ""
		ofRun := func(id string, status run.Status) {
			if status == run.Completed && home != "" {
				prefix, place, report = runURI+url.PathEscape(id)+"/", filepath.Join(home, id), "synthesis/final-synthesis.md"
			}
		}
		switch r := result.(type) {
		case engine.StepResult:
			ofRun(r.RunID, r.Status)
		case stage.StatusResult:
			ofRun(r.RunID, r.Status)
		case foreign.Result:
			prefix, place, report = auditURI+url.PathEscape(r.AuditID)+"/", r.AuditPath, audit.ResultFile
		}
		if prefix == "" {
			return nil
		}
		folder, err := desk.Reach.Open("root", place)
		if err != nil {
			return nil
		}
		defer folder.Close()
		for _, l := range []mcp.Link{{URI: report, Name: "report", Description: "what came out"}, {URI: run.ArchiveFile, Name: "archive", Description: "the pages as they were fetched, as WARC"}} {
			if there, err := folder.Exists(l.URI); err == nil && there {
				l.MIMEType, l.URI = mimeTypeOf(l.URI), prefix+l.URI
				links = append(links, l)
			}
		}
		return links
	}
}

// openRun opens the folder of the run that a URI names, and returns the name inside
// it that follows in the URI.
func openRun(ctx context.Context, desk run.Desk, home, uri string) (*artifact.Folder, string, error) {
	id, name, err := namesIn(runURI, uri)
	if err != nil {
		return nil, "", err
	}
	r, err := run.Open(ctx, desk, filepath.Join(home, id, run.ManifestFile))
	if err != nil {
		return nil, "", err
	}
	return r.Folder(), name, nil
}

// namesIn are the id and the path that follow a prefix in a URI.
func namesIn(prefix, uri string) (id, name string, err error) {
	id, name, _ = strings.Cut(strings.TrimPrefix(uri, prefix), "/")
	id, errID := url.PathUnescape(id)
	name, errName := url.PathUnescape(name)
	if errID != nil || errName != nil || run.CheckID(id) != nil {
		return "", "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("uri", tidegate.Cut(uri)), "an artifact is %sID/PATH, got %q", prefix, tidegate.Cut(uri))
	}
	return id, name, nil
}

func readArtifact(folder *artifact.Folder, name string) ([]byte, error) {
	if run.Concealed(name) {
		return nil, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs("path", name), "%s tells how a second reader is tested", name)
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxResource+1))
	switch {
	case err != nil:
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", name), "%s cannot be read to its end: %w", name, err)
	case len(data) > maxResource:
		return nil, tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.Pairs("path", name, "max_bytes", maxResource),
			"%s has more than %d bytes; read the file %s itself", name, maxResource, filepath.Join(folder.Path(), name))
	}
	return data, nil
}

// listed is one artifact of a run.
type listed struct {
	URI   string `json:"uri"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// listArtifacts lists the regular files of a run in byte order of their paths.
// Hidden ones are locks and unfinished writes.
func listArtifacts(folder *artifact.Folder, uri string) ([]byte, error) {
	artifacts := []listed{}
	err := fs.WalkDir(folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.Type().IsRegular():
			info, err := entry.Info()
			if err != nil {
				return err
			}
			escaped := (&url.URL{Path: name}).EscapedPath()
			artifacts = append(artifacts, listed{uri + "/" + escaped, name, info.Size()})
		}
		return nil
	})
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", folder.Path()), "the run's folder cannot be listed: %w", err)
	}
	return codec.Marshal(struct {
		Root      string   `json:"root"`
		Artifacts []listed `json:"artifacts"`
	}{folder.Path(), artifacts})
}

func mimeTypeOf(name string) string {
	switch extension := path.Ext(name); extension {
	case ".md":
		return "text/markdown"
	case ".jsonl":
		return "application/x-ndjson"
	case ".yaml", ".yml":
		return "application/yaml"
	default:
		if known := mime.TypeByExtension(extension); known != "" {
			return known
		}
		return "application/octet-stream"
	}
}
