package search

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// PubMed is asked twice: which papers, then what they are.
var pubmed = Service{
	Name: "pubmed", Title: "PubMed", Finds: "papers in medicine", URL: "https://eutils.ncbi.nlm.nih.gov", Key: MayKey, KeyEnv: "NCBI_API_KEY", Free: true, Pause: 350 * time.Millisecond,
	request: func(a Ask) Request {
		since := ""
		if a.Since != "" {
			since = strings.ReplaceAll(a.Since, "-", "/")
		}
		kind, until := "", ""
		if since != "" {
			kind, until = "pdat", "3000"
		}
		return get(a.Address+"/entrez/eutils/esearch.fcgi", "db", "pubmed", "retmode", "json", "sort", "relevance", "retmax", strconv.Itoa(a.Max),
			"term", a.Query, "datetype", kind, "mindate", since, "maxdate", until, "api_key", a.Key)
	},
	then: func(a Ask, answer []byte) (Request, bool, error) {
		var said struct {
			Found *struct {
				IDs   []string `json:"idlist"`
				Error string   `json:"ERROR"`
			} `json:"esearchresult"`
		}
		if err := read(answer, &said, func() bool { return said.Found != nil }); err != nil {
			return Request{}, false, err
		}
		if said.Found.Error != "" {
			return Request{}, false, errors.New(plain(said.Found.Error, maxTitle))
		}
		var ids []string
		for _, id := range said.Found.IDs {
			if isNumber(id) && len(ids) < a.Max {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return Request{}, false, nil
		}
		return get(a.Address+"/entrez/eutils/esummary.fcgi", "db", "pubmed", "retmode", "json", "id", strings.Join(ids, ","), "api_key", a.Key), true, nil
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct{ Result map[string]json.RawMessage }
		var ids []string
		if err := read(answer, &said, func() bool { return json.Unmarshal(said.Result["uids"], &ids) == nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, id := range ids {
			var paper struct{ Title, FullJournalName, SortPubDate string }
			if json.Unmarshal(said.Result[id], &paper) == nil && isNumber(id) {
				found = append(found, Result{URL: "https://pubmed.ncbi.nlm.nih.gov/" + id + "/", Title: paper.Title, Snippet: paper.FullJournalName, Date: paper.SortPubDate})
			}
		}
		return found, nil
	},
}

func isNumber(text string) bool {
	return text != "" && len(text) <= 12 && strings.Trim(text, "0123456789") == ""
}
