package search

import "strconv"

var brave = Service{
	Name: "brave", Title: "Brave Search", Finds: "the web", URL: "https://api.search.brave.com", Key: MustKey, KeyEnv: "BRAVE_API_KEY", path: "/res/v1/web/search",
	request: func(a Ask) Request {
		freshness := ""
		if a.Since != "" {
			freshness = a.Since + "to9999-12-31"
		}
		return get(a.Address+"/res/v1/web/search", "q", onSites(a), "count", strconv.Itoa(a.Max), "search_lang", primary(a.Language), "freshness", freshness).
			with("X-Subscription-Token", a.Key)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Type string
			Web  struct {
				Results []struct {
					URL, Title, Description string
					PageAge                 string `json:"page_age"`
				}
			}
		}
		if err := read(answer, &said, func() bool { return said.Type == "search" || said.Web.Results != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range said.Web.Results {
			found = append(found, Result{URL: r.URL, Title: r.Title, Snippet: r.Description, Date: r.PageAge})
		}
		return found, nil
	},
	hints: map[int]string{422: "the key is not taken"},
}
