package search

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
)

// Archive stands for the pages that a finished run has archived. It is asked in the
// place of all services where a person wants a run to be answered by them alone, and is
// none that anybody can name.
var Archive = Service{
	Name: "archive", Title: "The archive", Finds: "pages of a finished run", URL: "archive://pages",
	request: func(a Ask) Request {
		return get(a.Address, "q", a.Query, "language", a.Language, "site", strings.Join(a.Domains, " "), "since", a.Since, "max", strconv.Itoa(a.Max))
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said archiveAnswer
		err := read(answer, &said, func() bool { return said.Results != nil })
		return said.Results, err
	},
}

type archiveAnswer struct {
	Results []Result `json:"results"`
}

// Page is an archived page, as a search over an archive looks at it.
type Page struct{ URL, Title, Text, Date string }

// InArchive answers a request of [Archive] from pages, in the form that it reads: those
// that have the most different words of the query, of two with as many the one that has
// more of them in its title, and else the one that comes first.
func InArchive(request Request, pages []Page) []byte {
	asked, err := url.Parse(request.URL)
	if err != nil {
		return marshal(archiveAnswer{Results: []Result{}})
	}
	words := map[string]bool{}
	page.EachFolded(asked.Query().Get("q"), func(word []byte, _ int) {
		if !page.IsCommon(string(word)) {
			words[string(word)] = true
		}
	})
	domains := strings.Fields(asked.Query().Get("site"))
	type hit struct {
		Result
		words, title int
	}
	var hits []hit
	for _, p := range pages {
		if len(domains) > 0 && !slices.ContainsFunc(domains, func(domain string) bool { return below(p.URL, domain) }) {
			continue
		}
		inTitle, _ := found(p.Title, words)
		all, from := found(p.Title+"\n"+p.Text, words)
		if len(all) == 0 {
			continue
		}
		at := max(0, from-len(p.Title)-1)
		hits = append(hits, hit{Result{URL: p.URL, Title: p.Title, Snippet: excerpt(p.Text, at), Date: p.Date}, len(all), len(inTitle)})
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.words != b.words {
			return b.words - a.words
		}
		return b.title - a.title
	})
	most, _ := strconv.Atoi(asked.Query().Get("max"))
	out := archiveAnswer{Results: []Result{}}
	for i := range hits[:min(len(hits), most)] {
		out.Results = append(out.Results, hits[i].Result)
	}
	return marshal(out)
}

// found are the words that a text has, and where the first of them stands. Endings of up
// to two letters make no difference to longer words.
func found(text string, words map[string]bool) (has map[string]bool, from int) {
	has, from = map[string]bool{}, -1
	page.EachFolded(text, func(word []byte, at int) {
		for w := range words {
			if has[w] || !sameWord(word, w) {
				continue
			}
			has[w] = true
			if from < 0 {
				from = at
			}
		}
	})
	return has, from
}

func sameWord(a []byte, b string) bool {
	const stem, ending = 4, 2
	short := min(len(a), len(b))
	return string(a) == b || short >= stem && max(len(a), len(b))-short <= ending && bytes.Equal(a[:short], []byte(b)[:short])
}

// excerpt is the part of a text around a place, from the beginning of a line where one is
// near.
func excerpt(text string, at int) string {
	const before, most = 200, 600
	at = min(at, len(text))
	from := max(0, at-before)
	if line := strings.LastIndexByte(text[from:at], '\n'); line >= 0 {
		from += line + 1
	}
	return page.CutBytes(strings.ToValidUTF8(text[from:], ""), most)
}

func below(address, domain string) bool {
	u, err := url.Parse(address)
	return err == nil && (strings.EqualFold(u.Hostname(), domain) || strings.HasSuffix(strings.ToLower(u.Hostname()), "."+domain))
}
