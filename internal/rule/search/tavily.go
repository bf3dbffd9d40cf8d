package search

var tavily = Service{
	Name: "tavily", Title: "Tavily", Finds: "the web", URL: "https://api.tavily.com", Key: MustKey, KeyEnv: "TAVILY_API_KEY", path: "/search",
	request: func(a Ask) Request {
		body := map[string]any{"query": a.Query, "max_results": a.Max}
		if len(a.Domains) > 0 {
			body["include_domains"] = a.Domains
		}
		if a.Since != "" {
			body["start_date"] = a.Since
		}
		return posted(a.Address+"/search", body).with("Authorization", "Bearer "+a.Key)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Results *[]struct {
				URL, Title, Content string
				Date                string `json:"published_date"`
			}
		}
		if err := read(answer, &said, func() bool { return said.Results != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range *said.Results {
			found = append(found, Result{URL: r.URL, Title: r.Title, Snippet: r.Content, Date: r.Date})
		}
		return found, nil
	},
}
