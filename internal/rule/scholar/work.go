package scholar

import (
	"encoding/xml"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Work is what a registry says of an id.
type Work struct {
	Registry     string
	Unregistered bool // there is no such id; then nothing else is known
	Title        string
	Authors      []string
	Date         string // 2021-03-04, 2021-03 or 2021
	Journal      string // or publisher
	Abstract     string
	Retracted    string // how the registry calls it, "" for a work that stands
}

// Answer is what a registry answered: the last response, without redirects.
type Answer struct {
	Status int
	Body   []byte
}

// registry is one that is asked about ids of a kind.
type registry struct {
	name    string
	address func(id string) string
	// read reads an answer with status 200; nil where it says nothing.
	read func(body []byte) *Work
}

// registries are asked in this order: the next one where the one before does not have
// the id.
var registries = map[Kind][]registry{
	DOI: {
		{"Crossref", func(id string) string { return "https://api.crossref.org/works/" + escapePath(id) }, readCrossref},
		{"doi.org", func(id string) string { return "https://doi.org/api/handles/" + escapePath(id) }, func([]byte) *Work { return nil }},
	},
	ArXiv: {{"arXiv", func(id string) string { return "https://export.arxiv.org/api/query?id_list=" + url.QueryEscape(id) }, readArXiv}},
	PubMed: {{"Europe PMC", func(id string) string {
		return "https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=" + url.QueryEscape("ext_id:"+id+" src:med") + "&format=json&resultType=core"
	}, readEuropePMC}},
	ISBN: {{"Open Library", func(id string) string {
		return "https://openlibrary.org/api/books?bibkeys=ISBN:" + id + "&format=json&jscmd=data"
	}, readOpenLibrary}},
}

// MostQuestions is how many registries are asked about one id.
const MostQuestions = 2

func escapePath(id string) string {
	return strings.ReplaceAll(url.PathEscape(id), "%2F", "/")
}

// Missing is the address to ask next about an id, and "" where all is known. Answered
// gives what an address answered, and nil where it was not asked.
func (id ID) Missing(answered func(address string) *Answer) string {
	for _, r := range registries[id.Kind] {
		address := r.address(id.Value)
		answer := answered(address)
		if answer == nil {
			return address
		}
		if answer.Status != 404 {
			break
		}
	}
	return ""
}

// Work is what the registries say of an id, nil where they say nothing: nobody asked
// them, they did not answer, or another one has it.
func (id ID) Work(answered func(address string) *Answer) *Work {
	all := registries[id.Kind]
	for i, r := range all {
		answer := answered(r.address(id.Value))
		switch {
		case answer == nil:
			return nil
		case answer.Status == 200:
			work := r.read(answer.Body)
			if work != nil {
				work.Registry, work.Authors = r.name, work.Authors[:min(len(work.Authors), mostAuthors)]
			}
			return work
		case answer.Status != 404:
			return nil
		case id.Kind == DOI && i == len(all)-1:
			// The resolver of all DOIs says so in its own words; any other page without an
			// address has no such answer.
			if doc, err := codec.Parse(answer.Body); err == nil {
				if code, ok := doc.Get("responseCode").Int(); ok && code == 100 {
					return &Work{Registry: r.name, Unregistered: true}
				}
			}
			return nil
		}
	}
	return nil
}

// retractions are the kinds of updates by which Crossref says that a work no longer
// stands.
var retractions = []string{"retraction", "withdrawal", "removal", "partial_retraction"}

func readCrossref(body []byte) *Work {
	doc, err := codec.Parse(body)
	message := doc.Get("message")
	if err != nil || message.Get("title").Len() == 0 {
		return nil
	}
	w := &Work{Title: plain(message.Get("title").Elems()[0].Str()), Abstract: plain(message.Get("abstract").Str())}
	if subtitle := message.Get("subtitle").Strs(); len(subtitle) > 0 && subtitle[0] != "" {
		w.Title += ": " + plain(subtitle[0])
	}
	for _, a := range message.Get("author").Elems() {
		w.Authors = append(w.Authors, plain(strings.TrimSpace(a.Get("given").Str()+" "+a.Get("family").Str()+a.Get("name").Str())))
	}
	w.Journal = plain(message.Get("publisher").Str())
	if journal := message.Get("container-title").Strs(); len(journal) > 0 {
		w.Journal = plain(journal[0])
	}
	if parts := message.Get("issued").Get("date-parts").Elems(); len(parts) > 0 {
		var date []string
		for _, part := range parts[0].Elems() {
			n, _ := part.Int()
			date = append(date, strconv.FormatInt(n, 10))
		}
		w.Date = page.Date(strings.Join(date, "-"))
	}
	for _, update := range message.Get("updated-by").Elems() {
		if kind := update.Get("type").Str(); slices.Contains(retractions, kind) {
			w.Retracted = strings.ReplaceAll(kind, "_", " ")
			if notice := update.Get("DOI").Str(); notice != "" {
				w.Retracted += ", doi:" + plain(notice)
			}
		}
	}
	w.markedInTitle()
	return w
}

// markedInTitle takes the mark that publishers put before the title of a work that they
// withdrew off it.
func (w *Work) markedInTitle() {
	for _, mark := range []string{"retracted article:", "retracted:", "[retracted]", "retracted article", "withdrawn:", "retracted -"} {
		if len(w.Title) > len(mark) && strings.EqualFold(w.Title[:len(mark)], mark) {
			w.Title = strings.TrimSpace(w.Title[len(mark):])
			if w.Retracted == "" {
				w.Retracted = "marked in its title"
			}
		}
	}
}

func readArXiv(body []byte) *Work {
	var feed struct {
		Entries []struct {
			ID        string `xml:"id"`
			Title     string `xml:"title"`
			Published string `xml:"published"`
			Summary   string `xml:"summary"`
			Comment   string `xml:"comment"`
			Authors   []struct {
				Name string `xml:"name"`
			} `xml:"author"`
		} `xml:"entry"`
	}
	if xml.Unmarshal(body, &feed) != nil {
		return nil
	}
	if len(feed.Entries) == 0 || strings.Contains(feed.Entries[0].ID, "/api/errors") {
		return &Work{Unregistered: true}
	}
	e := feed.Entries[0]
	if e.Title == "" {
		return nil
	}
	w := &Work{Title: plain(e.Title), Date: page.Date(e.Published), Journal: "arXiv", Abstract: plain(e.Summary)}
	for _, a := range e.Authors {
		w.Authors = append(w.Authors, plain(a.Name))
	}
	for _, text := range []string{e.Comment, e.Summary} {
		if text = strings.ToLower(text); strings.Contains(text, "has been withdrawn") || strings.HasPrefix(text, "withdrawn") {
			w.Retracted = "withdrawn"
		}
	}
	return w
}

func readEuropePMC(body []byte) *Work {
	doc, err := codec.Parse(body)
	results := doc.Get("resultList").Get("result").Elems()
	if err != nil || len(results) == 0 || results[0].Get("title").Str() == "" {
		return nil
	}
	r := results[0]
	w := &Work{Title: strings.TrimSuffix(plain(r.Get("title").Str()), "."), Journal: plain(r.Get("journalInfo").Get("journal").Get("title").Str()), Abstract: plain(r.Get("abstractText").Str())}
	w.Date = page.Date(r.Get("firstPublicationDate").Str())
	if w.Date == "" {
		w.Date = page.Date(r.Get("pubYear").Str())
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(r.Get("authorString").Str(), "."), ",") {
		if name = plain(name); name != "" {
			w.Authors = append(w.Authors, name)
		}
	}
	for _, kind := range r.Get("pubTypeList").Get("pubType").Strs() {
		if strings.EqualFold(kind, "retracted publication") {
			w.Retracted = "retracted publication"
		}
	}
	w.markedInTitle()
	return w
}

func readOpenLibrary(body []byte) *Work {
	doc, err := codec.Parse(body)
	books := doc.Members()
	if err != nil || len(books) == 0 || books[0].Value.Get("title").Str() == "" {
		return nil
	}
	book := books[0].Value
	w := &Work{Title: plain(book.Get("title").Str())}
	if subtitle := book.Get("subtitle").Str(); subtitle != "" {
		w.Title += ": " + plain(subtitle)
	}
	for _, a := range book.Get("authors").Elems() {
		w.Authors = append(w.Authors, plain(a.Get("name").Str()))
	}
	if publishers := book.Get("publishers").Elems(); len(publishers) > 0 {
		w.Journal = plain(publishers[0].Get("name").Str())
	}
	date := book.Get("publish_date").Str()
	if w.Date = page.Date(date); w.Date == "" && len(date) > 4 {
		w.Date = page.Date(date[len(date)-4:])
	}
	return w
}

// mostAuthors is how many authors of a work are kept.
const mostAuthors = 100

// plain is a text of a registry without markup, on one line, and without what a reader
// cannot see.
func plain(text string) string {
	if strings.ContainsAny(text, "<&") {
		text = page.Read([]byte("<title>.</title>"+strings.ReplaceAll(text, "<jats:", "<x-")), "text/html; charset=utf-8").Text
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return page.CutBytes(page.TidySpace(text), 4<<10)
}
