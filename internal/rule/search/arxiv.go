package search

import (
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
)

var arxiv = Service{
	Name: "arxiv", Title: "arXiv", Finds: "preprints in physics, mathematics, computing and their neighbours", URL: "https://export.arxiv.org", Free: true, Pause: 3 * time.Second,
	request: func(a Ask) Request {
		words := strings.FieldsFunc(a.Query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' })
		for i, word := range words {
			words[i] = "all:" + word
		}
		return get(a.Address+"/api/query", "search_query", strings.Join(words, " OR "), "max_results", strconv.Itoa(a.Max))
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var feed struct {
			XMLName xml.Name
			Entries []struct {
				ID        string `xml:"id"`
				Title     string `xml:"title"`
				Summary   string `xml:"summary"`
				Published string `xml:"published"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal(answer, &feed); err != nil || feed.XMLName.Local != "feed" {
			return nil, errors.New("it is not the Atom that was expected")
		}
		var found []Result
		for _, e := range feed.Entries {
			if strings.Contains(e.ID, "/api/errors") {
				return nil, errors.New(plain(e.Summary, maxTitle))
			}
			found = append(found, Result{URL: strings.Replace(strings.TrimSpace(e.ID), "http://", "https://", 1), Title: e.Title, Snippet: e.Summary, Date: e.Published})
		}
		return found, nil
	},
}
