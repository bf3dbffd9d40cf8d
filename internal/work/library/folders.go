package library

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// The parts of a folder that can be found.
const (
	partQuestion = "question"
	partReport   = "report"
	partSource   = "source"
	partPage     = "page"
)

var parts = []string{partQuestion, partReport, partSource, partPage}

// searchedKind is a kind of folders that can be found, with what reads one into an index: the
// question and the report come before the sources.
type searchedKind struct {
	store.Kind
	read func(ctx context.Context, desk run.Desk, path string, add func(Entry, ...string) error) error
}

var searched = []searchedKind{{store.Runs, indexRun}, {store.Audits, indexAudit}, {store.Reviews, indexReview}, {store.Answers, indexAnswer}}

// indexes is the folder of the index, and its two files: one for all folders, one for
// those that came or changed since, so that little is written when one more is there.
func indexes(runs string) string { return filepath.Join(filepath.Dir(runs), "index") }

const (
	indexAll    = "all"
	indexRecent = "recent"
	// mostRecent is how many folders come or change before all is written again.
	mostRecent = 200
)

// folders are the folders of a home as they are now, with a stamp of each, those that were
// written last first.
func folders(ctx context.Context, desk run.Desk, runs string) ([]indexedFolder, error) {
	type written struct {
		indexedFolder
		at time.Time
	}
	var all []written
	for _, s := range searched {
		err := store.Kind{File: s.Last}.Each(desk.Reach, s.Home(runs), func(home *artifact.Folder, id string) {
			if info, err := fs.Stat(home.FS(), id+"/"+s.Last); err == nil {
				stamp := strconv.FormatInt(info.Size(), 36) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36)
				all = append(all, written{indexedFolder{s.Noun, id, stamp}, info.ModTime()})
			}
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b written) int { return b.at.Compare(a.at) })
	folders := make([]indexedFolder, len(all))
	for i, f := range all {
		folders[i] = f.indexedFolder
	}
	return folders, nil
}

// readAtOnce is how many folders are read before what is known of them is written down, and
// can be found.
const readAtOnce = 64

// Refresh brings the index of a home up to date, as a [Find] without a limit would. What it
// has read can be found while it reads the rest. It returns the errors of Find.
func Refresh(ctx context.Context, desk run.Desk, runs string) error {
	for last := -1; ; {
		_, _, left, err := upToDate(ctx, desk, runs, readAtOnce)
		if err != nil || left == 0 || left == last { // where nothing can be written, the same is left
			return err
		}
		last = left
	}
}

// upToDate is the indexes of a home, made again as far as folders came or changed, with the
// folders that are there. Of those that changed it reads at most so many, unless that is 0,
// and says how many are left. Where they cannot be written, they are used all the same.
func upToDate(ctx context.Context, desk run.Desk, runs string, most int) (_ []*index, there map[indexedFolder]bool, left int, _ error) {
	now, err := folders(ctx, desk, runs)
	if err != nil {
		return nil, nil, 0, err
	}
	there = map[indexedFolder]bool{}
	for _, f := range now {
		there[f] = true
	}
	all, recent := storedIndex(desk, runs, indexAll), storedIndex(desk, runs, indexRecent)
	known := map[indexedFolder]bool{}
	for _, x := range []*index{all, recent} {
		for _, f := range x.folders {
			known[f] = true
		}
	}
	missing := slices.DeleteFunc(slices.Clone(now), func(f indexedFolder) bool { return known[f] })
	if len(missing) == 0 {
		return []*index{all, recent}, there, 0, nil
	}
	if most > 0 && len(missing) > most {
		missing, left = missing[:most], len(missing)-most
	}
	read, err := readFolders(ctx, desk, runs, missing)
	if err != nil {
		return nil, nil, 0, err
	}
	next, name := newIndexing(), indexRecent
	if len(recent.folders)+len(missing) > mostRecent {
		next.take(all, func(f indexedFolder) bool { return there[f] })
		all, name = &index{}, indexAll
	}
	next.take(recent, func(f indexedFolder) bool { return there[f] })
	next.take(read, func(indexedFolder) bool { return true })
	recent = next.done()
	data, err := recent.bytes()
	if err != nil {
		return nil, nil, 0, err
	}
	_ = storeIndex(desk, runs, name, data) // the next one makes it again
	return []*index{all, recent}, there, left, nil
}

// storedIndex is an index as it is stored, an empty one where there is none or it was
// damaged.
func storedIndex(desk run.Desk, runs, name string) *index {
	data, err := desk.Reach.ReadFile("home", filepath.Join(indexes(runs), name))
	if err != nil {
		return &index{}
	}
	if x := readIndex(data); x != nil {
		return x
	}
	return &index{}
}

func storeIndex(desk run.Desk, runs, name string, data []byte) error {
	if err := store.CheckHome(runs); err != nil {
		return err
	}
	folder, err := desk.Reach.Open("home", filepath.Dir(runs))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Write(filepath.Base(indexes(runs))+"/"+name, data)
}

// readFolders reads folders into an index, several at once.
func readFolders(ctx context.Context, desk run.Desk, runs string, list []indexedFolder) (*index, error) {
	made := make([]*indexing, len(list))
	err := parallel.All(ctx, len(list), func(i int) error {
		b := newIndexing()
		b.folder(list[i])
		made[i] = b
		add := func(e Entry, texts ...string) error {
			e.Kind, e.ID = list[i].Kind, list[i].ID
			return b.add(e, texts...)
		}
		for _, s := range searched {
			if s.Noun != list[i].Kind {
				continue
			}
			err := s.read(ctx, desk, filepath.Join(s.Home(runs), list[i].ID), add)
			if err != nil && ctx.Err() == nil {
				err = add(Entry{Part: partQuestion}) // what cannot be read holds nothing
			}
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := newIndexing()
	for _, b := range made {
		out.take(b.done(), func(indexedFolder) bool { return true })
	}
	return out.done(), nil
}

// mark is a citation in a report.
var mark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\s*\[(@[^\]\n]*|inferred from[^\]\n]*|calculated:[^\]\n]*)\]`)
})

// reportText is a report as it is read.
func reportText(data []byte) string { return mark().ReplaceAllString(string(data), "") }

func indexRun(ctx context.Context, desk run.Desk, path string, add func(Entry, ...string) error) error {
	r, err := run.Open(ctx, desk, filepath.Join(path, run.ManifestFile))
	if err != nil {
		return err
	}
	defer r.Close()
	if err := add(Entry{Part: partQuestion}, r.Manifest().Query()); err != nil {
		return err
	}
	if data, err := r.Folder().Read(r.Layout().Synthesis()); err == nil {
		if err := add(Entry{Part: partReport}, reportText(data)); err != nil {
			return err
		}
	}
	kept, err := sourcing.OpenEvidence(ctx, r)
	if err != nil {
		return artifact.UnlessMissing(err) // no source has been judged
	}
	for i := range kept.Records {
		record := &kept.Records[i]
		s, err := kept.Source(ctx, record.CID)
		if err != nil {
			return err
		}
		var page *archive.Capture
		var records []archive.Ref
		if s != nil {
			page, records = s.Capture, s.Records
		}
		if err := indexSource(record, page, records, add); err != nil {
			return err
		}
	}
	return nil
}

func indexAudit(ctx context.Context, desk run.Desk, path string, add func(Entry, ...string) error) error {
	a, err := audit.Open(ctx, desk, filepath.Join(path, audit.File))
	if err != nil {
		return err
	}
	defer a.Close()
	text, err := auditText(a)
	if err != nil {
		return err
	}
	if err := add(Entry{Part: partReport, Title: a.ReportName()}, a.ReportName(), text); err != nil {
		return err
	}
	sources, records, err := a.Sources(ctx)
	if err != nil {
		return err
	}
	for i := range sources {
		var page *archive.Capture
		var places []archive.Ref
		if url, ok := sources[i].FetchURL(); ok {
			if page, places, err = a.Capture(ctx, url); err != nil {
				return err
			}
		}
		if err := indexSource(&records[i], page, places, add); err != nil {
			return err
		}
	}
	return nil
}

// auditText is the report of an audit as it is read.
func auditText(a *audit.Audit) (string, error) {
	kept, err := a.Kept()
	if tidegate.CodeOf(err) == tidegate.InvalidState {
		return "", nil // it was not finished
	}
	if err != nil {
		return "", err
	}
	result, err := codec.Parse(kept)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, s := range result.Get("sentences").Elems() {
		text.WriteString(s.Get("text").Str() + "\n")
	}
	return text.String(), nil
}

// indexSource adds a source, and its page where that can be cited.
func indexSource(record *source.Record, found *archive.Capture, records []archive.Ref, add func(Entry, ...string) error) error {
	e := Entry{Part: partSource, Title: record.Title, URL: link.Mask(record.NormalizedURL)}
	if err := add(e, record.Title, record.Publisher, e.URL); err != nil || found == nil || !record.Usable() {
		return err
	}
	e.Part, e.Records = partPage, records
	return add(e, sourcing.PageOf(*found).Content().Text)
}

func indexReview(_ context.Context, desk run.Desk, path string, add func(Entry, ...string) error) error {
	data, err := desk.Reach.ReadFile("home", filepath.Join(path, store.Reviews.Last))
	if err != nil {
		return err
	}
	return add(Entry{Part: partReport}, string(data))
}

func indexAnswer(_ context.Context, desk run.Desk, path string, add func(Entry, ...string) error) error {
	doc, err := desk.Reach.ReadJSON("home", filepath.Join(path, store.ResultFile))
	if err == nil {
		err = add(Entry{Part: partQuestion}, doc.Get("question").Str())
	}
	if err == nil {
		err = add(Entry{Part: partReport}, reportText([]byte(doc.Get("answer").Str())))
	}
	return err
}

// errFound ends the reading of a folder of which no more is wanted.
var errFound = errors.New("the part was found")

// text reads the text of an entry again, from where it lies.
func (e *Entry) text(ctx context.Context, desk run.Desk, runs string) (text string, err error) {
	if e.Part == partSource {
		return e.Title + " " + e.URL, nil
	}
	s := searched[slices.IndexFunc(searched, func(s searchedKind) bool { return s.Noun == e.Kind })]
	path := filepath.Join(s.Home(runs), e.ID)
	if e.Part == partPage {
		folder, err := desk.Reach.Open("home", path)
		if err != nil {
			return "", err
		}
		defer folder.Close()
		capture, err := archive.ReadRecords(ctx, folder, run.ArchiveFile, e.Records)
		if err != nil {
			return "", err
		}
		return sourcing.PageOf(capture).Content().Text, nil
	}
	err = s.read(ctx, desk, path, func(part Entry, texts ...string) error {
		if part.Part != e.Part {
			return nil
		}
		text = texts[len(texts)-1] // before it stands its title
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return text, err
}
