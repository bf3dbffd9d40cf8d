package search

var serper = Service{
	Name: "serper", Title: "Serper", Finds: "the web, by Google", URL: "https://google.serper.dev", Key: MustKey, KeyEnv: "SERPER_API_KEY",
	request: func(a Ask) Request {
		body := map[string]any{"q": onSites(a), "num": a.Max}
		if a.Language != "" {
			body["hl"] = primary(a.Language)
		}
		return posted(a.Address+"/search", body).with("X-API-KEY", a.Key)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			SearchParameters *struct{}
			Organic          *[]struct{ Link, Title, Snippet, Date string }
		}
		if err := read(answer, &said, func() bool { return said.SearchParameters != nil || said.Organic != nil }); err != nil {
			return nil, err
		}
		var found []Result
		if said.Organic == nil {
			return nil, nil
		}
		for _, r := range *said.Organic {
			found = append(found, Result{URL: r.Link, Title: r.Title, Snippet: r.Snippet, Date: r.Date})
		}
		return found, nil
	},
}
