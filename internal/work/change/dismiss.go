package change

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// DismissedFile, beside the folder of changes, has the findings of which a person
// wants to hear no more.
const DismissedFile = "dismissed.json"

const dismissedSchema = "dismissed.v1"

// Dismissal is a person's decision that a finding does not count.
type Dismissal struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	File   string `json:"file"`
	Reason string `json:"reason"`
	At     string `json:"dismissed_at"`
	// Signature is over the canonical JSON of the rest, "" where decisions are not
	// signed.
	Signature string `json:"signature,omitempty"`
}

// message is what a signature is over.
func (d Dismissal) message() ([]byte, error) {
	d.Signature = ""
	return codec.Canonical(codec.Of(d))
}

// Dismissed are the findings that a person dismissed: as the project's file has them
// or, with a commit, as it had them there. Where decisions are
// signed, one without a signature that counts does not count. It returns READ_FAILED,
// and SCHEMA_VALIDATION_FAILED for a file that is something else.
func Dismissed(ctx context.Context, desk run.Desk, project, commit string) ([]Dismissal, error) {
	file := filepath.Join(project, filepath.FromSlash(desk.ChangesFolder()), DismissedFile)
	read := func(name string) ([]byte, bool, error) {
		if commit != "" {
			return FileAt(ctx, desk, project, commit, name)
		}
		text, err := desk.Reach.ReadDocument("dismissed", name)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			return nil, false, nil
		}
		return text, err == nil, err
	}
	text, found, err := read(file)
	if err != nil || !found {
		return nil, err
	}
	list, err := parseDismissed(file, text)
	if err != nil {
		return nil, err
	}
	var signers *seal.Signers
	if text, found, err := read(filepath.Join(filepath.Dir(file), signersFile)); err != nil {
		return nil, err
	} else if found {
		if signers, err = seal.ParseSigners(text); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(d Dismissal) bool { return !d.counts(signers) }), nil
}

// counts reports whether the signature that a dismissal needs is there.
func (d Dismissal) counts(signers *seal.Signers) bool {
	if signers == nil {
		return true
	}
	message, err := d.message()
	at, ok := tidegate.ParseTime(d.At)
	if err != nil || !ok {
		return false
	}
	_, err = signers.Verify(message, []byte(d.Signature), at)
	return err == nil
}

func parseDismissed(path string, text []byte) ([]Dismissal, error) {
	doc, err := codec.ParseFile("dismissed", path, text)
	if err != nil {
		return nil, err
	}
	if doc.Get("schema_version").Str() != dismissedSchema || doc.Get("dismissed").Kind() != codec.Array {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("dismissed", path), "%s is not a list of dismissed findings (%s)", path, dismissedSchema)
	}
	var list []Dismissal
	for _, e := range doc.Get("dismissed").Elems() {
		list = append(list, Dismissal{e.Get("id").Str(), e.Get("title").Str(), e.Get("file").Str(), e.Get("reason").Str(), e.Get("dismissed_at").Str(), e.Get("signature").Str()})
	}
	return list, nil
}

// Dismiss writes down that a finding does not count any more. One that was dismissed
// before gets the new reason. It returns GATE_BLOCKED for anybody but a person,
// INVALID_ARGS for a reason that says nothing and for a missing signature, the errors
// of [Dismissed], and WRITE_FAILED.
func Dismiss(ctx context.Context, desk run.Desk, project string, issue review.Identified, reason string) (path string, err error) {
	if err := byPerson(ctx, issue.ID, "dismisses a finding", "tidegate review dismiss "+issue.ID); err != nil {
		return "", err
	}
	if err := checkReason(reason); err != nil {
		return "", err
	}
	root, err := openProject(desk, project)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if inRepository(ctx, desk, project) {
		root.Share()
	}
	name := desk.ChangesFolder() + "/" + DismissedFile
	path = filepath.Join(root.Path(), filepath.FromSlash(name))
	d := Dismissal{ID: issue.ID, Title: issue.Title, File: issue.File, Reason: reason, At: tidegate.Stamp(desk.Now())}
	if d.Signature, err = d.sign(ctx, desk, root); err != nil {
		return "", err
	}
	text, err := readIfThere(root, name)
	if err != nil {
		return "", err
	}
	var list []Dismissal
	if text != nil {
		if list, err = parseDismissed(path, text); err != nil {
			return "", err
		}
	}
	list = append(slices.DeleteFunc(list, func(was Dismissal) bool { return was.ID == d.ID }), d)
	data, err := codec.MarshalFile(struct {
		Schema    string      `json:"schema_version"`
		Dismissed []Dismissal `json:"dismissed"`
	}{dismissedSchema, list})
	if err != nil {
		return "", err
	}
	return path, root.Write(name, data)
}

// sign makes the signature that a dismissal needs, "" where it needs none.
func (d Dismissal) sign(ctx context.Context, desk run.Desk, root *artifact.Folder) (string, error) {
	signers, err := seal.ReadSigners(desk.Reach, "signers", filepath.Join(root.Path(), filepath.FromSlash(desk.ChangesFolder()), signersFile))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	message, err := d.message()
	if err != nil {
		return "", err
	}
	return signature(ctx, desk, signers, message)
}
