package search

import (
	"strconv"
	"time"
)

var semanticScholar = Service{
	Name: "semanticscholar", Title: "Semantic Scholar", Finds: "scholarly works", URL: "https://api.semanticscholar.org", Key: MayKey, KeyEnv: "SEMANTIC_SCHOLAR_API_KEY", Pause: time.Second,
	request: func(a Ask) Request {
		since := ""
		if a.Since != "" {
			since = a.Since + ":"
		}
		return get(a.Address+"/graph/v1/paper/search", "query", a.Query, "limit", strconv.Itoa(a.Max), "fields", "title,url,abstract,year,publicationDate",
			"publicationDateOrYear", since).with("x-api-key", a.Key)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Total *int
			Data  []struct {
				URL, Title, Abstract, PublicationDate string
				Year                                  int
			}
		}
		if err := read(answer, &said, func() bool { return said.Total != nil || said.Data != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range said.Data {
			date := r.PublicationDate
			if date == "" && r.Year > 0 {
				date = dateOf([]int{r.Year})
			}
			found = append(found, Result{URL: r.URL, Title: r.Title, Snippet: r.Abstract, Date: date})
		}
		return found, nil
	},
}
