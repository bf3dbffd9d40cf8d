package search

var searxng = Service{
	Name: "searxng", Title: "SearXNG", Finds: "the web", Key: NoKey, path: "/search",
	request: func(a Ask) Request {
		return get(a.Address+"/search", "q", onSites(a), "format", "json", "language", a.Language)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Results *[]struct{ URL, Title, Content, PublishedDate string }
		}
		if err := read(answer, &said, func() bool { return said.Results != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range *said.Results {
			found = append(found, Result{URL: r.URL, Title: r.Title, Snippet: r.Content, Date: r.PublishedDate})
		}
		return found, nil
	},
	hints: map[int]string{403: "it gives no JSON; add json to search.formats in its settings.yml"},
}
