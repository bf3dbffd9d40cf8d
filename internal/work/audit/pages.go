package audit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"html"
	"io/fs"
	"mime"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// pages is where the sources of the report come from: the web, an earlier audit, or a
// folder of saved pages. From names that place, saved pages by what is in them. Done ends its use.
func (in *Input) pages(ctx context.Context, desk run.Desk, web sourcing.Fetch, cited []source.Source) (fetch sourcing.Fetch, from string, done func(), err error) {
	given := 0
	for _, is := range []bool{in.NoFetch, in.Pages != "", in.Offline != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, "", nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("pages", in.Pages, "offline", in.Offline), "give at most one of no_fetch, pages and offline")
	case in.Pages != "":
		return savedPages(desk, in.Pages, cited)
	case in.Offline != "":
		return earlierPages(ctx, desk, in)
	}
	switch {
	case in.Demo:
		from = "demo"
	case in.NoFetch:
		from = "nowhere"
	default:
		from = "web"
	}
	return web, from, func() {}, nil
}

// earlierPages hands over what an earlier audit fetched.
func earlierPages(ctx context.Context, desk run.Desk, in *Input) (fetch sourcing.Fetch, from string, done func(), err error) {
	path, err := Find(desk, in.Home, in.Dir, in.Offline)
	if err != nil {
		return nil, "", nil, err
	}
	a, err := Open(ctx, desk, path)
	if err != nil {
		return nil, "", nil, err
	}
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return handOver(ctx, urls, keep, func(url string) (archive.Capture, bool, error) { return a.capture(ctx, url) })
	}, "audit " + a.AuditID, a.Close, nil
}

// batchBytes is how much is kept at once.
const batchBytes = 4 << 20

// handOver packs what get has of each URL.
func handOver(ctx context.Context, urls []string, keep func([]*archive.Packed) error, get func(url string) (archive.Capture, bool, error)) error {
	var batch []*archive.Packed
	size := 0
	for _, url := range urls {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, found, err := get(url)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		packed, err := archive.Pack(c)
		if err != nil {
			return err
		}
		batch = append(batch, packed)
		if size += len(c.Last().Body); size < batchBytes && len(batch) < store.RecordsPerLine {
			continue
		}
		if err := keep(batch); err != nil {
			return err
		}
		batch, size = nil, 0
	}
	if len(batch) == 0 {
		return nil
	}
	return keep(batch)
}

// indexFile maps the URLs of saved pages to their files.
const indexFile = "index.json"

// savedPages hands over the pages that a person saved in a folder: those that its index
// names, or, without one, those that say the address of a page or are called by it. It
// returns SCHEMA_VALIDATION_FAILED for an index that is not one, and for a folder without
// one in which nothing that the report cites is found.
func savedPages(desk run.Desk, dir string, cited []source.Source) (fetch sourcing.Fetch, from string, done func(), err error) {
	folder, err := desk.Reach.Open("pages", dir)
	if err != nil {
		return nil, "", nil, err
	}
	s := saved{folder: folder, dir: dir, said: map[string]archive.Hop{}, files: map[string]string{}, names: map[string]string{}, now: desk.Now()}
	data, err := folder.ReadDocument(indexFile)
	get := s.find
	switch {
	case err == nil:
		get, err = s.indexed(data)
	case tidegate.CodeOf(err) == tidegate.FileNotFound:
		err = s.walk(cited)
	}
	if err != nil {
		folder.Close()
		return nil, "", nil, err
	}
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return handOver(ctx, urls, keep, get)
	}, "pages " + codec.DigestBytes([]byte(strings.Join(s.digests, "\n"))), func() { folder.Close() }, nil
}

// saved is a folder of saved pages.
type saved struct {
	folder  *artifact.Folder
	dir     string
	now     time.Time
	digests []string

	said  map[string]archive.Hop // what WARC and MHTML files have, by address
	files map[string]string      // files that say an address, by it
	names map[string]string      // files that are called by one
	size  int                    // of what said has
}

// indexed is what an index names.
func (s *saved) indexed(data []byte) (get func(url string) (archive.Capture, bool, error), err error) {
	index, err := codec.ParseFile("pages", filepath.Join(s.dir, indexFile), data)
	if err != nil {
		return nil, err
	}
	if index.Kind() != codec.Object {
		return nil, badIndex(s.dir, "it must be an object from URLs to files")
	}
	byPage, alike := map[string]*codec.Value{}, map[string]*codec.Value{}
	s.digests = append(s.digests, codec.DigestBytes(data))
	for _, m := range index.Members() {
		byPage[foreign.PageURL(m.Key)], alike[bare(m.Key)] = m.Value, m.Value
		if name := cmp.Or(m.Value.Str(), m.Value.Get("file").Str()); name != "" {
			digest, err := s.folder.Digest(name)
			if err != nil {
				return nil, err
			}
			s.digests = append(s.digests, digest)
		}
	}
	return func(url string) (archive.Capture, bool, error) {
		entry := cmp.Or(byPage[url], alike[bare(url)])
		if entry == nil {
			return archive.Capture{}, false, nil
		}
		c, err := s.entry(url, entry)
		return c, true, err
	}, nil
}

// bare is the same for addresses that differ in nothing but the scheme, "www." and a last slash.
func bare(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	return strings.TrimSuffix(strings.TrimPrefix(rest, "www."), "/")
}

// mostSaved is how many bytes of pages in WARC and MHTML files are used.
const mostSaved = 512 << 20

// walk looks at every file for the addresses whose pages it has.
func (s *saved) walk(cited []source.Source) error {
	err := fs.WalkDir(s.folder.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasSuffix(name, "_files"): // what a page shows, beside it
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		digest, err := s.folder.Digest(name)
		if err != nil {
			return err
		}
		s.digests = append(s.digests, digest)
		return s.look(name)
	})
	if _, is := errors.AsType[*tidegate.Error](err); err != nil && !is {
		err = tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("pages", s.dir), "the folder cannot be read: %w", err)
	}
	if err != nil || len(cited) == 0 {
		return err
	}
	for _, c := range cited {
		for _, url := range c.URLs {
			if s.has(url) {
				return nil
			}
		}
	}
	return badIndex(s.dir, "there is none, and no page there says an address that the report cites, or is called by one; it must map each URL to its file, as in {\"https://example.org/a\": \"a.html\"}")
}

// look notes the addresses of a file.
func (s *saved) look(name string) error {
	ending := strings.ToLower(path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")))
	if ending == ".warc" {
		file, err := s.folder.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		err = archive.Saved(file, s.take)
		if _, is := errors.AsType[*tidegate.Error](err); err != nil && !is {
			err = tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("pages", s.dir, "file", name), "%s cannot be read as a WARC file: %w", name, err)
		}
		return err
	}
	called := name
	if plain, err := url.QueryUnescape(name); err == nil {
		called = plain
	}
	for _, end := range []string{"", ".html", ".htm", "index.html", ".pdf", ".txt", ".md", ".docx"} {
		if of, is := strings.CutSuffix(called, end); is {
			s.names[spelled(of)] = name
		}
	}
	if !strings.HasPrefix(mime.TypeByExtension(ending), "text/html") && ending != ".mhtml" && ending != ".mht" && ending != "" {
		return nil
	}
	body, err := s.folder.Read(name)
	if err != nil {
		return err
	}
	if address, html, kind, ok := page.Snapshot(body); ok {
		return s.take(archive.Hop{URL: address, Time: s.now, Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: kind}}, Body: html})
	}
	if said := addressOf(body); said != "" {
		s.files[spelled(said)] = name
	}
	return nil
}

// take notes what a file of many pages has of one.
func (s *saved) take(h archive.Hop) error {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), "/")
	if slices.Contains([]string{"image", "video", "audio", "font"}, kind) {
		return nil
	}
	if s.size += len(h.Body); s.size > mostSaved {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("pages", s.dir), "the WARC and MHTML files have more than 512 MiB of pages: leave out those that the report does not cite")
	}
	if key := spelled(h.URL); s.said[key].Status != 200 || h.Status == 200 {
		s.said[key] = h
	}
	return nil
}

// savedFrom is what browsers and SingleFile write into a page that they save.
var savedFrom = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<!--\s*(?:saved from url=\(\d+\)|page saved with singlefile\s+url:\s*)(https?://[^\s>]+)`)
})

// addressOf is where a page says that it comes from: by what browsers write into it, by the
// link that it has to itself, or by <base>; "" where it does not.
func addressOf(body []byte) string {
	if m := savedFrom().FindSubmatch(body[:min(len(body), 64<<10)]); m != nil {
		return html.UnescapeString(string(m[1]))
	}
	if said := page.Read(body, "text/html").Canonical; strings.Contains(said, "://") {
		return said
	}
	for mark := range page.Marks(body) {
		if mark.Kind == page.StartMark && mark.Name == "base" {
			for _, a := range mark.Attributes {
				if a.Name == "href" && bytes.Contains(a.Value, []byte("://")) {
					return string(a.Value)
				}
			}
		}
	}
	return ""
}

// spelled is the same for addresses, and for names of files that are called by them, that
// differ in nothing but the scheme, "www." and the marks between letters and digits.
func spelled(address string) string {
	address = strings.TrimPrefix(strings.ToLower(address), "http")
	address = strings.TrimLeft(strings.TrimPrefix(address, "s:"), ":/_-")
	return strings.Join(strings.FieldsFunc(strings.TrimPrefix(address, "www."), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

func (s *saved) has(address string) bool {
	_, is := s.hop(address)
	return is || s.file(address) != ""
}

func (s *saved) hop(address string) (archive.Hop, bool) {
	h, is := s.said[spelled(address)]
	if !is {
		h, is = s.said[spelled(link.Key(address))]
	}
	return h, is
}

func (s *saved) file(address string) string {
	as, key := spelled(address), spelled(link.Key(address))
	return cmp.Or(s.files[as], s.files[key], s.names[as], s.names[key])
}

// mostMoves is how many redirects are followed from one saved answer to the next.
const mostMoves = 10

// find is what the folder has of an address.
func (s *saved) find(address string) (archive.Capture, bool, error) {
	c := archive.Capture{URL: address, Kind: archive.Responded, Time: s.now}
	for at := address; len(c.Hops) < mostMoves; {
		h, is := s.hop(at)
		if !is {
			break
		}
		h.URL = at
		c.Hops = append(c.Hops, h)
		next, err := link.Resolve(at, h.Get("Location"))
		if h.Status < 300 || h.Status > 399 || err != nil {
			return c, true, nil
		}
		at = next
	}
	if name := s.file(address); name != "" {
		c, err := s.entry(address, codec.Of(name))
		return c, true, err
	}
	return c, len(c.Hops) > 0, nil
}

func badIndex(dir, why string) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("pages", filepath.Join(dir, indexFile)), "%s: %s", indexFile, why)
}

// entry is a page from a file that an index names, as if it had been fetched.
func (s *saved) entry(url string, entry *codec.Value) (archive.Capture, error) {
	name, status, kind := entry.Str(), 200, ""
	if entry.Kind() == codec.Object {
		name, kind = entry.Get("file").Str(), entry.Get("content_type").Str()
		if given := entry.Get("status"); given != nil {
			n, ok := given.Int()
			if !ok || n < 100 || n > 599 {
				return archive.Capture{}, badIndex(s.dir, "the status of "+tidegate.Cut(url)+" must be a number from 100 to 599")
			}
			status = int(n)
		}
	}
	if name == "" && (entry.Kind() != codec.Object || status < 300) {
		return archive.Capture{}, badIndex(s.dir, "the entry of "+tidegate.Cut(url)+" must be the name of a file, or an object with file")
	}
	var body []byte
	if name != "" {
		var err error
		body, err = s.folder.Read(name)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			err = badIndex(s.dir, "the file of "+tidegate.Cut(url)+" is not in the folder: "+tidegate.Cut(name))
		}
		if err != nil {
			return archive.Capture{}, err
		}
	}
	if kind == "" {
		kind = mime.TypeByExtension(filepath.Ext(name))
	}
	hop := archive.Hop{URL: url, Time: s.now, Status: status, Body: body}
	if kind != "" {
		hop.Header = []archive.Field{{Name: "Content-Type", Value: kind}}
	}
	return archive.Capture{URL: url, Kind: archive.Responded, Time: s.now, Hops: []archive.Hop{hop}}, nil
}
