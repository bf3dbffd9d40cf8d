package change

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

const dismissedSchema = "dismissed.v1"

type dismissedFile struct {
	Schema    string            `json:"schema_version"`
	Dismissed review.Dismissals `json:"dismissed"`
}

// messageOf is what the signature of a dismissal is over.
func messageOf(d review.Dismissal) ([]byte, error) {
	d.Signature = ""
	return codec.Canonical(codec.Of(d))
}

// Dismissed is what a person dismissed: as the project's file has them
// or, with a commit, as it had them there. Where decisions are
// signed, one without a signature that counts does not count. It returns READ_FAILED,
// and SCHEMA_VALIDATION_FAILED for a file that is something else.
func Dismissed(ctx context.Context, desk run.Desk, project, commit string) (review.Dismissals, error) {
	file, text, found, err := fileOf(ctx, desk, project, commit, git.DismissedFile)
	if err != nil || !found {
		return nil, err
	}
	list, err := parseDismissed(file, text)
	if err != nil {
		return nil, err
	}
	var signers *seal.Signers
	if _, text, found, err := fileOf(ctx, desk, project, commit, signersFile); err != nil {
		return nil, err
	} else if found {
		if signers, err = seal.ParseSigners(text); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(d review.Dismissal) bool { return !signedBy(d, signers) }), nil
}

// SignsDismissals reports whether dismissals count only where they are signed: as the
// project has it or, with a commit, as it had it there. It returns READ_FAILED.
func SignsDismissals(ctx context.Context, desk run.Desk, project, commit string) (bool, error) {
	_, _, found, err := fileOf(ctx, desk, project, commit, signersFile)
	return found, err
}

// fileOf reads a file beside the folder of changes: as the project has it or, with a commit,
// as it had it there.
func fileOf(ctx context.Context, desk run.Desk, project, commit, name string) (path string, text []byte, found bool, err error) {
	path = filepath.Join(project, filepath.FromSlash(desk.ChangesFolder()), name)
	if commit != "" {
		text, found, err = git.FileAt(ctx, desk, project, commit, path)
		return path, text, found, err
	}
	text, err = desk.Reach.ReadDocument("project", path)
	found = err == nil
	return path, text, found, artifact.UnlessMissing(err)
}

// signedBy reports whether the signature that a dismissal needs is there.
func signedBy(d review.Dismissal, signers *seal.Signers) bool {
	if signers == nil {
		return true
	}
	message, err := messageOf(d)
	at, ok := tidegate.ParseTime(d.At)
	if err != nil || !ok {
		return false
	}
	_, err = signers.Verify(message, []byte(d.Signature), at)
	return err == nil
}

func parseDismissed(path string, text []byte) (review.Dismissals, error) {
	doc, err := codec.ParseFile("dismissed", path, text)
	if err != nil {
		return nil, err
	}
	if doc.Get("schema_version").Str() != dismissedSchema || doc.Get("dismissed").Kind() != codec.Array {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("dismissed", path), "%s is not a list of dismissed findings (%s)", path, dismissedSchema)
	}
	var file dismissedFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("dismissed", path), "%s: %w", path, err)
	}
	return file.Dismissed, nil
}

// Dismiss writes down that something does not count any more, as [review.Dismissible] has
// it. What was dismissed before gets the new reason. It returns GATE_BLOCKED for anybody
// but a person, INVALID_ARGS for a reason that says nothing and for a missing signature,
// the errors of [Dismissed], and WRITE_FAILED.
func Dismiss(ctx context.Context, desk run.Desk, project string, what []review.Dismissal,
	reason string) (path string, err error) {
	if err := byPerson(ctx, what[0].ID, "dismisses a finding", "tidegate review dismiss "+what[0].ID); err != nil {
		return "", err
	}
	if err := checkReason(reason); err != nil {
		return "", err
	}
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if git.InRepository(ctx, desk, project) {
		root.Share()
	}
	name := desk.ChangesFolder() + "/" + git.DismissedFile
	path = filepath.Join(root.Path(), filepath.FromSlash(name))
	text, err := readIfThere(root, name)
	if err != nil {
		return "", err
	}
	var list review.Dismissals
	if text != nil {
		if list, err = parseDismissed(path, text); err != nil {
			return "", err
		}
	}
	for _, d := range what {
		d.Reason, d.At = reason, tidegate.Stamp(desk.Now())
		if d.Signature, err = sign(ctx, desk, root, d); err != nil {
			return "", err
		}
		list = append(slices.DeleteFunc(list, func(was review.Dismissal) bool { return was.ID == d.ID }), d)
	}
	data, err := codec.MarshalFile(dismissedFile{dismissedSchema, list})
	if err != nil {
		return "", err
	}
	return path, root.Write(name, data)
}

// sign makes the signature that a dismissal needs, "" where it needs none.
func sign(ctx context.Context, desk run.Desk, root *artifact.Folder, d review.Dismissal) (string, error) {
	signers, err := seal.ReadSigners(desk.Reach, "signers", filepath.Join(root.Path(), filepath.FromSlash(desk.ChangesFolder()), signersFile))
	if err != nil {
		return "", artifact.UnlessMissing(err)
	}
	message, err := messageOf(d)
	if err != nil {
		return "", err
	}
	return signature(ctx, desk, signers, message)
}
