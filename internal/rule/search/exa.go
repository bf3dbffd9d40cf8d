package search

var exa = Service{
	Name: "exa", Title: "Exa", Finds: "the web, by meaning", URL: "https://api.exa.ai", Key: MustKey, KeyEnv: "EXA_API_KEY",
	request: func(a Ask) Request {
		body := map[string]any{"query": a.Query, "numResults": a.Max, "contents": map[string]any{"text": map[string]any{"maxCharacters": maxSnippet}}}
		if len(a.Domains) > 0 {
			body["includeDomains"] = a.Domains
		}
		if a.Since != "" {
			body["startPublishedDate"] = a.Since + "T00:00:00.000Z"
		}
		return posted(a.Address+"/search", body).with("x-api-key", a.Key)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Results *[]struct{ URL, Title, Text, PublishedDate string }
		}
		if err := read(answer, &said, func() bool { return said.Results != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range *said.Results {
			found = append(found, Result{URL: r.URL, Title: r.Title, Snippet: r.Text, Date: r.PublishedDate})
		}
		return found, nil
	},
}
