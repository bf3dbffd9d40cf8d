package planted

import (
	_ "embed" // the works
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Reference is a line of a list of sources that names a paper or book by its id.
type Reference struct {
	Kind string // right, preprint, title, swapped, invented or retracted
	Line string // without its list mark
	URL  string
	Rule string // that must find it, "" for a reference without a fault
}

// work is one that the registries know.
type work struct {
	title, journal, year string
	authors              []string
	id                   string // doi:, arxiv:, pmid: or isbn:
	retracted            bool
}

//go:embed works.txt
var worksText string

// inField is how many works of a field stand one after the other.
const inField = 5

// works are the registered works: each as a paper with a DOI, and as a preprint, a
// record of PubMed or a book.
var works = sync.OnceValue(func() []work {
	var list []work
	for line := range strings.Lines(worksText) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		if len(parts) == 4 && !strings.HasPrefix(line, "#") {
			n := len(list)
			list = append(list, work{title: parts[0], authors: strings.Split(parts[1], ", "), journal: parts[2], year: parts[3], id: fmt.Sprintf("doi:10.5555/planted.%d", n+1)})
		}
	}
	for n := range len(list) {
		w := list[n]
		switch n % 4 {
		case 0, 1:
			w.id, w.journal = fmt.Sprintf("arxiv:2101.%05d", n+1), "arXiv"
			w.title = []string{"Towards " + strings.ToLower(w.title[:1]) + w.title[1:], w.title + ", revisited"}[n%2]
		case 2:
			w.id = fmt.Sprintf("pmid:%d", 31000000+n)
		case 3:
			w.id = "isbn:" + isbn(n)
		}
		list = append(list, w)
	}
	for n := range len(list) / 2 {
		if n%5 == 4 { // retracted, each with a notice
			w := list[n]
			w.id, w.retracted = fmt.Sprintf("doi:10.5555/withdrawn.%d", n+1), true
			list = append(list, w)
		}
	}
	return list
})

// isbn is a number of thirteen digits with its check digit.
func isbn(n int) string {
	digits := fmt.Sprintf("978030640%03d", n)
	sum := 0
	for i, r := range digits {
		sum += int(r-'0') * (1 + 2*(i%2))
	}
	return digits + string(rune('0'+(10-sum%10)%10))
}

// address is where a work is cited.
func (w work) address() string {
	kind, value, _ := strings.Cut(w.id, ":")
	switch kind {
	case "arxiv":
		return "https://arxiv.org/abs/" + value
	case "pmid":
		return "https://pubmed.ncbi.nlm.nih.gov/" + value + "/"
	case "isbn":
		return "https://openlibrary.org/isbn/" + value
	}
	return "https://doi.org/" + value
}

// cite writes a work as lists of sources do, in one of several ways.
func (w work) cite(style int) string {
	family := func(name string) string { return name[strings.LastIndex(name, " ")+1:] }
	short, _, _ := strings.Cut(w.title, ":")
	switch style % 9 {
	case 0:
		return w.title
	case 1:
		return fmt.Sprintf("%s (%s). %s. %s.", strings.Join(w.authors, ", "), w.year, w.title, w.journal)
	case 2:
		return short + ", " + w.journal + " " + w.year
	case 3:
		return fmt.Sprintf("%s et al., %s", family(w.authors[0]), w.year)
	case 4:
		return strings.ToUpper(short)
	case 5:
		return fmt.Sprintf("%s: %s", family(w.authors[0]), short)
	case 8: // what it is about
		words := strings.Fields(strings.ToLower(short))
		slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
		return "Study on " + words[1] + " and " + words[0]
	case 6:
		return w.journal + " " + w.year + ", " + family(w.authors[0])
	}
	words := strings.Fields(short)
	return strings.Join(words[:len(words)*2/3], " ") + " …"
}

// References are two hundred: half of them as they should be, in many styles, a third
// of those preprints cited as what became of them; the others with the title of another
// paper of the same field or one that only begins right, with another paper's DOI behind the right address, invented,
// or retracted.
func References() []Reference {
	all := works()
	papers, others := all[:len(all)*5/11], all[len(all)*5/11:len(all)*10/11]
	withdrawn := all[len(all)*10/11:]
	var list []Reference
	add := func(kind, rule, line, url string) {
		url += fmt.Sprintf("?n=%d", len(list)) // or two references would be one source
		list = append(list, Reference{kind, line + " " + url, url, rule})
	}
	for n := range 70 {
		w := all[(n*3)%(len(papers)+len(others))]
		add("right", "", w.cite(n), w.address())
	}
	for n := range 30 { // the preprint is cited by the name of the paper, or with its DOI
		at := n/2*4%48 + n%2
		paper, preprint := papers[at], others[at]
		line := paper.cite([]int{0, 1, 2, 5, 7}[n%5])
		if n%3 == 0 {
			line += ", doi:" + strings.TrimPrefix(paper.id, "doi:")
		}
		add("preprint", "", line, preprint.address())
	}
	beside := func(n int) work { return papers[n/inField*inField+(n+2)%inField] } // of the same field
	for n := range 30 {
		w, other := papers[(n*7)%len(papers)], beside((n*7)%len(papers))
		if n%3 == 2 { // begins like the one, and goes on like the other
			words, more := strings.Fields(w.title), strings.Fields(other.title)
			other.title = strings.Join(append(slices.Clone(words[:len(words)/2]), more[len(more)/2:]...), " ")
		}
		add("title", "other-work", other.cite([]int{0, 1, 2, 5}[n%4]), w.address())
	}
	for n := range 30 {
		w := papers[(n*3+1)%len(papers)]
		add("swapped", "other-work", w.cite([]int{0, 1, 2, 5}[n%4])+", doi:"+strings.TrimPrefix(beside((n*3+1)%len(papers)).id, "doi:"), fmt.Sprintf("https://journal.example/%d/%s", n, w.year))
	}
	for n := range 20 {
		w := papers[(n*2)%len(papers)]
		w.id = []string{fmt.Sprintf("doi:10.5555/invented.%d", n), fmt.Sprintf("arxiv:2099.%05d", n+1)}[n%2]
		add("invented", "unregistered", w.cite(n), w.address())
	}
	for n := range 20 {
		w := withdrawn[n%len(withdrawn)]
		url := w.address()
		if n >= len(withdrawn) {
			url = "https://publisher.example/doi/full/" + strings.TrimPrefix(w.id, "doi:")
		}
		add("retracted", "retracted", w.cite(n), url)
	}
	return list
}

// Registry answers as the registries of papers and books do, in their published forms.
// It is false for an address that is none of theirs.
func Registry(address string) (status int, contentType string, body []byte, ok bool) {
	find := func(id string) *work {
		for _, w := range works() {
			if w.id == id {
				return &w
			}
		}
		return nil
	}
	answer := func(doc any) (int, string, []byte, bool) {
		data, err := json.Marshal(doc)
		if err != nil {
			panic(err)
		}
		return 200, "application/json", data, true
	}
	type object = map[string]any
	if doi, ok := strings.CutPrefix(address, "https://api.crossref.org/works/"); ok {
		w := find("doi:" + doi)
		if w == nil {
			return 404, "text/plain", []byte("Resource not found."), true
		}
		message := object{"DOI": doi, "title": []string{w.title}, "container-title": []string{w.journal}, "publisher": "Planted Press", "issued": object{"date-parts": [][]string{}}}
		var authors []object
		for _, name := range w.authors {
			given, family, _ := strings.Cut(name, " ")
			authors = append(authors, object{"given": given, "family": family, "sequence": "additional"})
		}
		message["author"] = authors
		var year int
		fmt.Sscan(w.year, &year)
		message["issued"] = object{"date-parts": [][]int{{year, 3}}}
		if w.retracted {
			message["updated-by"] = []object{{"DOI": doi + ".retraction", "type": "retraction", "label": "Retraction", "source": "publisher"}}
		}
		return answer(object{"status": "ok", "message-type": "work", "message-version": "1.0.0", "message": message})
	}
	if doi, ok := strings.CutPrefix(address, "https://doi.org/api/handles/"); ok {
		return 404, "application/json", []byte(`{"responseCode":100,"handle":"` + doi + `"}`), true
	}
	if id, ok := strings.CutPrefix(address, "https://export.arxiv.org/api/query?id_list="); ok {
		var b strings.Builder
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title type="html">ArXiv Query</title>`)
		if w := find("arxiv:" + id); w != nil {
			b.WriteString(`<entry><id>http://arxiv.org/abs/` + id + `v1</id><published>` + w.year + `-01-04T00:00:00Z</published><title>`)
			_ = xml.EscapeText(&b, []byte(w.title))
			b.WriteString("</title><summary>We report what we found.</summary>")
			for _, name := range w.authors {
				b.WriteString("<author><name>" + name + "</name></author>")
			}
			b.WriteString(`<arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">12 pages</arxiv:comment></entry>`)
		}
		return 200, "application/atom+xml; charset=UTF-8", []byte(b.String() + "</feed>"), true
	}
	if rest, ok := strings.CutPrefix(address, "https://www.ebi.ac.uk/europepmc/webservices/rest/search?query=ext_id%3A"); ok {
		id, _, _ := strings.Cut(rest, "+")
		results := []object{}
		if w := find("pmid:" + id); w != nil {
			results = append(results, object{"id": id, "source": "MED", "pmid": id, "title": w.title + ".", "authorString": strings.Join(w.authors, ", ") + ".",
				"journalInfo": object{"journal": object{"title": w.journal}}, "pubYear": w.year, "pubTypeList": object{"pubType": []string{"Journal Article"}}})
		}
		return answer(object{"version": "6.9", "hitCount": len(results), "resultList": object{"result": results}})
	}
	if rest, ok := strings.CutPrefix(address, "https://openlibrary.org/api/books?bibkeys=ISBN:"); ok {
		id, _, _ := strings.Cut(rest, "&")
		books := object{}
		if w := find("isbn:" + id); w != nil {
			var authors []object
			for _, name := range w.authors {
				authors = append(authors, object{"name": name})
			}
			books["ISBN:"+id] = object{"title": w.title, "authors": authors, "publishers": []object{{"name": w.journal}}, "publish_date": "March " + w.year}
		}
		return answer(books)
	}
	return 0, "", nil, false
}

// Landing is the page at the address of a reference: that of the work which the address
// names. It is false where there is none, as for an invented DOI.
func Landing(url string) (page string, ok bool) {
	address, _, _ := strings.Cut(url, "?")
	for _, w := range works() {
		value := w.id[strings.Index(w.id, ":")+1:]
		if address == w.address() || strings.HasSuffix(address, "/full/"+value) {
			return landing(w.title, w.authors), true
		}
	}
	for _, r := range References() {
		if r.Kind == "swapped" && r.URL == url { // the page of what the line says it is
			return landing(r.Line, nil), true
		}
	}
	return "", false
}

func landing(title string, authors []string) string {
	return "<!DOCTYPE html><html lang=en><head><title>" + title + "</title></head><body><article><h1>" + title + "</h1><p>" + strings.Join(authors, ", ") + "</p><p>" +
		strings.Repeat("The authors describe what they measured, how they measured it, and what they could not explain. ", 12) + "</p></article></body></html>"
}
