package search

import (
	"strconv"
	"time"
)

var hackerNews = Service{
	Name: "hackernews", Title: "Hacker News", Finds: "what programmers read and discuss", URL: "https://hn.algolia.com",
	request: func(a Ask) Request {
		since := ""
		if day, err := time.Parse(time.DateOnly, a.Since); err == nil {
			since = "created_at_i>=" + strconv.FormatInt(day.Unix(), 10)
		}
		return get(a.Address+"/api/v1/search", "query", a.Query, "tags", "story", "hitsPerPage", strconv.Itoa(a.Max), "numericFilters", since)
	},
	parse: func(_ Ask, answer []byte) ([]Result, error) {
		var said struct {
			Hits *[]struct {
				URL, Title, ObjectID string
				Text                 string `json:"story_text"`
				Created              string `json:"created_at"`
			}
		}
		if err := read(answer, &said, func() bool { return said.Hits != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range *said.Hits {
			if r.URL == "" && isNumber(r.ObjectID) { // a question that lies there alone
				r.URL = "https://news.ycombinator.com/item?id=" + r.ObjectID
			}
			found = append(found, Result{URL: r.URL, Title: r.Title, Snippet: r.Text, Date: r.Created})
		}
		return found, nil
	},
}
