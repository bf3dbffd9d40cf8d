package source_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
)

var fetched = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

// judgeOne is the record of one source, found once under a title.
func judgeOne(t testing.TB, url, title string, page *source.Page, more ...func(*source.Evidence, *source.Found)) source.Record {
	t.Helper()
	found := source.Found{Cited: source.Cited{URL: url, Title: title}, Wave: 1, Perspective: "p1", AgentType: "a", ArtifactPath: "wave-1/p1.md"}
	evidence := source.Evidence{
		Page:    func(context.Context, string) (*source.Page, error) { return page, nil },
		Created: fetched.Add(-time.Hour),
	}
	for _, add := range more {
		add(&evidence, &found)
	}
	records, err := source.Judge(t.Context(), source.Sources([]source.Found{found}), evidence)
	if err != nil || len(records) != 1 {
		t.Fatalf("%s: %v, %v", url, records, err)
	}
	return records[0]
}

// allowedBy judges by a policy.
func allowedBy(p policy.Policy) func(*source.Evidence, *source.Found) {
	return func(e *source.Evidence, _ *source.Found) { e.Policy = p }
}

// registered adds the fields of an example that say what a registry and an output have.
func registered(data string) func(*source.Evidence, *source.Found) {
	head, _, _ := strings.Cut(data, "\n\n")
	var work *scholar.Work
	add := func(*source.Found) {}
	for line := range strings.SplitSeq(head, "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "registered":
			work = &scholar.Work{Registry: "Crossref", Title: value, Unregistered: value == "nothing"}
		case "by":
			work.Authors = strings.Split(value, ", ")
		case "abstract":
			work.Abstract = value
		case "retraction":
			work.Retracted = value
		case "beside":
			add = func(f *source.Found) { f.Beside = value + "\n" }
		}
	}
	return func(e *source.Evidence, f *source.Found) {
		e.Work = func(context.Context, scholar.ID) (*scholar.Work, error) { return work, nil }
		add(f)
	}
}

// rulePage reads a page of testdata/rule: fields, a blank line, the body.
func rulePage(t testing.TB, name, data string) (url, title, want string, page *source.Page) {
	t.Helper()
	head, body, _ := strings.Cut(data, "\n\n")
	page = &source.Page{Status: 200, ContentType: "text/html; charset=utf-8", Header: map[string][]string{}, FetchedAt: fetched}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, found := strings.Cut(line, ": ")
		if !found {
			key, value = strings.TrimSuffix(line, ":"), ""
		}
		switch key {
		case "url":
			url = value
		case "title":
			title = value
		case "want":
			want = value
		case "status":
			page.Status, _ = strconv.Atoi(value)
		case "type":
			page.ContentType = value
		case "fault":
			page.Fault = source.Fault(value)
		case "final":
			page.FinalURL = value
		case "attached":
			page.Attached = true
		case "truncated":
			page.Truncated = true
		case "header":
			key, value, _ := strings.Cut(value, ": ")
			page.Header[key] = []string{value}
		case "page":
			page = nil
		case "registered", "by", "abstract", "retraction", "beside":
		default:
			t.Fatalf("%s: what is %q?", name, line)
		}
	}
	if page != nil {
		page.URL = url
		page.Body = []byte(withTexts(t, strings.TrimSuffix(body, "\n")))
	}
	return url, title, want, page
}

// withTexts puts the texts of testdata/text in the place of {{en}} and the like.
func withTexts(t testing.TB, body string) string {
	for {
		before, rest, found := strings.Cut(body, "{{")
		if !found {
			return body
		}
		name, after, _ := strings.Cut(rest, "}}")
		_, text := sampleText(t, name)
		body = before + text + after
	}
}

// sampleText is a title and a paragraph in a language.
func sampleText(t testing.TB, language string) (title, text string) {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", "text", language+".txt")))(t)
	title, text, _ = strings.Cut(strings.TrimSpace(string(data)), "\n")
	return title, text
}

// languages are those of testdata/text.
func languages(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/text/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d texts, %v", len(files), err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".txt"))
	}
	return names
}

// examplePolicy refuses what no example of another rule has.
var examplePolicy = policy.Policy{DenyDomains: []string{"denied.test"}, Since: "1990-01-01", Languages: []string{"da", "de", "en", "es", "fi", "fr", "it", "nl", "pl", "pt", "sv", "ja", "is", "ar", "hi", "ru", "zh", "ko", "tr"}}

// TestRules judges an example and a near miss of every rule.
func TestRules(t *testing.T) {
	for _, rule := range source.Rules() {
		data, err := os.ReadFile(filepath.Join("testdata", "rule", rule.Name+".txtar"))
		if err != nil {
			t.Error(err)
			continue
		}
		examples, misses := 0, 0
		for _, file := range txtar.Parse(data).Files {
			kind, name, _ := strings.Cut(file.Name, ": ")
			url, title, want, page := rulePage(t, file.Name, string(file.Data))
			got := judgeOne(t, url, title, page, allowedBy(examplePolicy), registered(string(file.Data)))
			switch kind {
			case "holds":
				examples++
				want = rule.Name
				if got.Status != rule.Status || !strings.HasPrefix(got.Notes, rule.Reason) {
					t.Errorf("%s: %s: %s, %q", rule.Name, name, got.Status, got.Notes)
				}
			case "not":
				misses++
				if want == "" {
					want = "valid"
				}
				if want == rule.Name {
					t.Errorf("%s: %s is not a near miss", rule.Name, name)
				}
			default:
				t.Errorf("%s: %q", rule.Name, file.Name)
			}
			if got.Rule != want {
				t.Errorf("%s: %s: got %s (%s), want %s", rule.Name, name, got.Rule, got.Notes, want)
			}
		}
		if examples == 0 || misses == 0 {
			t.Errorf("%s has %d examples and %d near misses", rule.Name, examples, misses)
		}
	}
}

// TestPhrases makes a small page of every phrase that pages call themselves by.
func TestPhrases(t *testing.T) {
	for rule, phrases := range source.Names() {
		if len(phrases) < 30 {
			t.Errorf("%s has only %d names", rule, len(phrases))
		}
		for _, phrase := range phrases {
			body := fmt.Sprintf(source.PageNamed[rule], phrase, phrase)
			got := judgeOne(t, "https://news.test/2021/story", "", &source.Page{URL: "https://news.test/2021/story", Status: 200, ContentType: "text/html", Body: []byte(body)})
			if got.Rule != rule {
				t.Errorf("%s %q: got %s (%s)", rule, phrase, got.Rule, got.Notes)
			}
		}
	}
}
