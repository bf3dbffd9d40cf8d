package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Search is where the model driver searches the web.
type Search struct {
	Service string // searxng, brave or tavily; empty: there is no search
	URL     string // of the endpoint; empty: the service's own, which SearXNG lacks
	KeyEnv  string // the variable that holds the key
}

const (
	maxFound   = 10      // results that are shown
	maxResults = 4 << 20 // bytes of a response
)

// searchService is how one kind of endpoint is asked and what it answers.
type searchService struct {
	url     string // the default address
	request func(ctx context.Context, address, query, key string) (*http.Request, error)
	results func(data []byte) ([]found, error)
}

// found is one result.
type found struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Content     string `json:"content"`     // SearXNG, Tavily
	Description string `json:"description"` // Brave
}

var searchServices = map[string]searchService{
	"searxng": {
		request: func(ctx context.Context, address, query, _ string) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, "GET", strings.TrimRight(address, "/")+"/search?format=json&q="+url.QueryEscape(query), nil)
		},
		results: func(data []byte) ([]found, error) {
			var answer struct{ Results []found }
			return answer.Results, json.Unmarshal(data, &answer)
		},
	},
	"brave": {
		url: "https://api.search.brave.com/res/v1/web/search",
		request: func(ctx context.Context, address, query, key string) (*http.Request, error) {
			request, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("%s?count=%d&q=%s", address, maxFound, url.QueryEscape(query)), nil)
			if err == nil {
				request.Header.Set("X-Subscription-Token", key)
			}
			return request, err
		},
		results: func(data []byte) ([]found, error) {
			var answer struct{ Web struct{ Results []found } }
			return answer.Web.Results, json.Unmarshal(data, &answer)
		},
	},
	"tavily": {
		url: "https://api.tavily.com/search",
		request: func(ctx context.Context, address, query, key string) (*http.Request, error) {
			request, err := http.NewRequestWithContext(ctx, "POST", address, bytes.NewReader(marshal(map[string]any{"query": query, "max_results": maxFound})))
			if err == nil {
				request.Header.Set("Authorization", "Bearer "+key)
				request.Header.Set("Content-Type", "application/json")
			}
			return request, err
		},
		results: func(data []byte) ([]found, error) {
			var answer struct{ Results []found }
			return answer.Results, json.Unmarshal(data, &answer)
		},
	},
}

// TrySearch searches once, and says what is wrong with the search of a host.
func TrySearch(ctx context.Context, host Host) error {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	_, err := (&model{host: host.filled(), http: newHTTP()}).search(ctx, "tidegate")
	return err
}

// search asks the endpoint and returns what it found as text.
func (d *model) search(ctx context.Context, query string) (string, error) {
	service := searchServices[d.host.Search.Service]
	address := d.host.Search.URL
	if address == "" {
		address = service.url
	}
	key := variable(d.host.Environ, d.host.Search.KeyEnv)
	request, err := service.request(ctx, address, query, key)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", "application/json")
	response, err := d.http.Do(request)
	if err != nil {
		return "", fmt.Errorf("the search cannot be reached: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the search answers %s", response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxResults))
	if err != nil {
		return "", fmt.Errorf("the search broke off: %w", err)
	}
	results, err := service.results(data)
	if err != nil {
		return "", fmt.Errorf("the search answers with something else than results: %w", err)
	}
	if len(results) == 0 {
		return "nothing was found", nil
	}
	var text strings.Builder
	for i, r := range results[:min(len(results), maxFound)] {
		fmt.Fprintf(&text, "%d. %s\n   %s\n   %s\n", i+1, oneLine(r.Title), oneLine(r.URL), oneLine(r.Content+r.Description))
	}
	return withoutKey(text.String(), key), nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
