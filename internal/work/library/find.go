package library

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
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
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/text/sentence"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// FindInput are the arguments of [Find].
type FindInput struct {
	Words string `json:"words" jsonschema:"the words to look for; a word finds those that begin with it, too"`
	Most  int    `json:"max_results,omitzero" jsonschema:"how many are shown" minimum:"1" maximum:"200" default:"20"`

	Runs    string `json:"-"` // the home of runs
	Folders int    `json:"-"` // most of those that came or changed that are read before it answers, the last written first; 0 for all
}

// FindResult is the result of [Find].
type FindResult struct {
	OK    codec.True `json:"ok"`
	Words []string   `json:"words" jsonschema:"as they are compared"`
	Found int        `json:"found" jsonschema:"how many texts have one of the words"`
	Hits  []Hit      `json:"hits" jsonschema:"the best first"`
	Left  int        `json:"-"` // folders that were not looked at
}

// Hit is a text in which words were found.
type Hit struct {
	Kind    string `json:"kind" jsonschema:"run, audit, review or answer"`
	ID      string `json:"id"`
	Part    string `json:"part" jsonschema:"question, report, source or page"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Passage string `json:"passage" jsonschema:"the sentence that has most of the words, with what follows it"`
}

// weights are how much more a word counts in a part.
var weights = map[string]float64{partQuestion: 3, partReport: 2, partSource: 1.5, partPage: 1}

const (
	mostForms  = 64 // words of the index that one word may stand for
	longText   = 0.75
	saturation = 1.2
)

// Find finds words in everything that a home keeps: questions, reports, answers,
// sources, archived pages, audits and code reviews. It reads an index, which it first brings up to date, in
// full or as far as Folders allows, and shows passages as they stand in the folders today. It returns INVALID_ARGS without a
// word, READ_FAILED and CANCELLED.
func Find(ctx context.Context, desk run.Desk, in FindInput) (FindResult, error) {
	out := FindResult{Words: []string{}, Hits: []Hit{}}
	page.EachFolded(in.Words, func(word []byte, _ int) {
		if w := string(word); !slices.Contains(out.Words, w) {
			out.Words = append(out.Words, w)
		}
	})
	if len(out.Words) == 0 {
		return out, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("words", tidegate.Cut(in.Words)), "there is no word to look for in %q", tidegate.Cut(in.Words))
	}
	indexes, there, left, err := upToDate(ctx, desk, in.Runs, in.Folders)
	if err != nil {
		return out, err
	}
	out.Left = left
	var all []scored
	for _, x := range indexes {
		all = append(all, x.find(out.Words, there)...)
		for _, f := range x.folders {
			delete(there, f) // a folder counts once
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out.Found = len(all)
	for _, s := range all {
		if len(out.Hits) == cmp.Or(in.Most, 20) {
			break
		}
		var e Entry
		if json.Unmarshal(s.entry, &e) != nil {
			continue
		}
		text, err := e.text(ctx, desk, in.Runs)
		if err != nil {
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			continue // it is no longer there
		}
		out.Hits = append(out.Hits, Hit{e.Kind, e.ID, e.Part, e.Title, e.URL, passageOf(text, out.Words)})
	}
	return out, nil
}

// scored is an entry with how well it fits.
type scored struct {
	entry []byte
	score float64
}

// find scores the entries that have one of the words, by how often they have it and how
// few others do. Entries of folders that are gone or were changed do not count.
func (x *index) find(words []string, there map[indexedFolder]bool) []scored {
	total := 0.0
	for _, n := range x.lengths {
		total += float64(n)
	}
	mean := math.Max(1, total/math.Max(1, float64(len(x.lengths))))
	scores := map[uint32]float64{}
	has := map[uint32]int{}
	for _, word := range words {
		times := map[uint32]float64{}
		from, to := x.beginning(word, mostForms)
		for w := from; w < to; w++ {
			weight := 1.0
			if string(x.words[w]) != word {
				weight = 0.5
			}
			for _, p := range x.postings(w) {
				times[p.entry] += weight * float64(p.times)
			}
		}
		rare := math.Log(1 + (float64(len(x.entries))-float64(len(times))+0.5)/(float64(len(times))+0.5))
		for entry, n := range times {
			scores[entry] += rare * n * (saturation + 1) / (n + saturation*(1-longText+longText*float64(x.lengths[entry])/mean))
			has[entry]++
		}
	}
	places := make([]uint32, 0, len(scores))
	for entry := range scores {
		if there[x.folders[x.of[entry]]] {
			places = append(places, entry)
		}
	}
	slices.Sort(places)
	out := make([]scored, 0, len(places))
	for _, entry := range places {
		share := float64(has[entry]) / float64(len(words))
		out = append(out, scored{x.entries[entry], scores[entry] * share * share * weights[parts[x.parts[entry]]]})
	}
	return out
}

const mostPassage = 300 // characters

// passageOf is the sentence of a text that has most of the words, with what follows.
func passageOf(text string, words []string) string {
	best, most := 0, -1
	for _, span := range sentence.Split(text, "") {
		n := 0
		p := newWords(text[span.Start:span.End])
		for _, word := range words {
			if p.begins(word) {
				n++
			}
		}
		if n > most {
			best, most = span.Start, n
		}
	}
	return page.TidySpace(page.CutBytes(text[best:], mostPassage))
}

// wordSet is the words of a text.
type wordSet []string

func newWords(text string) (out wordSet) {
	page.EachFolded(text, func(word []byte, _ int) { out = append(out, string(word)) })
	return out
}

func (w wordSet) begins(with string) bool {
	return slices.ContainsFunc(w, func(word string) bool { return strings.HasPrefix(word, with) })
}

// Report shows the hits.
func (f FindResult) Report() report.Report {
	r := report.Report{Name: "find", Title: "Found: " + strings.Join(f.Words, " "), Summary: report.Counted(len(f.Hits), "text") + " of " + report.Counted(f.Found, "text")}
	for _, h := range f.Hits {
		fields := report.Fields{{Name: h.Part, Value: h.Passage}}
		if h.URL != "" {
			fields = append(fields, report.Field{Name: "source", Value: strings.TrimSpace(h.Title + " " + h.URL)})
		}
		r.Add(report.Heading(h.Kind+" "+h.ID), fields)
	}
	if len(f.Hits) == 0 {
		r.Add(report.Paragraph("Nothing has these words."))
	}
	return r
}

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
