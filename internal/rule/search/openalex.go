package search

import (
	"strconv"
	"strings"
)

var openAlex = Service{
	Name: "openalex", Title: "OpenAlex", Finds: "scholarly works", URL: "https://api.openalex.org", Key: MustKey, KeyEnv: "OPENALEX_API_KEY",
	request: func(a Ask) Request {
		var filters []string
		if a.Since != "" {
			filters = append(filters, "from_publication_date:"+a.Since)
		}
		if a.Language != "" {
			filters = append(filters, "language:"+primary(a.Language))
		}
		return get(a.Address+"/works", "search", a.Query, "per-page", strconv.Itoa(a.Max), "filter", strings.Join(filters, ","), "api_key", a.Key)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Results *[]struct {
				ID, DOI  string
				Title    string           `json:"display_name"`
				Date     string           `json:"publication_date"`
				Abstract map[string][]int `json:"abstract_inverted_index"`
				Location *struct {
					URL string `json:"landing_page_url"`
				} `json:"primary_location"`
			}
		}
		if err := read(answer, &said, func() bool { return said.Results != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range *said.Results {
			at := r.DOI
			if at == "" && r.Location != nil {
				at = r.Location.URL
			}
			if at == "" {
				at = r.ID
			}
			found = append(found, Result{URL: at, Title: r.Title, Snippet: inOrder(r.Abstract), Date: r.Date})
		}
		return found, nil
	},
}

// inOrder is the beginning of a text of which the places of each word are given.
func inOrder(places map[string][]int) string {
	const most = 200 // words
	words := make([]string, most)
	for word, at := range places {
		for _, i := range at {
			if i >= 0 && i < most && (words[i] == "" || word < words[i]) {
				words[i] = word
			}
		}
	}
	return strings.Join(words, " ")
}
