package step

import (
	"context"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ownDocuments is the address of a person's own documents. Nothing is ever
// fetched from there.
const ownDocuments = "https://files.invalid/"

// Document is a person's own document, which agents are shown and may cite.
type Document struct {
	Name string // relative to the folder that it lay in, with slashes
	URL  string // by which it is cited
	Text string
	// Digest is that of its bytes.
	Digest string

	cid  string
	body []byte
}

// How many documents a run takes, and how large.
const (
	maxDocuments = 200
	maxDocument  = 16 << 20
)

// ReadDocuments reads the documents in a folder, in byte order of their names. It
// skips hidden files and folders. It returns NOT_FOUND, READ_FAILED, and
// INVALID_ARGS for a folder without documents, for too many or too large ones, and
// for one from which no text can be read.
func ReadDocuments(desk run.Desk, dir string) ([]Document, error) {
	folder, err := desk.Reach.Open("files", dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	refuse := func(name, problem string) error {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("files", path.Join(dir, name)), "%s %s", path.Join(dir, name), problem)
	}
	var list []Document
	err = fs.WalkDir(folder.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch hidden := name != "." && strings.HasPrefix(entry.Name(), "."); {
		case err != nil:
			return tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("files", path.Join(dir, name)), "cannot read %s: %w", path.Join(dir, name), err)
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || !entry.Type().IsRegular():
			return nil
		case len(list) == maxDocuments:
			return refuse("", "has more than 200 documents")
		}
		if info, err := entry.Info(); err == nil && info.Size() > maxDocument {
			return refuse(name, "is larger than 16 MiB")
		}
		body, err := folder.Read(name)
		if err != nil {
			return err
		}
		document, err := newDocument(name, body)
		if err != nil || strings.TrimSpace(document.Text) == "" {
			return refuse(name, "has no text that can be read")
		}
		list = append(list, document)
		return nil
	})
	if err == nil && len(list) == 0 {
		err = refuse("", "has no documents")
	}
	return list, err
}

func newDocument(name string, body []byte) (Document, error) {
	d := Document{Name: name, URL: ownDocuments + url.PathEscape(name), Digest: codec.DigestBytes(body), body: body}
	normalized, err := link.Normalize(d.URL)
	if err != nil {
		return Document{}, err
	}
	d.cid = source.CID(normalized)
	d.Text = PageOf(d.capture(time.Time{})).Content().Text
	return d, nil
}

func (d Document) capture(at time.Time) archive.Capture {
	return archive.Attachment(attachedURL(d.cid), d.Name, contentTypes[strings.ToLower(path.Ext(d.Name))], d.body, at)
}

// AttachDocuments puts a person's own documents into the archive of a run, each as
// the evidence of a source that answers may cite. It is a person's decision. It
// returns the errors of [run.Open] and [run.Run.Decide].
func AttachDocuments(ctx context.Context, desk run.Desk, manifestPath string, documents []Document) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	e, err := openArchived(ctx, r)
	if err != nil {
		return err
	}
	digests := tidegate.Details{}
	for _, d := range documents {
		digests = append(digests, tidegate.Detail{Key: d.Name, Value: d.Digest})
	}
	_, err = r.Decide(ctx, run.Decision{What: run.AttachDocuments, Fields: tidegate.Pairs("documents", digests)}, run.Unfinished(func(u *run.Update) error {
		for _, d := range documents {
			packed, err := archive.Pack(d.capture(desk.Now()))
			if err != nil {
				return err
			}
			fields := tidegate.Pairs("cid", d.cid, "name", d.Name, "file", d.Digest, "url", d.URL)
			if _, err := e.keep(ctx, u, run.EventAttached, "citations_attach", fields, packed); err != nil {
				return err
			}
		}
		return nil
	}))
	return err
}

// Documents are the person's own documents of a run, in the order in which they
// were attached. It returns READ_FAILED.
func Documents(ctx context.Context, r *run.Run) ([]Document, error) {
	events, err := r.EventsOf(run.EventAttached)
	if err != nil {
		return nil, err
	}
	var list []Document
	var e *archived
	for _, event := range events {
		address := event.Entry.Get("url").Str()
		if !strings.HasPrefix(address, ownDocuments) {
			continue
		}
		if e == nil {
			if e, err = openArchived(ctx, r); err != nil {
				return nil, err
			}
		}
		page, err := e.page(ctx, attachedURL(event.Entry.Get("cid").Str()))
		if err != nil || page == nil {
			return nil, err
		}
		list = append(list, Document{Name: event.Entry.Get("name").Str(), URL: address, Text: page.Content().Text, Digest: event.Entry.Get("file").Str()})
	}
	return list, nil
}
