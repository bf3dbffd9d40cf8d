package source_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
	"golang.org/x/net/html/charset"
)

// TestHonestPagesAreValid puts texts in many languages into pages of many kinds.
// Not one may be refused.
func TestHonestPagesAreValid(t *testing.T) {
	const cookies = `<div class="cookie-banner"><p>We use cookies to improve this site and to measure how it is used.</p><button>Accept all</button></div>`
	const menu = `<header><nav><a>Home</a><a>Log in</a><a>Subscribe</a></nav><form action="/login"><input name=u><input type=password></form></header>`
	kinds := map[string]string{
		"plain":              "<!DOCTYPE html><html lang=%[3]s><head><meta charset=utf-8><title>%[1]s</title></head><body><h1>%[1]s</h1><p>%[2]s</p></body></html>",
		"no title":           "<p>%[2]s</p>",
		"a site's title":     "<html lang=%[3]s><title>Home of the gauges</title><h1>%[1]s</h1><p>%[2]s</p>",
		"a banner":           "<title>%[1]s</title>" + cookies + "<article><h1>%[1]s</h1><p>%[2]s</p></article>",
		"a menu and a login": "<title>%[1]s</title>" + menu + "<main><p>%[2]s</p></main><footer>Subscribe to our newsletter</footer>",
		"one line":           "<title>%[1]s</title><p>%[1]s</p>",
		"a table":            "<title>%[1]s</title><table><tr><td>%[1]s</td><td>3.4</td></tr></table>",
		"tag soup":           "<title>%[1]s</title><b><p>%[2]s</b><div></p></table></nav>",
		"everything in nav":  "<title>%[1]s</title><nav><p>%[2]s</p></nav>",
		"a paywall's shadow": `<title>%[1]s</title><div class="paywall"></div><script type="application/ld+json">{"isAccessibleForFree":true}</script><p>%[2]s</p>`,
	}
	pages, total := 0, map[string]int{}
	for _, language := range languages(t) {
		title, text := sampleText(t, language)
		for kind, layout := range kinds {
			body := fmt.Sprintf(layout, title, text, language)
			if !strings.Contains(layout, "%[3]s") {
				body, _, _ = strings.Cut(body, "%!(EXTRA")
			}
			for _, given := range []string{"", title, "Tides of the North Sea (English summary)"} {
				if kind == "no title" && given == title {
					continue // then nothing on the page is what it was cited as
				}
				got := judgeOne(t, "https://gauges.test/2021/story", given, &source.Page{URL: "https://gauges.test/2021/story", Status: 200, ContentType: "text/html; charset=utf-8", Body: []byte(body)})
				pages++
				total[got.Rule]++
				if got.Status != source.Valid {
					t.Errorf("%s, %s, cited as %q: %s (%s)", language, kind, given, got.Rule, got.Notes)
				}
			}
		}
		plain := judgeOne(t, "https://gauges.test/story.txt", title, &source.Page{URL: "https://gauges.test/story.txt", Status: 200, ContentType: "text/plain", Body: []byte(text)})
		if pages++; plain.Status != source.Valid {
			t.Errorf("%s, plain text: %s (%s)", language, plain.Rule, plain.Notes)
		}
	}
	for language, label := range map[string]string{"de": "iso-8859-1", "ru": "koi8-r", "ja": "shift_jis", "zh": "gb18030", "ko": "euc-kr", "pl": "iso-8859-2", "el": "iso-8859-7", "tr": "windows-1254"} {
		title, text := sampleText(t, language)
		enc, _ := charset.Lookup(label)
		body, err := enc.NewEncoder().String("<title>" + title + "</title><p>" + text)
		if err != nil {
			t.Fatal(language, err)
		}
		got := judgeOne(t, "https://gauges.test/old", title, &source.Page{URL: "https://gauges.test/old", Status: 200, ContentType: "text/html; charset=" + label, Body: []byte(body)})
		if pages++; got.Status != source.Valid || got.Title != title {
			t.Errorf("%s in %s: %s (%s), title %q", language, label, got.Rule, got.Notes, got.Title)
		}
	}
	t.Logf("%d honest pages: %v", pages, total)
}

// TestOwnDocumentsAreCitedAsListed: a person's own page has the name of its file, whatever its
// text says.
func TestOwnDocumentsAreCitedAsListed(t *testing.T) {
	const text = "<p>The harbour board decided to buy two boats that need no fuel, and to look at the costs again after three winters."
	for url, want := range map[string]source.Status{source.OwnDocuments + "minutes%20of%20March.html": source.Valid, "https://port.test/minutes": source.Mismatch} {
		got := judgeOne(t, url, "minutes of March.html", &source.Page{URL: url, Status: 200, ContentType: "text/html", Body: []byte(text)})
		if got.Status != want {
			t.Errorf("%s is %s (%s)", url, got.Status, got.Notes)
		}
	}
}

// cite makes what an output of a perspective cites.
func cite(wave int, perspective string, urls ...string) []source.Found {
	var found []source.Found
	for i, url := range urls {
		found = append(found, source.Found{Cited: source.Cited{URL: url, Line: "- " + url, Number: i + 1}, Wave: wave, Perspective: perspective,
			AgentType: "researcher", ArtifactPath: fmt.Sprintf("wave-%d/%s.md", wave, perspective)})
	}
	return found
}

// archive is evidence out of a map.
func archive(pages map[string]*source.Page) source.Evidence {
	return source.Evidence{Created: fetched, Page: func(_ context.Context, url string) (*source.Page, error) {
		if p, found := pages[url]; found {
			p.URL = url
			return p, nil
		}
		return nil, nil
	}}
}

func page(body string) *source.Page {
	return &source.Page{Status: 200, ContentType: "text/html; charset=utf-8", FetchedAt: fetched, Body: []byte(body)}
}

func judge(t testing.TB, found []source.Found, evidence source.Evidence) []source.Record {
	t.Helper()
	records := must.Get(source.Judge(t.Context(), source.Sources(found), evidence))(t)
	return records
}

func TestSourcesAreGroupedByNormalisedURL(t *testing.T) {
	found := slices.Concat(cite(2, "b", "https://a.test/x/"), cite(1, "b", "https://a.test/x", "https://a.test/x?utm_source=z"), cite(1, "a", "https://a.test/x", "https://"))
	sources := source.Sources(found)
	if len(sources) != 2 || sources[0].Normalized != "https://" || sources[1].Normalized != "https://a.test/x" {
		t.Fatalf("%+v", sources)
	}
	s := sources[1]
	if want := []string{"https://a.test/x", "https://a.test/x/", "https://a.test/x?utm_source=z"}; !slices.Equal(s.URLs, want) {
		t.Errorf("got %q, want %q", s.URLs, want)
	}
	var places []string
	for _, f := range s.FoundBy {
		places = append(places, fmt.Sprintf("%d%s%d", f.Wave, f.Perspective, f.Number))
	}
	if want := []string{"1a1", "1b1", "1b2", "2b1"}; !slices.Equal(places, want) {
		t.Errorf("got %q, want %q", places, want)
	}
	if url, ok := s.FetchURL(); !ok || url != "https://a.test/x" {
		t.Errorf("fetch %q, %v", url, ok)
	}
	for _, bad := range []string{"https://", "https://u:p@a.test/x", "https://a.test/x?token=1"} {
		// A URL without credentials does not save one that has them.
		sources := source.Sources(cite(1, "a", bad, "https://a.test/x"))
		for _, s := range sources {
			if url, ok := s.FetchURL(); ok && slices.Contains(s.URLs, bad) {
				t.Errorf("%q is fetched as %q", bad, url)
			}
		}
	}
}

func TestRecord(t *testing.T) {
	_, text := sampleText(t, "en")
	p := page(`<title>Tides - News</title><meta property="og:site_name" content="News"><meta name=author content="A. Sailor"><meta name=date content="2021-03-04"><p>` + text)
	p.FinalURL = "https://a.test/y"
	got := judge(t, cite(1, "p1", "https://a.test/x"), archive(map[string]*source.Page{"https://a.test/x": p}))
	want := []source.Record{{
		SchemaVersion: "citation.v1", NormalizedURL: "https://a.test/x", CID: source.CID("https://a.test/x"), URL: "https://a.test/y", URLOriginal: "https://a.test/x",
		Status: source.Valid, CheckedAt: "2026-02-14T12:00:00.000Z", Notes: "ok", HTTPStatus: 200, Title: "Tides - News", Publisher: "News", Rule: "valid",
		Snippet: strings.TrimSpace(string([]rune(text)[:240])) + "…", Author: "A. Sailor", Published: "2021-03-04",
		FoundBy: []source.FoundBy{{Wave: 1, Perspective: "p1", AgentType: "researcher", ArtifactPath: "wave-1/p1.md", SourceLine: "- https://a.test/x"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	lines, err := source.MarshalRecords(got)
	if err != nil || !strings.HasPrefix(string(lines), `{"schema_version":"citation.v1","normalized_url":"https://a.test/x","cid":"cid_`) || strings.Count(string(lines), "\n") != 1 {
		t.Errorf("%s, %v", lines, err)
	}
	if _, err := codec.Parse([]byte(strings.TrimSuffix(string(lines), "\n"))); err != nil {
		t.Error(err)
	}
}

// TestRecordsAreAPool reads what was written, by the schema and by the reader of
// pools.
func TestRecordsAreAPool(t *testing.T) {
	_, text := sampleText(t, "en")
	pages := map[string]*source.Page{"https://a.test/1": page("<title>x</title><p>" + text), "https://a.test/2": page("<p>" + text), "https://a.test/3": {Status: 404},
		"https://a.test/4": {Status: 402}}
	records := judge(t, cite(1, "p", "https://a.test/1", "https://a.test/2", "https://a.test/3", "https://a.test/4", "https://"), archive(pages))
	lines := must.Get(source.MarshalRecords(records))(t)
	for line := range strings.Lines(string(lines)) {
		doc := must.Get(codec.Parse([]byte(line)))(t)
		if err := source.Shape().Check(doc); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	pool := must.Get(source.ReadPool(t.Context(), strings.NewReader(string(lines)), "citations.jsonl", nil))(t)
	for _, r := range records {
		if pool.Has(r.CID) != r.Usable() || pool.Paywalled(r.CID) != (r.Status == source.Paywalled) {
			t.Errorf("%s is %s, and in the pool %v", r.NormalizedURL, r.Status, pool.Has(r.CID))
		}
	}
}

func TestNothingIsMadeUpWithoutAnArchive(t *testing.T) {
	found := cite(1, "p1", "https://a.test/1", "https://b.test/2", "https://", "https://u:p@c.test/")
	records := judge(t, found, archive(nil))
	rules := map[string]string{}
	for _, r := range records {
		rules[r.NormalizedURL] = r.Rule + " " + string(r.Status) + " " + r.CheckedAt
	}
	at := " 2026-02-14T12:00:00.000Z"
	if diff := cmp.Diff(map[string]string{"https://a.test/1": "not-checked blocked" + at, "https://b.test/2": "not-checked blocked" + at,
		"https://": "malformed invalid" + at, "https://c.test/": "credentials invalid" + at}, rules); diff != "" {
		t.Error(diff)
	}
	gate := source.ComputeGateC(source.Sources(found), records)
	if gate.Pass || gate.Metrics.Unchecked != 2 || gate.Metrics.Archived != 0 {
		t.Errorf("%+v", gate)
	}
	data, _ := source.MarshalRecords(records)
	if strings.Contains(string(data), "u:p@") {
		t.Errorf("credentials are kept: %s", data)
	}
}

func TestJudgeReturnsTheErrorsOfItsEvidence(t *testing.T) {
	broken := errors.New("the archive is broken")
	_, err := source.Judge(t.Context(), source.Sources(cite(1, "p", "https://a.test/")), source.Evidence{
		Page: func(context.Context, string) (*source.Page, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.Judge(ctx, source.Sources(cite(1, "p", "https://a.test/")), archive(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestDuplicates judges pages that are one page in every way that counts, and
// others that only look like one.
func TestDuplicates(t *testing.T) {
	_, en := sampleText(t, "en")
	_, de := sampleText(t, "de")
	article := func(head, text string) *source.Page { return page(head + "<p>" + text) }
	redirected := func(p *source.Page, final string) *source.Page { p.FinalURL = final; return p }
	stub := `<script type="application/ld+json">{"isAccessibleForFree":false}</script><p>Subscribe to go on with this story, which only our subscribers may read to its end.`
	for name, c := range map[string]struct {
		pages map[string]*source.Page
		same  bool
	}{
		"the same text":                    {map[string]*source.Page{"https://a.test/1": article("", en), "https://b.test/2": article("<title>x</title>", en)}, true},
		"another text":                     {map[string]*source.Page{"https://a.test/1": article("", en), "https://a.test/2": article("", de)}, false},
		"the same few words":               {map[string]*source.Page{"https://a.test/1": page("<p>Open"), "https://b.test/2": page("<p>Open")}, false},
		"a redirect to the other":          {map[string]*source.Page{"https://a.test/1": redirected(article("", en), "https://a.test/2"), "https://a.test/2": article("", en+" And more.")}, true},
		"redirects to a third":             {map[string]*source.Page{"https://a.test/1": redirected(article("", en), "https://a.test/3"), "https://a.test/2": redirected(article("", de), "https://a.test/3")}, true},
		"a canonical link":                 {map[string]*source.Page{"https://a.test/1": article("<link rel=canonical href=/2>", en), "https://a.test/2": article("", de)}, true},
		"two links to a third":             {map[string]*source.Page{"https://a.test/1": article("<link rel=canonical href=https://a.test/3/>", en), "https://a.test/2": article("<link rel=canonical href=/3>", de)}, true},
		"canonical links to the home page": {map[string]*source.Page{"https://a.test/1": article("<link rel=canonical href=/>", en), "https://a.test/2": article("<link rel=canonical href=/>", de)}, false},
		"canonical links that are empty":   {map[string]*source.Page{"https://a.test/1": article("<link rel=canonical href=''>", en), "https://a.test/2": article("<link rel=canonical>", de)}, false},
		"one paywall":                      {map[string]*source.Page{"https://a.test/1": page(stub), "https://a.test/2": page(stub)}, false},
		"pages that cannot be used":        {map[string]*source.Page{"https://a.test/1": {Status: 404, Body: []byte(en)}, "https://a.test/2": {Status: 404, Body: []byte(en)}}, false},
	} {
		var urls []string
		for url := range c.pages {
			urls = append(urls, url)
		}
		records := judge(t, cite(1, "p", urls...), archive(c.pages))
		var cids, same []string
		for _, r := range records {
			cids = append(cids, r.CID)
			if r.SameAs != "" {
				same = append(same, r.SameAs)
			}
		}
		slices.Sort(cids)
		switch {
		case c.same && (len(same) != 1 || same[0] != cids[0]):
			t.Errorf("%s: same_as %q, want the first of %q", name, same, cids)
		case !c.same && len(same) != 0:
			t.Errorf("%s: same_as %q", name, same)
		}
	}
}

func TestAPersonsEvidence(t *testing.T) {
	_, en := sampleText(t, "en")
	cid := source.CID("https://a.test/x")
	evidence := archive(map[string]*source.Page{"https://a.test/x": {Status: 403, FetchedAt: fetched}, "https://b.test/y": page("<title>Tides</title><p>" + en)})
	found := cite(1, "p", "https://a.test/x")

	evidence.Replaced = map[string]string{cid: "https://b.test/y"}
	r := judge(t, found, evidence)[0]
	if r.Status != source.Valid || r.CID != cid || r.URLOriginal != "https://a.test/x" || r.URL != "https://b.test/y" || r.ReplacedBy != "https://b.test/y" {
		t.Errorf("replaced: %+v", r)
	}
	// A replacement is judged like every other page.
	evidence.Replaced = map[string]string{cid: "https://u:p@b.test/y"}
	if r := judge(t, found, evidence)[0]; r.Rule != "credentials" || strings.Contains(r.ReplacedBy, "u:p") {
		t.Errorf("replaced with credentials: %+v", r)
	}
	// It also stands for what could not be fetched at all.
	bad := "https://u:p@a.test/x"
	evidence.Replaced = map[string]string{cid: "https://b.test/y"}
	if r := judge(t, cite(1, "p", bad), evidence)[0]; r.Status != source.Valid || strings.Contains(r.URLOriginal, "u:p") {
		t.Errorf("a URL with credentials, replaced: %+v", r)
	}

	evidence.Attached = func(_ context.Context, id string) (*source.Page, error) {
		if id != cid {
			return nil, nil
		}
		return &source.Page{Attached: true, ContentType: "text/plain", Body: []byte(en), FetchedAt: fetched.Add(time.Hour)}, nil
	}
	r = judge(t, found, evidence)[0]
	if r.Status != source.Valid || !r.Attached || r.Notes != "ok: attached by a person" || r.CheckedAt != "2026-02-14T13:00:00.000Z" || r.URL != "https://a.test/x" || !r.Archived() {
		t.Errorf("attached: %+v", r)
	}
}

func TestJudgingIsDeterministic(t *testing.T) {
	pages := map[string]*source.Page{}
	var urls []string
	for i, language := range languages(t) {
		_, text := sampleText(t, language)
		for _, variant := range []string{"a", "b"} {
			url := fmt.Sprintf("https://%s.test/%d", variant, i)
			pages[url] = page("<title>" + language + "</title><p>" + text)
			urls = append(urls, url)
		}
	}
	var first [2]string // in the order of the lines, and in the reverse order
	for i := range 6 {
		got := string(must.Get(source.MarshalRecords(judge(t, cite(1, "p", urls...), archive(pages))))(t))
		if same, want := strings.Count(got, "same_as"), len(urls)/2; same != want {
			t.Fatalf("%d duplicates, want %d", same, want)
		}
		if i < 2 {
			first[i] = got
		} else if got != first[i%2] {
			t.Fatalf("the same archive gives other bytes:\n%s\nwant\n%s", got, first[i%2])
		}
		slices.Reverse(urls)
	}
}

func TestGateC(t *testing.T) {
	record := func(url string, status source.Status) source.Record {
		return source.Record{NormalizedURL: url, Status: status, HTTPStatus: 200}
	}
	cited := func(url string) source.Source { return source.Source{Normalized: url} }
	vector := source.ComputeGateC([]source.Source{cited("https://a.test/2"), cited("https://a.test/1")},
		[]source.Record{record("https://a.test/2", source.Paywalled), record("https://a.test/1", source.Valid)})
	if vector.InputsDigest != "sha256:edb2535f1b5bcfd13218b4cb58ca78d7438fe58b90dbdcc620a8bf7b57d23a73" || !vector.Pass {
		t.Errorf("%+v", vector)
	}
	empty := source.ComputeGateC(nil, nil)
	if empty.InputsDigest != "sha256:41fdacda18032de711c80af517d3320a42ef7046116a986e27c3622b2483a130" || empty.Pass || !slices.Equal(empty.Warnings, []string{"NO_URLS_EXTRACTED"}) {
		t.Errorf("%+v", empty)
	}
	for _, c := range []struct {
		valid, paywalled, invalid, blocked, mismatch, missing, odd, duplicates int
		pass                                                                   bool
		validated                                                              float64
	}{
		{valid: 9, invalid: 1, pass: true, validated: 0.9},
		{valid: 8, paywalled: 1, mismatch: 1, pass: true, validated: 0.9},
		{valid: 17, blocked: 2, pass: false, validated: 0.894737},
		{valid: 18, blocked: 2, pass: true, validated: 0.9},
		{valid: 1, pass: true, validated: 1},
		{valid: 2, blocked: 1, validated: 0.666667},
		{valid: 19, missing: 1, validated: 0.95},
		{valid: 19, odd: 1, validated: 0.95},
		{valid: 7, duplicates: 20, invalid: 1, validated: 0.875},
		{valid: 9, duplicates: 20, invalid: 1, pass: true, validated: 0.9},
	} {
		var sources []source.Source
		var records []source.Record
		add := func(n int, status source.Status, change func(*source.Record)) {
			for range n {
				url := fmt.Sprintf("https://a.test/%d", len(sources))
				sources = append(sources, cited(url))
				r := record(url, status)
				if change != nil {
					change(&r)
				}
				if status != "" {
					records = append(records, r)
				}
			}
		}
		add(c.valid, source.Valid, nil)
		add(c.paywalled, source.Paywalled, nil)
		add(c.invalid, source.Invalid, nil)
		add(c.blocked, source.Blocked, func(r *source.Record) { r.HTTPStatus, r.Notes = 0, source.NotChecked })
		add(c.mismatch, source.Mismatch, nil)
		add(c.missing, "", nil)
		add(c.odd, "odd", nil)
		add(c.duplicates, source.Valid, func(r *source.Record) { r.SameAs = "cid_0" })
		records = append(records, record("https://other.test/", source.Invalid)) // of no source
		got := source.ComputeGateC(sources, records)
		total := len(sources) - c.duplicates
		if got.Pass != c.pass || got.Metrics.Validated != c.validated || got.Metrics.Unchecked != c.blocked ||
			got.Metrics.Archived != float64(int(1e6*float64(total-c.missing-c.blocked)/float64(total)+.5))/1e6 {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
}

func TestRender(t *testing.T) {
	got := source.Render("r_1", []source.Record{
		{NormalizedURL: "https://b.test/", CID: "cid_b", URL: "https://b.test/a_b", Status: source.Blocked, Notes: "not checked"},
		{NormalizedURL: "https://a.test/", CID: "cid_a", URL: "https://a.test/", Status: source.Valid, Notes: "ok", Title: "x\n## *y* [z](q) <b> &amp; \u202e", Publisher: "P_", SameAs: "cid_0"},
	})
	want := "# Validated citations\n\nRun ID: r_1\nRendered: 2\n\n" +
		"## cid_a\n- URL: https://a.test/\n- Status: valid\n- Title: x ## \\*y\\* \\[z\\](q) \\<b\\> \\&amp; \n- Publisher: P\\_\n- Notes: ok\n- Same page as: cid_0\n\n" +
		"## cid_b\n- URL: https://b.test/a_b\n- Status: blocked\n- Notes: not checked\n\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := source.Render("r_1", nil); again != "# Validated citations\n\nRun ID: r_1\nRendered: 0\n\n" {
		t.Errorf("%q", again)
	}
}

// BenchmarkJudge judges two thousand pages of a few kilobytes.
func BenchmarkJudge(b *testing.B) {
	_, text := sampleText(b, "en")
	pages := map[string]*source.Page{}
	var urls []string
	size := 0
	for i := range 2000 {
		url := fmt.Sprintf("https://site%d.test/2021/story-%d", i%50, i)
		body := fmt.Sprintf(`<!DOCTYPE html><html lang="en"><head><title>Story %d - News</title><meta property="og:site_name" content="News"><link rel="canonical" href=%q></head>
<body class="page"><header><nav><ul><li><a href="/">Home</a></li><li><a href="/about">About</a></li></ul></nav></header><main><h1>Story %d</h1>%s</main><footer>Imprint</footer></body></html>`,
			i, url, i, strings.Repeat(fmt.Sprintf(`<div class="par"><p>Number %d. %s</p></div>`, i, text), 5))
		pages[url] = page(body)
		urls = append(urls, url)
		size += len(body)
	}
	sources := source.Sources(cite(1, "p", urls...))
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		must.Get(source.Judge(b.Context(), sources, archive(pages)))(b)
	}
}

// TestWhatTheHeaderSaysOfTheBody has pages whose bytes alone look like something
// else.
func TestWhatTheHeaderSaysOfTheBody(t *testing.T) {
	const text = "<title>The tide</title><p>The tide is moved by the moon and the sun.</p>"
	for _, c := range []struct {
		name, value, body string
		status            source.Status
		notes             string
	}{
		{"Content-Encoding", "br", "\x1b\x0f\x00\xf8some words that nobody wrote", source.Valid, "ok: no text can be read from it"},
		{"Content-Encoding", "gzip, gzip", text, source.Valid, "ok: no text can be read from it"},
		{"Content-Encoding", "Identity", text, source.Valid, "ok"},
		{"Refresh", "0; URL=/elsewhere", text, source.Blocked, "a page without text: it leads to another page by itself"},
		{"Refresh", "30", text, source.Valid, "ok"},
	} {
		page := &source.Page{URL: "https://a.test/x", Status: 200, ContentType: "text/html", Header: map[string][]string{c.name: {c.value}}, Body: []byte(c.body)}
		if got := judgeOne(t, "https://a.test/x", "The tide", page); got.Status != c.status || got.Notes != c.notes {
			t.Errorf("%s: %s: %s (%s)", c.name, c.value, got.Status, got.Notes)
		}
		if read := page.Content().Text; (read == "") != strings.Contains(c.notes, "no text can") {
			t.Errorf("%s: %s: %q is read", c.name, c.value, read)
		}
	}
}

// TestUndated: a page without a date is kept and marked where the run asks for dates,
// and refused where it must have one. What the server says of its last change is a date.
func TestUndated(t *testing.T) {
	since := policy.Policy{Since: "2023-01-01"}
	strict := policy.Policy{Since: "2023-01-01", Dated: true}
	plain := func() *source.Page {
		p := page("<p>" + strings.Repeat("The tide rises and falls. ", 30))
		p.URL = "https://a.test/x"
		return p
	}
	changed := plain()
	changed.Header = map[string][]string{"Last-Modified": {"Mon, 02 Jan 2023 15:04:05 GMT"}}
	attached := plain()
	attached.Attached = true
	found := func(date string) func(*source.Evidence, *source.Found) {
		return func(e *source.Evidence, _ *source.Found) { e.Dates = map[string]string{"https://a.test/x": date} }
	}
	if got := judgeOne(t, "https://a.test/x", "The tide", plain(), allowedBy(strict), found("2023-05")); !got.Usable() || got.Undated {
		t.Errorf("a page with the date of a search: %s, %q", got.Status, got.Notes)
	}
	if got := judgeOne(t, "https://a.test/x", "The tide", plain(), allowedBy(since), found("2019")); got.Rule != "policy" {
		t.Errorf("a page that a search found to be old: %s, %q", got.Status, got.Notes)
	}
	if got := judgeOne(t, "https://a.test/x", "The tide", changed, allowedBy(since), found("2019")); !got.Usable() {
		t.Errorf("a page whose server knows better: %s, %q", got.Status, got.Notes)
	}
	for name, c := range map[string]struct {
		page    *source.Page
		policy  policy.Policy
		usable  bool
		undated bool
	}{
		"nobody asks":               {plain(), policy.Policy{}, true, false},
		"kept and marked":           {plain(), since, true, true},
		"refused":                   {plain(), strict, false, false},
		"dated by the server":       {changed, strict, true, false},
		"a file that somebody gave": {attached, strict, true, false},
	} {
		got := judgeOne(t, "https://a.test/x", "The tide", c.page, allowedBy(c.policy))
		if got.Usable() != c.usable || got.Undated != c.undated || !c.usable && got.Notes != "policy: it has no date" {
			t.Errorf("%s: %s, undated %v, %q", name, got.Status, got.Undated, got.Notes)
		}
	}
}

// TestIdentifier: the id beside a URL counts, before that in the URL and that of the
// page, but not beside a page that reports about works.
func TestIdentifier(t *testing.T) {
	paper := "<meta name=citation_doi content=10.1000/page><p>" + strings.Repeat("The tide rises and falls. ", 30)
	for name, c := range map[string]struct{ url, line, want string }{
		"beside the URL":                {"https://doi.org/10.1000/url", "- Tides, arXiv:2101.00001, https://doi.org/10.1000/url", "arxiv:2101.00001"},
		"in the URL":                    {"https://doi.org/10.1000/url", "- Tides https://doi.org/10.1000/url", "doi:10.1000/url"},
		"on the page":                   {"https://a.test/x", "- Tides https://a.test/x", "doi:10.1000/page"},
		"beside a newspaper":            {"https://www.reuters.com/x", "- Tides (doi:10.1000/line) https://www.reuters.com/x", "doi:10.1000/page"},
		"beside one of several sources": {"https://a.test/x", "- Tides, doi:10.1000/line, https://a.test/x and https://b.test/x", "doi:10.1000/page"},
	} {
		page := page(paper)
		page.URL = c.url
		if got := judgeOne(t, c.url, "", page, func(_ *source.Evidence, f *source.Found) { f.Line = c.line }); got.Identifier != c.want {
			t.Errorf("%s: %q, want %q", name, got.Identifier, c.want)
		}
	}
}
