package scholar_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/scholar"
)

func TestIDs(t *testing.T) {
	for address, want := range map[string]string{
		"https://doi.org/10.1038/S41586-020-2649-2":                                 "doi:10.1038/s41586-020-2649-2",
		"http://dx.doi.org/10.1016/S0140-6736(20)30183-5":                           "doi:10.1016/s0140-6736(20)30183-5",
		"https://doi.org/10.1002%2Fjob.1787":                                        "doi:10.1002/job.1787",
		"https://www.frontiersin.org/articles/10.3389/fpsyg.2020.00001/full":        "doi:10.3389/fpsyg.2020.00001",
		"https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000001": "doi:10.1371/journal.pone.0000001",
		"https://onlinelibrary.wiley.com/doi/abs/10.1002/job.1787?casa_token=x":     "doi:10.1002/job.1787",
		"https://link.springer.com/content/pdf/10.1007/s00125-019-1.pdf":            "doi:10.1007/s00125-019-1",
		"https://doi.org/10.48550/arXiv.2101.00001":                                 "arxiv:2101.00001",
		"https://arxiv.org/abs/2101.00001v3":                                        "arxiv:2101.00001",
		"https://arxiv.org/pdf/hep-th/9901001.pdf":                                  "arxiv:hep-th/9901001",
		"https://pubmed.ncbi.nlm.nih.gov/31452104/":                                 "pmid:31452104",
		"https://www.ncbi.nlm.nih.gov/pubmed/31452104":                              "pmid:31452104",
		"https://europepmc.org/article/MED/31452104":                                "pmid:31452104",
		"https://openlibrary.org/isbn/978-0-306-40615-7":                            "isbn:9780306406157",
		"https://openlibrary.org/isbn/9780306406158":                                "",
		"https://example.org/version/10.4/notes":                                    "",
		"HTTPS://ARXIV.ORG/abs/2101.00001":                                          "arxiv:2101.00001",
		"https://%61rxiv.org/abs/2101.00001":                                        "arxiv:2101.00001",
		"https://ａrxiv.org/abs/2101.00001":                                          "arxiv:2101.00001",
		"https://arx\niv.org/abs/2101.00001":                                        "arxiv:2101.00001",
		"https://example.org/1%30.1000/182":                                         "doi:10.1000/182",
		"https://arxiv.org/list/cs.CL/recent":                                       "",
		"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7095418/":                     "",
		"not a URL": "",
	} {
		if id, ok := scholar.InURL(address); id.String() != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", address, id, want)
		}
	}
	for text, want := range map[string]string{
		"Ward 2019, doi:10.1000/182.":               "doi:10.1000/182",
		"(see https://doi.org/10.1000/182)":         "doi:10.1000/182",
		"10.1016/S0140-6736(20)30183-5, The Lancet": "doi:10.1016/s0140-6736(20)30183-5",
		"arXiv:2101.00001 [cs.CL]":                  "arxiv:2101.00001",
		"PMID: 31452104":                            "pmid:31452104",
		"ISBN 978-0-306-40615-7, Plenum":            "isbn:9780306406157",
		"ISBN-10: 0-306-40615-2":                    "isbn:0306406152",
		"ISBN 978-0-306-40615-8":                    "",
		"Table 10.4 and 10.5":                       "",
		"":                                          "",
	} {
		id, ok := scholar.InText(text)
		if id.String() != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", text, id, want)
		}
		if parsed, ok := scholar.Parse(id.String()); want != "" && (!ok || parsed != id) {
			t.Errorf("%q is read as %v", id, parsed)
		}
	}
}

// answers gives every registry the same answer.
func answers(status int, body string) func(string) *scholar.Answer {
	return func(string) *scholar.Answer { return &scholar.Answer{Status: status, Body: []byte(body)} }
}

func TestWork(t *testing.T) {
	doi, _ := scholar.InText("10.1000/182")
	arxiv, _ := scholar.InText("arXiv:2101.00001")
	pmid, _ := scholar.InText("PMID 31452104")
	isbn, _ := scholar.InText("ISBN 9780306406157")
	for name, c := range map[string]struct {
		id         scholar.ID
		status     int
		body, want string // registry, title, authors, date, journal, retraction
	}{
		"Crossref": {doi, 200, `{"message":{"title":["On <i>tides</i> &amp; ebbs"],"subtitle":["A study"],"author":[{"given":"A.","family":"Sailor"},{"name":"The Harbour Group"}],"issued":{"date-parts":[[2021,3,4]]},"container-title":["J. Sea"],"publisher":"P"}}`,
			"Crossref|On tides & ebbs: A study|A. Sailor; The Harbour Group|2021-03-04|J. Sea|"},
		"Crossref, retracted":           {doi, 200, `{"message":{"title":["T"],"updated-by":[{"type":"correction","DOI":"10.1/c"},{"type":"retraction","DOI":"10.1/r"}]}}`, "Crossref|T||||retraction, doi:10.1/r"},
		"Crossref, the notice itself":   {doi, 200, `{"message":{"title":["Notice"],"update-to":[{"type":"retraction","DOI":"10.1/x"}]}}`, "Crossref|Notice||||"},
		"Crossref, corrected":           {doi, 200, `{"message":{"title":["T"],"updated-by":[{"type":"correction","DOI":"10.1/c"}]}}`, "Crossref|T||||"},
		"Crossref, marked in the title": {doi, 200, `{"message":{"title":["RETRACTED: On tides"]}}`, "Crossref|On tides||||marked in its title"},
		"Crossref, no title":            {doi, 200, `{"message":{"title":[]}}`, ""},
		"Crossref, no date":             {doi, 200, `{"message":{"title":["T"],"issued":{"date-parts":[[null]]}}}`, "Crossref|T||||"},
		"Crossref, something else":      {doi, 200, `<html>Sign in</html>`, ""},
		"Crossref, of other types":      {doi, 200, `{"message":{"title":"T","author":{"a":1},"issued":[],"updated-by":"x"}}`, ""},
		"nobody has the DOI":            {doi, 404, `{"responseCode":100}`, "doi.org||||||no such id"},
		"a 404 of somebody else":        {doi, 404, `Not found`, ""},
		"a server that fails":           {doi, 503, `{"responseCode":100}`, ""},
		"arXiv": {arxiv, 200, `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2101.00001v1</id><title>On
			tides</title><published>2021-01-04T00:00:00Z</published><author><name>A. Sailor</name></author></entry></feed>`, "arXiv|On tides|A. Sailor|2021-01-04|arXiv|"},
		"arXiv, withdrawn": {arxiv, 200, `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>x</id><title>T</title><arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">This paper has been withdrawn by the author</arxiv:comment></entry></feed>`,
			"arXiv|T|||arXiv|withdrawn"},
		"arXiv, nothing": {arxiv, 200, `<feed xmlns="http://www.w3.org/2005/Atom"></feed>`, "arXiv||||||no such id"},
		"arXiv, an error": {arxiv, 200, `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title></entry></feed>`,
			"arXiv||||||no such id"},
		"arXiv, something else": {arxiv, 200, `{}`, ""},
		"Europe PMC": {pmid, 200, `{"resultList":{"result":[{"title":"On tides.","authorString":"Sailor A, Roe B.","journalInfo":{"journal":{"title":"J. Sea"}},"pubYear":"2021","pubTypeList":{"pubType":["Journal Article","Retracted Publication"]}}]}}`,
			"Europe PMC|On tides|Sailor A; Roe B|2021|J. Sea|retracted publication"},
		"Europe PMC, nothing": {pmid, 200, `{"hitCount":0,"resultList":{"result":[]}}`, ""},
		"Open Library": {isbn, 200, `{"ISBN:9780306406157":{"title":"Tides","subtitle":"A history","authors":[{"name":"A. Sailor"}],"publishers":[{"name":"Plenum"}],"publish_date":"March 4, 1981"}}`,
			"Open Library|Tides: A history|A. Sailor|1981|Plenum|"},
		"Open Library, nothing": {isbn, 200, `{}`, ""},
		"Open Library, a list":  {isbn, 200, `[1]`, ""},
	} {
		got := ""
		if w := c.id.Work(answers(c.status, c.body)); w != nil {
			got = strings.Join([]string{w.Registry, w.Title, strings.Join(w.Authors, "; "), w.Date, w.Journal, w.Retracted}, "|")
			if w.Unregistered {
				got += "|no such id"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWhoIsAsked: the resolver of DOIs is asked where Crossref does not have one, and
// nobody is asked twice.
func TestWhoIsAsked(t *testing.T) {
	doi, _ := scholar.InText("10.1000/a?b/182")
	said := map[string]int{}
	answered := func(address string) *scholar.Answer {
		if status, ok := said[address]; ok {
			return &scholar.Answer{Status: status}
		}
		return nil
	}
	for _, want := range []string{"https://api.crossref.org/works/10.1000/a", "https://doi.org/api/handles/10.1000/a", ""} {
		if got := doi.Missing(answered); got != want {
			t.Fatalf("asks %q, want %q", got, want)
		}
		said[want] = 404
	}
	said["https://api.crossref.org/works/10.1000/a"] = 200
	delete(said, "https://doi.org/api/handles/10.1000/a")
	if got := doi.Missing(answered); got != "" {
		t.Errorf("asks %s although Crossref has it", got)
	}
	if got := (scholar.ID{}).Missing(answered); got != "" {
		t.Errorf("asks %s about nothing", got)
	}
}

func FuzzIDs(f *testing.F) {
	f.Add("doi:10.1000/182", "https://doi.org/10.1000/182")
	f.Fuzz(func(t *testing.T, text, address string) {
		for _, find := range []func() (scholar.ID, bool){func() (scholar.ID, bool) { return scholar.InText(text) }, func() (scholar.ID, bool) { return scholar.InURL(address) }} {
			id, ok := find()
			if !ok {
				continue
			}
			if parsed, ok := scholar.Parse(id.String()); !ok || parsed != id {
				t.Errorf("%q is read as %v", id, parsed)
			}
			if asked := id.Missing(func(string) *scholar.Answer { return nil }); !strings.HasPrefix(asked, "https://") || strings.ContainsAny(asked, " \n\"") {
				t.Errorf("%q asks %q", id, asked)
			}
			for _, body := range []string{text, address} {
				id.Work(answers(200, body))
			}
		}
	})
}

// TestHostileRegistries has registries say what no reader should get.
func TestHostileRegistries(t *testing.T) {
	doi, _ := scholar.InText("10.1000/182")
	arxiv, _ := scholar.InText("arXiv:2101.00001")
	pmid, _ := scholar.InText("PMID 31452104")
	isbn, _ := scholar.InText("ISBN 9780306406157")
	evil := `Tides\u202e\u200b\u001b[31m <script>alert(1)</script>\n\n# Heading ` + strings.Repeat("long ", 5000)
	many := strings.TrimSuffix(strings.Repeat(`{"name":"`+evil[:40]+`"},`, 5000), ",")
	inXML := "Tides\u202e\u200b &lt;script&gt;alert(1)&lt;/script&gt;\n\n# Heading " + strings.Repeat("long ", 5000)
	for name, c := range map[string]struct {
		id   scholar.ID
		body string
	}{
		"Crossref":     {doi, `{"message":{"title":["` + evil + `"],"subtitle":["` + evil + `"],"author":[` + many + `],"container-title":["` + evil + `"],"updated-by":[{"type":"retraction","DOI":"` + evil + `"}]}}`},
		"arXiv":        {arxiv, `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>x</id><title>` + inXML + `</title>` + strings.Repeat("<author><name>"+inXML[:20]+"</name></author>", 5000) + `</entry></feed>`},
		"Europe PMC":   {pmid, `{"resultList":{"result":[{"title":"` + evil + `","authorString":"` + strings.Repeat("A\u202e B, ", 5000) + `","journalInfo":{"journal":{"title":"` + evil + `"}}}]}}`},
		"Open Library": {isbn, `{"ISBN:9780306406157":{"title":"` + evil + `","authors":[` + many + `],"publishers":[{"name":"` + evil + `"}]}}`},
		"deep":         {doi, strings.Repeat(`{"message":`, 100_000)},
	} {
		w := c.id.Work(answers(200, c.body))
		if name == "deep" {
			if w != nil {
				t.Errorf("%s: %+v", name, w)
			}
			continue
		}
		if w == nil || len(w.Authors) != 100 {
			t.Fatalf("%s: %+v", name, w)
		}
		all := strings.Join(append(w.Authors, w.Title, w.Journal, w.Retracted), "|")
		if strings.ContainsAny(all, "\u202e\u200b\x1b\n") || len(all) > 100*100+4*5<<10 {
			t.Errorf("%s: %d bytes, %.300q", name, len(all), all)
		}
	}
}
