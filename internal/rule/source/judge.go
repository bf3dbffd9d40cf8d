package source

import (
	"context"
	"crypto/sha256"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/text/link"
)

// Evidence is what sources are judged by.
type Evidence struct {
	// Page gives what the archive has of a URL, nil where it has nothing. It is
	// called from several goroutines.
	Page func(ctx context.Context, url string) (*Page, error)
	// Attached gives the file that a person attached to a source, by its cid, or nil.
	// The function itself may be nil. An attached file takes precedence over a page.
	Attached func(ctx context.Context, cid string) (*Page, error)
	// Replaced maps the cid of a source to the URL that a person named in its
	// place. The record keeps its cid and is judged by the other page.
	Replaced map[string]string
	// Judged has the sources, by cid, that [JudgePage] has already judged by the page
	// that Page would give. That page is not read again, unless the source has an id that
	// a registry knows.
	Judged map[string]Judgement
	// Work gives what the archive has of the registries' answers about an id, nil where it
	// has nothing. The function itself may be nil. It is called from several goroutines.
	Work func(ctx context.Context, id scholar.ID) (*scholar.Work, error)
	// Dates are those by which searches found pages, by the normalised URLs of sources.
	Dates map[string]string
	// Policy is what the run allows.
	Policy policy.Policy
	// Created is when the run was created: the time of the records that have no
	// page.
	Created time.Time
}

// Judge makes a record of every source, in the order of the sources, by the table
// of [Rules]. Where several sources lead to one page, all their records but the
// one with the first cid carry same_as.
//
// Pages are read one after the other on each core, so that memory holds no more
// of them than there are cores. The same evidence gives the same records.
//
// It returns the errors of evidence and of ctx.
func Judge(ctx context.Context, sources []Source, evidence Evidence) ([]Record, error) {
	judged := make([]Judgement, len(sources))
	err := parallel.All(ctx, len(sources), func(i int) error {
		if known, found := evidence.Judged[sources[i].CID]; found && known.record.Identifier == "" && evidence.Dates[sources[i].Normalized] == "" {
			judged[i] = known
			return nil
		}
		source, page, replaced, err := evidence.of(ctx, &sources[i])
		if err != nil {
			return err
		}
		var failed error
		s := newSubject(source, page, evidence.Policy, func(id scholar.ID) (work *scholar.Work) {
			if evidence.Work != nil {
				work, failed = evidence.Work(ctx, id)
			}
			return work
		})
		s.found = evidence.Dates[source.Normalized]
		judged[i] = s.judgement(evidence.Created)
		if failed != nil {
			return failed
		}
		judged[i].record.ReplacedBy = replaced
		return nil
	})
	if err != nil {
		return nil, err
	}
	return compare(judged), nil
}

// Judgement is what a page makes of a source, before sources are compared with
// one another.
type Judgement struct {
	record Record
	trace  trace
}

// JudgePage judges a source by the page of its own URL and by what the run allows.
func JudgePage(source *Source, page *Page, allowed policy.Policy) Judgement {
	return newSubject(source, page, allowed, nil).judgement(time.Time{})
}

func (s *subject) judgement(created time.Time) Judgement {
	record := s.record(created)
	return Judgement{record, s.trace(record.Status)}
}

// of finds the page to judge a source by, and says which URL stands in place of
// the source's own.
func (e *Evidence) of(ctx context.Context, source *Source) (judged *Source, page *Page, replaced string, err error) {
	if e.Attached != nil {
		if page, err = e.Attached(ctx, source.CID); err != nil || page != nil {
			return source, page, "", err
		}
	}
	if url, found := e.Replaced[source.CID]; found {
		page, err = e.Page(ctx, url)
		return source.replacedBy(url), page, link.Mask(url), err
	}
	if url, ok := source.FetchURL(); ok {
		page, err = e.Page(ctx, url)
	}
	return source, page, "", err
}

// trace shows whether two records are about one page.
type trace struct {
	urls []string // normalised: its own, where redirects led, what the page calls itself
	text [sha256.Size]byte
	long bool // the text is long enough to belong to one page only
}

// sameText is how many words a text must have before two pages with that text
// are one page.
const sameText = 50

func (s *subject) trace(status Status) trace {
	if !status.usable() {
		return trace{}
	}
	var t trace
	if !s.page.Attached {
		t.urls = []string{s.from.normalized, s.to.normalized}
		// A canonical link from a deep link to the home page is a mistake of the site:
		// it would make one page of all its pages.
		if own := s.address(s.content.Canonical); s.content.Canonical != "" && own.host != "" && (own.deep() || !s.to.deep()) {
			t.urls = append(t.urls, own.normalized)
		}
	}
	if status == Valid && s.content.Words >= sameText {
		t.long = true
		t.text = textDigest(s.content.Text)
	}
	return t
}

// textDigest is the digest of a text without its white space.
func textDigest(text string) (sum [sha256.Size]byte) {
	digest := sha256.New()
	packed, n := make([]byte, 4<<10), 0
	for at := 0; at < len(text); {
		if n > len(packed)-utf8.UTFMax {
			digest.Write(packed[:n])
			n = 0
		}
		if c := text[at]; c < utf8.RuneSelf {
			packed[n] = c
			n += int(printed[c]) // without a branch: blanks cannot be foretold
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsSpace(r) {
			n += copy(packed[n:], text[at:at+size])
		}
		at += size
	}
	digest.Write(packed[:n])
	digest.Sum(sum[:0])
	return sum
}

// printed is 1 for each character of ASCII that is not white space.
var printed = func() (counts [utf8.RuneSelf]uint8) {
	for c := range counts {
		if !unicode.IsSpace(rune(c)) {
			counts[c] = 1
		}
	}
	return counts
}()

// compare joins the records that share a URL or a long text, and names in each the
// first cid of its group.
func compare(judged []Judgement) []Record {
	records, group := make([]Record, len(judged)), make([]int, len(judged))
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	join := func(i, j int) { group[root(i)] = root(j) }
	byURL, byText := map[string]int{}, map[[sha256.Size]byte]int{}
	for i := range judged {
		records[i] = judged[i].record
		t := &judged[i].trace
		for _, url := range t.urls {
			if j, seen := byURL[url]; seen {
				join(i, j)
			}
			byURL[url] = i
		}
		if t.long {
			if j, seen := byText[t.text]; seen {
				join(i, j)
			}
			byText[t.text] = i
		}
	}
	first := map[int]string{}
	for i := range records {
		if cid, seen := first[root(i)]; !seen || records[i].CID < cid {
			first[root(i)] = records[i].CID
		}
	}
	for i := range records {
		if cid := first[root(i)]; cid != records[i].CID {
			records[i].SameAs = cid
		}
	}
	return records
}
