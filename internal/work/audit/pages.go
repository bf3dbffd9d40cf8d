package audit

import (
	"cmp"
	"context"
	"html"
	"io/fs"
	"mime"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// pages is where the sources of the report come from: the web, an earlier audit, or a
// folder of saved pages. From names that place, saved pages by what is in them. Done ends its use.
func (in *Input) pages(ctx context.Context, desk run.Desk, web sourcing.Fetch) (fetch sourcing.Fetch, from string, done func(), err error) {
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
		return savedPages(desk, in.Pages)
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

// savedPages hands over the pages that a person saved in a folder. It returns
// SCHEMA_VALIDATION_FAILED for an index that is not one, or not there.
func savedPages(desk run.Desk, dir string) (fetch sourcing.Fetch, from string, done func(), err error) {
	folder, err := desk.Reach.Open("pages", dir)
	if err != nil {
		return nil, "", nil, err
	}
	done = func() { folder.Close() }
	data, err := folder.ReadDocument(indexFile)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		data, err = indexOf(folder)
		if err == nil && data == nil {
			err = badIndex(dir, "there is none in "+dir+", and no page there says its address; it must map each URL to its file there, as in {\"https://example.org/a\": \"a.html\"}")
		}
	}
	if err != nil {
		done()
		return nil, "", nil, err
	}
	index, err := codec.ParseFile("pages", filepath.Join(dir, indexFile), data)
	if err == nil && index.Kind() != codec.Object {
		err = badIndex(dir, "it must be an object from URLs to files")
	}
	byPage := map[string]*codec.Value{}
	digests := []string{codec.DigestBytes(data)}
	for _, m := range index.Members() {
		byPage[foreign.PageURL(m.Key)] = m.Value
		if name := cmp.Or(m.Value.Str(), m.Value.Get("file").Str()); name != "" && err == nil {
			var digest string
			digest, err = folder.Digest(name)
			digests = append(digests, digest)
		}
	}
	if err != nil {
		done()
		return nil, "", nil, err
	}
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return handOver(ctx, urls, keep, func(url string) (archive.Capture, bool, error) {
			saved := byPage[url]
			if saved == nil {
				return archive.Capture{}, false, nil
			}
			c, err := savedPage(desk, folder, dir, url, saved)
			return c, true, err
		})
	}, "pages " + codec.DigestBytes([]byte(strings.Join(digests, "\n"))), done, nil
}

// address is how a saved page says where it comes from: by what browsers write into it, by
// <base>, or by the link that it has to itself.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<!-- saved from url=\(\d+\)(https?://[^\s>]+)|<base\s[^>]*href=["']?(https?://[^"'\s>]+)|<link\s[^>]*rel=["']?canonical["']?[^>]*href=["']?(https?://[^"'\s>]+)`)
})

// addressBytes is how much of a page is looked at for its address.
const addressBytes = 64 << 10

// indexOf is the index of a folder that has none, by the addresses that its pages say or, escaped
// as in a query, are called by; nil where there is none.
func indexOf(folder *artifact.Folder) ([]byte, error) {
	entries, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("pages", folder.Path()), "the folder cannot be listed: %w", err)
	}
	index := codec.NewObject()
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if named, err := url.QueryUnescape(strings.TrimSuffix(e.Name(), ".html")); err == nil && strings.HasPrefix(named, "http") && strings.Contains(named, "://") {
			index.Set(named, codec.Of(e.Name()))
			continue
		}
		body, err := folder.Read(e.Name())
		if err != nil {
			return nil, err
		}
		for _, said := range address().FindSubmatch(body[:min(len(body), addressBytes)]) {
			if text := string(said); strings.HasPrefix(text, "http") {
				index.Set(html.UnescapeString(text), codec.Of(e.Name()))
				break
			}
		}
	}
	if len(index.Members()) == 0 {
		return nil, nil
	}
	return codec.MarshalFile(index)
}

func badIndex(dir, why string) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("pages", filepath.Join(dir, indexFile)), "%s: %s", indexFile, why)
}

// savedPage is a page from a file, as if it had been fetched.
func savedPage(desk run.Desk, folder *artifact.Folder, dir, url string, saved *codec.Value) (archive.Capture, error) {
	name, status, kind := saved.Str(), 200, ""
	if saved.Kind() == codec.Object {
		name, kind = saved.Get("file").Str(), saved.Get("content_type").Str()
		if given := saved.Get("status"); given != nil {
			n, ok := given.Int()
			if !ok || n < 100 || n > 599 {
				return archive.Capture{}, badIndex(dir, "the status of "+tidegate.Cut(url)+" must be a number from 100 to 599")
			}
			status = int(n)
		}
	}
	if name == "" && (saved.Kind() != codec.Object || status < 300) {
		return archive.Capture{}, badIndex(dir, "the entry of "+tidegate.Cut(url)+" must be the name of a file, or an object with file")
	}
	var body []byte
	if name != "" {
		var err error
		if body, err = folder.Read(name); err != nil {
			return archive.Capture{}, err
		}
	}
	if kind == "" {
		kind = mime.TypeByExtension(filepath.Ext(name))
	}
	now := desk.Now()
	hop := archive.Hop{URL: url, Time: now, Status: status, Body: body}
	if kind != "" {
		hop.Header = []archive.Field{{Name: "Content-Type", Value: kind}}
	}
	return archive.Capture{URL: url, Kind: archive.Responded, Time: now, Hops: []archive.Hop{hop}}, nil
}
