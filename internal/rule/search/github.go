package search

import "strconv"

var gitHub = Service{
	Name: "github", Title: "GitHub", Finds: "repositories", URL: "https://api.github.com", Key: MayKey,
	request: func(a Ask) Request {
		query := a.Query
		if a.Since != "" {
			query += " pushed:>=" + a.Since
		}
		request := get(a.Address+"/search/repositories", "q", query, "per_page", strconv.Itoa(a.Max))
		if a.Key != "" {
			request = request.with("Authorization", "Bearer "+a.Key)
		}
		return request
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Items *[]struct {
				URL         string `json:"html_url"`
				Name        string `json:"full_name"`
				Description string
				Pushed      string `json:"pushed_at"`
			}
		}
		if err := read(answer, &said, func() bool { return said.Items != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range *said.Items {
			found = append(found, Result{URL: r.URL, Title: r.Name, Snippet: r.Description, Date: r.Pushed})
		}
		return found, nil
	},
	hints: map[int]string{403: "it is asked too often, or the key is not taken"},
}
