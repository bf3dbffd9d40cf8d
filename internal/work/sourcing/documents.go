package sourcing

import (
	"context"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

const OwnDocuments = source.OwnDocuments

// Document is a person's own document, which agents are shown and may cite.
type Document struct {
	Name   string // relative to the folder that it lay in, with slashes
	URL    string // by which it is cited
	Digest string // of its bytes
	CID    string
	Size   int // bytes of its text, where it was read from a folder
}

// Documents are those of a folder.
type Documents struct {
	Dir    string
	List   []Document // in byte order of their names
	Unread []Unread   // likewise
}

// Unread is a file that no run takes as a document.
type Unread struct {
	Name, Problem string
}

func (u Unread) String() string { return u.Name + " " + u.Problem }

// Size is how many bytes of text the documents have.
func (d *Documents) Size() int {
	size := 0
	for i := range d.List {
		size += d.List[i].Size
	}
	return size
}

// How many documents a run takes, and how large. A larger one does not fit into a record
// of the archive.
const (
	maxDocuments = 2000
	maxDocument  = archive.MaxBlock - 1<<20
)

// ReadDocuments reads the documents in a folder, one after the other, and keeps none of
// their texts. It skips hidden files and folders, and names links, pipes, and files that
// cannot be read, or not to their end. It returns NOT_FOUND, READ_FAILED, and INVALID_ARGS for a folder
// without a document that can be read, and for one with too many.
func ReadDocuments(desk run.Desk, dir string) (Documents, error) {
	found := Documents{Dir: dir}
	folder, err := desk.Reach.Open("files", dir)
	if err != nil {
		return found, err
	}
	defer folder.Close()
	refuse := func(problem string) error {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("files", dir), "%s %s", dir, problem)
	}
	err = fs.WalkDir(folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch hidden := name != "." && strings.HasPrefix(entry.Name(), "."); {
		case err != nil:
			return tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("files", path.Join(dir, name)), "cannot read %s: %w", path.Join(dir, name), err)
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			found.Unread = append(found.Unread, Unread{name, "is a link, and only files in the folder are taken"})
			return nil
		case !entry.Type().IsRegular():
			found.Unread = append(found.Unread, Unread{name, "is a pipe, a socket or a device, and no file"})
			return nil
		case len(found.List) == maxDocuments:
			return refuse("has more than 2,000 documents")
		}
		document, problem := readOwn(folder, name, entry)
		if problem != "" {
			found.Unread = append(found.Unread, Unread{name, problem})
		} else {
			found.List = append(found.List, document)
		}
		return nil
	})
	switch {
	case err != nil:
	case len(found.Unread) > 0 && len(found.List) == 0:
		err = refuse("has no document that can be read: " + found.Unread[0].String())
	case len(found.List) == 0:
		err = refuse("has no documents")
	}
	return found, err
}

// readOwn reads one document, or says why it cannot be taken.
func readOwn(folder *artifact.Folder, name string, entry fs.DirEntry) (d Document, problem string) {
	if info, err := entry.Info(); err == nil && info.Size() > maxDocument {
		return d, "is larger than 63 MiB"
	}
	body, err := folder.Read(name)
	if err != nil {
		return d, "cannot be read: " + tidegate.AsError(err).Message
	}
	d = Document{Name: name, URL: OwnDocuments + url.PathEscape(name), Digest: codec.DigestBytes(body)}
	normalized, err := link.Normalize(d.URL)
	if err != nil {
		return d, "has a name that is too long"
	}
	d.CID = source.CID(normalized)
	content := PageOf(d.capture(body, time.Time{})).Content()
	switch d.Size = len(content.Text); {
	case strings.TrimSpace(content.Text) == "":
		return d, "has no text that can be read"
	case content.Cut:
		return d, "cannot be read to its end: it is broken, or has more than 64 MiB of text"
	}
	return d, ""
}

func (d *Document) capture(body []byte, at time.Time) archive.Capture {
	return archive.Attachment(attachedURL(d.CID), d.Name, contentTypes[strings.ToLower(path.Ext(d.Name))], body, at)
}

// AttachDocuments puts a person's own documents into the archive of a run, each as
// the evidence of a source that answers may cite. It is a person's decision. It
// returns the errors of [run.Open] and [run.Run.Decide], NOT_FOUND and READ_FAILED, and
// INVALID_STATE for a document that has changed since it was read.
func AttachDocuments(ctx context.Context, desk run.Desk, manifestPath string, documents Documents) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	folder, err := desk.Reach.Open("files", documents.Dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	e, err := openArchived(ctx, r)
	if err != nil {
		return err
	}
	digests := tidegate.Details{}
	for _, d := range documents.List {
		digests = append(digests, tidegate.Detail{Key: d.Name, Value: d.Digest})
	}
	_, err = r.Decide(ctx, run.Decision{What: run.AttachDocuments, Fields: tidegate.Pairs("documents", digests)}, run.Unfinished(func(u *run.Update) error {
		for i, d := range documents.List {
			body, err := folder.Read(d.Name)
			if err != nil {
				return err
			}
			if codec.DigestBytes(body) != d.Digest {
				name := path.Join(documents.Dir, d.Name)
				return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("files", name), "%s has changed while it was read", name)
			}
			packed, err := archive.Pack(d.capture(body, desk.Now()))
			if err != nil {
				return err
			}
			fields := tidegate.Pairs("cid", d.CID, "name", d.Name, "file", d.Digest, "url", d.URL)
			if i == 0 {
				fields = append(fields, documents.leftOut()...)
			}
			if _, err := e.keep(ctx, u, run.EventAttached, "citations_attach", fields, packed); err != nil {
				return err
			}
		}
		return nil
	}))
	return err
}

// leftOut is what the log says of the files that could not be read: how many there are,
// and the first of them, each with its problem.
func (d *Documents) leftOut() tidegate.Details {
	if len(d.Unread) == 0 {
		return nil
	}
	var named []string
	for _, u := range d.Unread[:min(len(d.Unread), store.RecordsPerLine)] {
		named = append(named, tidegate.Cut(u.String()))
	}
	return tidegate.Pairs("left_out", len(d.Unread), "left_out_files", named)
}

// AttachedDocuments are the person's own documents of a run, in the order in which they
// were attached. It returns READ_FAILED.
func AttachedDocuments(r *run.Run) ([]Document, error) {
	events, err := r.EventsOf(run.EventAttached)
	var list []Document
	for _, event := range events {
		if address := event.Entry.Get("url").Str(); strings.HasPrefix(address, OwnDocuments) {
			list = append(list, Document{Name: event.Entry.Get("name").Str(), URL: address, Digest: event.Entry.Get("file").Str(), CID: event.Entry.Get("cid").Str()})
		}
	}
	return list, err
}

// ReadAttached reads the person's own documents of a run, one after the other, so that
// only one of them is in memory, until visit returns false. It returns READ_FAILED.
func ReadAttached(ctx context.Context, r *run.Run, list []Document, visit func(Document, page.Content) bool) error {
	if len(list) == 0 {
		return nil
	}
	e, err := openArchived(ctx, r)
	if err != nil {
		return err
	}
	for _, d := range list {
		kept, err := e.page(ctx, attachedURL(d.CID))
		if err != nil || kept == nil {
			return err
		}
		if !visit(d, kept.Content()) {
			return nil
		}
	}
	return nil
}
