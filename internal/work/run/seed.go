package run

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/gate"
)

// SeedInput are the arguments of [Seed] and [SeedDryRun].
type SeedInput struct {
	FixtureDir   string `json:"fixture_dir" path:"absolute" jsonschema:"absolute path of the folder to start from"`
	RunID        string `json:"run_id" jsonschema:"the id of the new run, which becomes its folder's name"`
	Reason       string `json:"reason" jsonschema:"why, for the audit log"`
	RootOverride string `json:"root_override,omitzero" path:"absolute" jsonschema:"absolute folder in which the run is made, instead of the home of runs"`
}

// SeedResult is the result of [Seed].
type SeedResult struct {
	OK             codec.True `json:"ok"`
	RunID          string     `json:"run_id"`
	Root           string     `json:"root"`
	ManifestPath   string     `json:"manifest_path"`
	GatesPath      string     `json:"gates_path"`
	SnapshotDigest string     `json:"snapshot_digest" jsonschema:"of the files that the run began with"`
}

// Seed is the tool deep_research_fixture_run_seed: it makes a run from a snapshot
// of one. The run keeps the snapshot's stage and files, but no decisions: its
// policy is made anew, every gate is to be judged again, and reviews and the log
// are left behind. So is what counts only by the old log, such as evidence.
//
// It returns INVALID_ARGS, PATH_TRAVERSAL, PATH_NOT_ALLOWED, MISSING_ARTIFACT for a
// folder that is not a snapshot, INVALID_JSON, SCHEMA_VALIDATION_FAILED,
// ALREADY_EXISTS_CONFLICT, READ_FAILED and WRITE_FAILED; nothing is left then.
func Seed(ctx context.Context, clock Clock, home string, in SeedInput) (SeedResult, error) {
	s, err := in.open(ctx, home)
	if err != nil {
		return SeedResult{}, err
	}
	defer s.folder.Close()
	var missing []string
	for _, name := range []string{ManifestFile, layoutDefault("gates_file")} {
		if there, err := s.folder.Exists(name); err != nil || !there {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return SeedResult{}, tidegate.Errorf(tidegate.MissingArtifact, tidegate.D("fixture_dir", in.FixtureDir, "missing", missing), "the folder is not a snapshot of a run: it lacks %s", strings.Join(missing, " and "))
	}
	data, err := s.folder.Read(ManifestFile)
	if err != nil {
		return SeedResult{}, err
	}
	manifest, err := codec.ParseFile("fixture_dir", filepath.Join(in.FixtureDir, ManifestFile), data)
	if err != nil {
		return SeedResult{}, err
	}
	if err := ManifestShape.Check(manifest); err != nil {
		return SeedResult{}, err
	}
	now := clock.Stamp()
	s.was = manifest.Get("run_id").Str()
	manifest = manifest.Clone()
	stage := Stage(manifest.Get("stage").Get("current").Str())
	status := Running
	if stage == Init {
		status = Created
	}
	manifest.Get("artifacts").Set("root", codec.Of(s.root))
	for _, d := range tidegate.D("run_id", in.RunID, "created_at", now, "updated_at", now, "revision", 1, "status", status,
		"stage", tidegate.D("current", stage, "started_at", now, "last_progress_at", now, "history", []string{}), "metrics", tidegate.D(), "failures", []string{}) {
		manifest.Set(d.Key, codec.Of(d.Value))
	}
	left := func(name string) bool {
		top, _, _ := strings.Cut(name, "/")
		return name == ManifestFile || name == layoutDefault("gates_file") || slices.Contains([]string{"logs", "run-config", "review", "evidence", "jobs", "metrics"}, top)
	}
	if err := s.fill(ctx, clock, kindSeed, manifest, (&InitInput{}).policy(), left); err != nil {
		return SeedResult{}, err
	}
	return s.result(), nil
}

// DryRunResult is the result of [SeedDryRun].
type DryRunResult struct {
	SeedResult
	RootOverride     string     `json:"root_override"`
	Copied           Copied     `json:"copied"`
	DryRun           DryRunNote `json:"dry_run"`
	ManifestRevision int64      `json:"manifest_revision"`
}

// Copied lists what a dry run began with.
type Copied struct {
	Roots   []string `json:"roots"`
	Entries []string `json:"entries"`
}

// DryRunNote is what the manifest of a dry run says about it.
type DryRunNote struct {
	FixtureDir string `json:"fixture_dir"`
	CaseID     string `json:"case_id"`
}

// The kinds of the first line of a run that was made from a folder.
const (
	kindSeed   = "fixture_run_seed"
	kindDryRun = "dry_run_seed"
)

// seedFolders are what a dry run takes over.
var seedFolders = []string{"citations", "wave-1", "wave-2"}

// SeedDryRun is the tool deep_research_dry_run_seed: it makes a run without web from
// the waves and citations of a folder, which holds a manifest.json or wave-1.
//
// It returns the errors of [Seed].
func SeedDryRun(ctx context.Context, clock Clock, home string, in SeedInput) (DryRunResult, error) {
	s, err := in.open(ctx, home)
	if err != nil {
		return DryRunResult{}, err
	}
	defer s.folder.Close()
	manifestThere, _ := s.folder.Exists(ManifestFile)
	if wave, err := s.folder.List("wave-1"); err != nil || wave == nil && !manifestThere {
		return DryRunResult{}, tidegate.Errorf(tidegate.MissingArtifact, tidegate.D("fixture_dir", in.FixtureDir), "the folder has neither %s nor wave-1", ManifestFile)
	}
	note := DryRunNote{in.FixtureDir, filepath.Base(in.FixtureDir)}
	init := InitInput{Query: "Dry run of " + note.CaseID, Mode: "standard", Sensitivity: "no_web", RunID: in.RunID, RootOverride: filepath.Dir(s.root)}
	manifest := init.manifest(s.root, clock.Stamp())
	manifest.Get("query").Get("constraints").Set("dry_run", codec.Of(note))
	out := DryRunResult{RootOverride: init.RootOverride, DryRun: note, ManifestRevision: 1, Copied: Copied{[]string{}, []string{}}}
	left := func(name string) bool {
		top, _, inside := strings.Cut(name, "/")
		if !inside || !slices.Contains(seedFolders, top) {
			return true
		}
		if !slices.Contains(out.Copied.Roots, top) {
			out.Copied.Roots = append(out.Copied.Roots, top)
		}
		out.Copied.Entries = append(out.Copied.Entries, name)
		return false
	}
	if err := s.fill(ctx, clock, kindDryRun, manifest, init.policy(), left); err != nil {
		return DryRunResult{}, err
	}
	slices.Sort(out.Copied.Entries)
	out.SeedResult = s.result()
	return out, nil
}

// seed is a run that is made from a folder.
type seed struct {
	in     SeedInput
	home   string           // of runs
	folder *artifact.Folder // that it is made from
	root   string           // of the run
	was    string           // the id of the run in the snapshot, "" when it has none
	digest string           // of the files that it began with
}

// open checks the arguments and opens the folder.
func (in *SeedInput) open(ctx context.Context, home string) (*seed, error) {
	if err := CheckPath("fixture_dir", in.FixtureDir); err != nil {
		return nil, err
	}
	if err := CheckID(in.RunID); err != nil {
		return nil, err
	}
	if err := CheckText("reason", in.Reason); err != nil {
		return nil, err
	}
	parent := cmp.Or(in.RootOverride, home)
	if err := CheckPath("root_override", parent); err != nil {
		return nil, err
	}
	s := &seed{in: *in, home: home, root: filepath.Join(parent, in.RunID)}
	if _, err := NewPlace(ctx, home, "root", s.root); err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(in.FixtureDir, s.root); err == nil && filepath.IsLocal(rel) {
		return nil, tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("root", s.root), "a run cannot be made inside the folder that it is made from")
	}
	var err error
	s.folder, err = artifact.Open(ctx, "fixture_dir", in.FixtureDir)
	return s, err
}

// fill makes the folder of the run, whole or not at all. Left says which files
// stay behind.
func (s *seed) fill(ctx context.Context, clock Clock, kind string, manifest, policy *codec.Value, left func(name string) bool) error {
	now := clock.Stamp()
	files := map[string][]byte{}
	err := fs.WalkDir(s.folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasPrefix(name, ".") || left(name) {
			return nil
		}
		if !entry.Type().IsRegular() {
			return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.D("path", path.Join(s.in.FixtureDir, name)), "a run is made from regular files, and %s is none", name)
		}
		data, err := s.folder.Read(name)
		files[name] = s.ours(name, data)
		return err
	})
	if err != nil {
		return err
	}
	digests := map[string]string{}
	for name, data := range files {
		digests[name] = codec.DigestBytes(data)
	}
	s.digest = stateOf(digests)
	l := layoutOf(s.root, manifest.Get("artifacts").Get("paths"))
	documents := []document{
		{"manifest", ManifestFile, ManifestShape.Check, manifest},
		{"gates", l.Gates, gate.Check, gate.New(s.in.RunID, now)},
		{"policy", PolicyFile, nil, policy},
	}
	if files[ScopeFile] == nil {
		documents = append(documents, document{"scope", ScopeFile, nil, newScope(s.in.RunID, now, manifest.Get("query").Get("text").Str(), manifest.Get("mode").Str())})
	}
	return artifact.CreateFolder(inHome(ctx, s.home), "root", s.root, func(d *artifact.Draft) error {
		documented, state, err := writeDocuments(d, documents)
		if err != nil {
			return err
		}
		fields := append(tidegate.D("manifest_revision", 1, "gates_revision", 1, "stage", manifest.Get("stage").Get("current"), "snapshot_digest", s.digest, "reason", Note(s.in.Reason)), documented...)
		recorded := codec.NewObject()
		for _, name := range sortedNames(files) {
			if err := d.Write(name, files[name]); err != nil {
				return err
			}
			recorded.Set(name, codec.Of(digests[name]))
			if slices.Contains([]string{ScopeFile, l.Perspectives, l.Wave1Plan(), l.Wave2Plan(), l.Wave2Perspectives()}, name) {
				state[name] = digests[name]
			}
		}
		fields = append(fields, tidegate.Detail{Key: "files", Value: recorded})
		line := Line{EventCreated, kind, fields}
		return d.Record(AuditFile, line.details(clock, now, s.in.RunID, tidegate.ActorOf(ctx), 1, stateOf(state)))
	})
}

// ours is a file of the snapshot, with the id of the run in place of the
// snapshot's.
func (s *seed) ours(name string, data []byte) []byte {
	if s.was == "" || path.Ext(name) != ".json" {
		return data
	}
	doc, err := codec.Parse(data)
	if err != nil || doc.Get("run_id").Str() != s.was {
		return data
	}
	doc = doc.Clone()
	doc.Set("run_id", codec.Of(s.in.RunID))
	renamed, err := codec.MarshalFile(doc)
	if err != nil {
		return data
	}
	return renamed
}

func sortedNames(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *seed) result() SeedResult {
	return SeedResult{RunID: s.in.RunID, Root: s.root, ManifestPath: filepath.Join(s.root, ManifestFile),
		GatesPath: filepath.Join(s.root, layoutDefault("gates_file")), SnapshotDigest: s.digest}
}
