package search

import (
	"slices"
	"strconv"
	"strings"
)

var brave = Service{
	Name: "brave", Title: "Brave Search", Finds: "the web", URL: "https://api.search.brave.com", Key: MustKey, KeyEnv: "BRAVE_API_KEY", path: "/res/v1/web/search",
	request: func(a Ask) Request {
		freshness := ""
		if a.Since != "" {
			freshness = a.Since + "to9999-12-31"
		}
		a.Query = beginning(a.Query, 40, 300) // of 50 words and 400 characters, with room for the sites
		return get(a.Address+"/res/v1/web/search", "q", onSites(a), "count", strconv.Itoa(a.Max), "search_lang", braveLanguage(a.Language), "freshness", freshness).
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
	hints: map[int]string{422: "the key or the query is not taken"},
}

// braveLanguage is a language by the names that Brave has for it. It refuses others.
func braveLanguage(tag string) string {
	switch part := primary(tag); {
	case tag == "pt-br", tag == "en-gb", tag == "zh-hans", tag == "zh-hant":
		return tag
	case tag == "zh-tw", tag == "zh-hk":
		return "zh-hant"
	case part == "zh":
		return "zh-hans"
	case part == "pt":
		return "pt-pt"
	case part == "ja":
		return "jp"
	case part == "no", part == "nn":
		return "nb"
	case slices.Contains(braveLanguages, part):
		return part
	}
	return ""
}

var braveLanguages = strings.Fields("ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl es sv ta te th tr uk vi")
