package search

import "strconv"

var crossref = Service{
	Name: "crossref", Title: "Crossref", Finds: "registered scholarly works", URL: "https://api.crossref.org", Free: true,
	request: func(a Ask) Request {
		filter := ""
		if a.Since != "" {
			filter = "from-pub-date:" + a.Since
		}
		return get(a.Address+"/works", "query", a.Query, "rows", strconv.Itoa(a.Max), "filter", filter)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Message *struct {
				Items []struct {
					DOI, URL, Abstract string
					Title              []string
					Container          []string `json:"container-title"`
					Issued             struct {
						Parts [][]int `json:"date-parts"`
					}
				}
			}
		}
		if err := read(answer, &said, func() bool { return said.Message != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range said.Message.Items {
			at := r.URL
			if r.DOI != "" {
				at = "https://doi.org/" + r.DOI
			}
			snippet, date := r.Abstract, ""
			if snippet == "" {
				snippet = first(r.Container)
			}
			if len(r.Issued.Parts) > 0 {
				date = dateOf(r.Issued.Parts[0])
			}
			found = append(found, Result{URL: at, Title: first(r.Title), Snippet: snippet, Date: date})
		}
		return found, nil
	},
}
