// Package fakesearch stands in for the search services: answers in their published
// formats, for tests.
package fakesearch

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// Item is a page that a service finds.
type Item struct{ URL, Title, Snippet, Date string }

type object = map[string]any

// Key is the key that services with a key want.
const Key = "sk-search-7f3a9c"

// formats are the answers of services, by name. PubMed answers twice; see pubMed.
var formats = map[string]func([]Item) string{
	"searxng": list("results", func(i Item) object {
		return object{"url": i.URL, "title": i.Title, "content": i.Snippet, "publishedDate": i.Date, "engine": "test", "score": 1.5}
	}, object{"query": "q", "number_of_results": 0, "answers": []any{}}),
	"brave": func(items []Item) string {
		return text(object{"type": "search", "query": object{"original": "q"}, "web": object{"type": "search", "results": each(items, func(i Item) object {
			return object{"type": "search_result", "url": i.URL, "title": i.Title, "description": i.Snippet, "page_age": i.Date + "T00:00:00", "age": "2 weeks ago"}
		})}})
	},
	"tavily": list("results", func(i Item) object {
		return object{"url": i.URL, "title": i.Title, "content": i.Snippet, "score": 0.9, "raw_content": nil, "published_date": i.Date}
	}, object{"query": "q", "answer": nil, "images": []any{}, "response_time": 1.2}),
	"wikipedia": func(items []Item) string {
		return text(object{"batchcomplete": true, "query": object{"searchinfo": object{"totalhits": len(items)}, "search": each(items, func(i Item) object {
			return object{"ns": 0, "title": i.Title, "pageid": 7, "size": 10, "wordcount": 2, "snippet": i.Snippet, "timestamp": i.Date + "T10:11:12Z"}
		})}})
	},
	"crossref": func(items []Item) string {
		return text(object{"status": "ok", "message-type": "work-list", "message": object{"total-results": len(items), "items": each(items, func(i Item) object {
			return object{"DOI": strings.TrimPrefix(i.URL, "https://doi.org/"), "URL": i.URL, "title": []string{i.Title}, "abstract": i.Snippet,
				"container-title": []string{"Journal"}, "issued": object{"date-parts": [][]int{parts(i.Date)}}}
		})}})
	},
	"arxiv": func(items []Item) string {
		var b strings.Builder
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title type="html">ArXiv Query</title><id>http://arxiv.org/api/x</id>`)
		for _, i := range items {
			fmt.Fprintf(&b, "<entry><id>%s</id><updated>%sT00:00:00Z</updated><published>%sT00:00:00Z</published><title>%s</title><summary>%s</summary><author><name>A. Author</name></author></entry>",
				inXML(i.URL), i.Date, i.Date, inXML(i.Title), inXML(i.Snippet))
		}
		return b.String() + "</feed>"
	},
	"europepmc": func(items []Item) string {
		return text(object{"version": "6.9", "hitCount": len(items), "resultList": object{"result": each(items, func(i Item) object {
			rest := strings.Split(strings.TrimPrefix(i.URL, "https://europepmc.org/article/"), "/")
			return object{"id": rest[len(rest)-1], "source": rest[0], "title": i.Title, "abstractText": i.Snippet, "firstPublicationDate": i.Date, "pubYear": "2020"}
		})}})
	},
	"serper": list("organic", func(i Item) object {
		return object{"link": i.URL, "title": i.Title, "snippet": i.Snippet, "date": i.Date, "position": 1}
	}, object{"searchParameters": object{"q": "q", "type": "search"}, "credits": 1}),
	"exa": list("results", func(i Item) object {
		return object{"id": i.URL, "url": i.URL, "title": i.Title, "text": i.Snippet, "publishedDate": i.Date + "T00:00:00.000Z", "author": nil}
	}, object{"requestId": "r", "resolvedSearchType": "neural"}),
	"openalex": list("results", func(i Item) object {
		index := object{}
		for at, word := range strings.Fields(i.Snippet) {
			if index[word] == nil {
				index[word] = []int{}
			}
			index[word] = append(index[word].([]int), at)
		}
		return object{"id": "https://openalex.org/W1", "doi": i.URL, "display_name": i.Title, "publication_date": i.Date, "abstract_inverted_index": index,
			"primary_location": object{"landing_page_url": i.URL}}
	}, object{"meta": object{"count": 1}}),
	"semanticscholar": list("data", func(i Item) object {
		return object{"paperId": "p", "url": i.URL, "title": i.Title, "abstract": i.Snippet, "year": 2020, "publicationDate": i.Date}
	}, object{"total": 1, "offset": 0}),
	"hackernews": list("hits", func(i Item) object {
		return object{"objectID": "42", "url": i.URL, "title": i.Title, "story_text": i.Snippet, "created_at": i.Date + "T00:00:00Z", "points": 3}
	}, object{"nbHits": 1, "page": 0}),
	"github": list("items", func(i Item) object {
		return object{"html_url": i.URL, "full_name": i.Title, "description": i.Snippet, "pushed_at": i.Date + "T00:00:00Z"}
	}, object{"total_count": 1, "incomplete_results": false}),
	"duckduckgo": func(items []Item) string {
		var b strings.Builder
		b.WriteString(`<!DOCTYPE html><html><body><div id="links" class="results">`)
		if len(items) == 0 {
			b.WriteString(`<div class="result results_links no-results">No results.</div>`)
		} else {
			b.WriteString(`<div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=ad.example">Buy</a></div>`)
		}
		for _, i := range items {
			fmt.Fprintf(&b, `<div class="result results_links"><h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=%s&amp;rut=abc">%s</a></h2><a class="result__snippet" href="x">%s</a></div>`,
				url.QueryEscape(i.URL), html.EscapeString(i.Title), html.EscapeString(i.Snippet))
		}
		return b.String() + "</div></body></html>"
	},
}

// Answers are the answers of a service that finds items, in the order of its requests.
func Answers(service string, items []Item) [][]byte {
	if service == "pubmed" {
		return pubMed(items)
	}
	return [][]byte{[]byte(formats[service](items))}
}

// pubMed answers with numbers, and then with what they are.
func pubMed(items []Item) [][]byte {
	ids, result := []string{}, object{}
	for n, i := range items {
		id := strings.Trim(strings.TrimPrefix(i.URL, "https://pubmed.ncbi.nlm.nih.gov/"), "/")
		if id == i.URL {
			id = strconv.Itoa(n + 1)
		}
		ids = append(ids, id)
		result[id] = object{"uid": id, "title": i.Title, "fulljournalname": i.Snippet, "sortpubdate": strings.ReplaceAll(i.Date, "-", "/") + " 00:00"}
	}
	answers := [][]byte{[]byte(text(object{"header": object{}, "esearchresult": object{"count": strconv.Itoa(len(ids)), "idlist": ids}}))}
	if len(ids) == 0 {
		return answers
	}
	result["uids"] = ids
	return append(answers, []byte(text(object{"header": object{}, "result": result})))
}

func list(name string, item func(Item) object, rest object) func([]Item) string {
	return func(items []Item) string {
		said := object{name: each(items, item)}
		for key, value := range rest {
			said[key] = value
		}
		return text(said)
	}
}

func each(items []Item, item func(Item) object) []object {
	out := []object{}
	for _, i := range items {
		out = append(out, item(i))
	}
	return out
}

func inXML(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

func parts(date string) []int {
	var out []int
	for _, part := range strings.Split(date, "-") {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Server answers requests to any of the services, each below a path of its name:
// http://127.0.0.1:PORT/brave.
type Server struct {
	// Find says what a service finds, and with which status it answers.
	Find func(service string, r *http.Request) (items []Item, status int)
	// Raw answers in its own way; nil: all services answer as they should.
	Raw http.HandlerFunc

	mu    sync.Mutex
	asked []string
}

// Asked are the services that were asked, in order.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	s.asked = append(s.asked, service)
	s.mu.Unlock()
	if s.Raw != nil {
		s.Raw(w, r)
		return
	}
	items, status := s.Find(service, r)
	if status != http.StatusOK {
		w.Header().Set("Retry-After", "3600")
		http.Error(w, "no", status)
		return
	}
	answers := Answers(service, items)
	if strings.HasSuffix(r.URL.Path, "/esummary.fcgi") {
		answers = answers[1:]
	}
	w.Write(answers[0])
}
