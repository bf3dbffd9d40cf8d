package search

import (
	"net/url"
	"strconv"
	"strings"
)

var wikipedia = Service{
	Name: "wikipedia", Title: "Wikipedia", Finds: "articles of the encyclopaedia, in the language asked for", URL: "https://{language}.wikipedia.org", Free: true,
	request: func(a Ask) Request {
		return get(a.edition()+"/w/api.php", "action", "query", "list", "search", "format", "json", "formatversion", "2",
			"srsearch", a.Query, "srlimit", strconv.Itoa(a.Max))
	},
	parse: func(a Ask, answer []byte) ([]Result, error) {
		var said struct {
			Query *struct {
				Search []struct{ Title, Snippet, Timestamp string }
			}
		}
		if err := read(answer, &said, func() bool { return said.Query != nil }); err != nil {
			return nil, err
		}
		var found []Result
		for _, r := range said.Query.Search {
			path := (&url.URL{Path: strings.ReplaceAll(r.Title, " ", "_")}).EscapedPath()
			found = append(found, Result{URL: a.edition() + "/wiki/" + strings.TrimPrefix(path, "./"), Title: r.Title, Snippet: r.Snippet, Date: r.Timestamp})
		}
		return found, nil
	},
}

// edition is the address of the Wikipedia in the language asked for.
func (a Ask) edition() string {
	language := primary(a.Language)
	if language == "" {
		language = "en"
	}
	return strings.ReplaceAll(a.Address, "{language}", language)
}
