package search_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestASearchInAnArchive asks the pages of a finished run, and reads the answer as that of
// a service.
func TestASearchInAnArchive(t *testing.T) {
	pages := []search.Page{
		{URL: "https://a.example/pumps", Title: "Pumps", Text: "Heat comes from a boiler.", Date: "2024-01-02"},
		{URL: "https://b.example/heat", Title: "Heat pumps in old houses", Text: "What a heat pump needs is a large radiator.\nÖfen are older.", Date: "2023-05"},
		{URL: "https://sub.b.example/tides", Title: "Tides", Text: strings.Repeat("The sea rises. ", 100) + "\nA heat pump by the sea.\n" + strings.Repeat("x", 2000)},
	}
	for _, c := range []struct {
		ask  search.Ask
		want string // addresses
	}{
		{search.Ask{Query: "Which heat pumps fit an old house?"}, "https://b.example/heat https://a.example/pumps https://sub.b.example/tides"},
		{search.Ask{Query: "heat pump", Max: 1}, "https://b.example/heat"},
		{search.Ask{Query: "ofen"}, "https://b.example/heat"},
		{search.Ask{Query: "heat", Domains: []string{"b.example"}}, "https://b.example/heat https://sub.b.example/tides"},
		{search.Ask{Query: "zebra"}, ""},
		{search.Ask{Query: "the and of"}, ""},
		{search.Ask{Query: "&q=heat#/?"}, "https://b.example/heat https://a.example/pumps https://sub.b.example/tides"},
	} {
		request, more, err := search.Archive.Next(c.ask, nil)
		if err != nil || !more {
			t.Fatal(err)
		}
		found := must.Get(search.Archive.Results(c.ask, [][]byte{search.InArchive(request, pages)}))(t)
		var got []string
		for i, r := range found {
			got = append(got, r.URL)
			if r.Rank != i+1 || r.Title == "" || r.Snippet == "" || len(r.Snippet) > 1000 {
				t.Errorf("%+v", r)
			}
			if r.URL == "https://sub.b.example/tides" && !strings.HasPrefix(r.Snippet, "A heat pump by the sea.") {
				t.Errorf("the excerpt is %q", r.Snippet)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q finds %q", c.ask.Query, got)
		}
	}
	if _, err := search.Archive.Results(search.Ask{}, [][]byte{[]byte(`{}`)}); err == nil {
		t.Error("what is no answer is read as one")
	}
	if _, known := search.Find(search.Archive.Name); known {
		t.Error("a person can name the archive as a service")
	}
}
