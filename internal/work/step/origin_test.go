package step_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/search"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/fakesearch"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

func planted50(kind string, i int) string {
	return fmt.Sprintf("https://%s.example.org/page/%d", kind, i)
}

// linking answers with pages: the first result of the search and each link lead to the
// next link, and the made-up pages link to one another.
func linking(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
	for _, url := range urls {
		body := "<html><title>Page</title><body><p>" + strings.Repeat("Words of the page "+url+" that is long enough. ", 20) + `</p><a href="` + url + `">itself</a>`
		var n int
		switch {
		case url == planted50("search", 1):
			body += `<a href="` + planted50("link", 1) + `?utm_source=x#part">next</a>`
		case strings.Contains(url, "link.example.org"):
			fmt.Sscanf(url, planted50("link", 0)[:len(planted50("link", 0))-1]+"%d", &n)
			body += fmt.Sprintf(`<a href="/page/%d">next</a>`, n+1)
		case strings.Contains(url, "unknown.example.org"):
			for i := range 11 {
				body += `<a href="` + planted50("unknown", i) + `">made up</a>`
			}
		}
		packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Responded, Time: runs.Pinned.Now(), Hops: []archive.Hop{
			{URL: url, Time: runs.Pinned.Now(), Status: 200, Header: []archive.Field{{Name: "Content-Type", Value: "text/html"}}, Body: []byte(body)},
		}})
		if err != nil {
			return err
		}
		if err := keep([]*archive.Packed{packed}); err != nil {
			return err
		}
	}
	return nil
}

// TestOrigins plants fifty URLs: ten results of searches, ten links of which each page
// leads to the next, ten that the person names, ten that a client found, ten from nowhere.
func TestOrigins(t *testing.T) {
	t.Parallel()
	kinds := []string{"search", "link", "person", "client", "unknown"}
	question := "What do these say?"
	output := "## Findings\n\nText.\n\n## Sources\n\n"
	var events strings.Builder
	event := func(kind string, raw any) {
		text, _ := json.Marshal(raw)
		line, _ := json.Marshal(map[string]any{"kind": kind, "raw": string(text)})
		events.Write(append(line, '\n'))
	}
	type object = map[string]any
	for i := 1; i <= 10; i++ {
		question += " " + planted50("person", i)
		for _, kind := range kinds {
			output += "- Page " + planted50(kind, i) + "\n"
		}
		result := object{"type": "user", "message": object{"content": []object{{"type": "tool_result", "content": `Links: [{"title":"x","url":"` + planted50("client", i) + `"}]`}}}}
		if i > 5 {
			result = object{"type": "tool_use", "part": object{"type": "tool", "state": object{"input": object{"url": planted50("unknown", i)}, "output": "See " + planted50("client", i) + "."}}}
		}
		event("other", result)
		// What the agent itself writes is no origin.
		event("message", object{"type": "assistant", "message": object{"content": []object{{"type": "text", "text": planted50("unknown", i)}}}})
		event("tool", object{"type": "assistant", "message": object{"content": []object{{"type": "tool_use", "name": "WebFetch", "input": object{"url": planted50("unknown", i)}}}}})
		event("other", object{"type": "user", "message": object{"content": []object{{"type": "tool_result", "content": "404, nothing at " + planted50("unknown", i)}}}})
		event("other", object{"type": "item.completed", "item": object{"type": "mcp_tool_call", "arguments": object{"markdown": planted50("unknown", i)}, "result": object{"content": planted50("unknown", i)}}})
		event("tool", object{"type": "tool", "name": "open", "url": planted50("unknown", i)})
		event("other", object{"type": "result", "result": output})
	}
	made := citing(t, run.InitInput{Query: question, Asked: run.Asked{Origins: run.OriginsShown}}, output+"\n## Gaps\n\nNone.\n")
	must.Get(runs.Open(t, made.ManifestPath).Update(t.Context(), func(u *run.Update) error {
		u.Log(run.EventAnswered, "job_submit", tidegate.Pairs("job_id", "wave1.p1", "attempt", 1, "answer", 1, "events", events.Len()))
		return u.Write("jobs/wave1.p1/001/events.jsonl", []byte(events.String()))
	}))(t)
	brave, _ := search.Find("brave")
	how := &sourcing.Searching{Places: []sourcing.Place{{Service: brave, Key: "k"}}, Default: []string{"brave"}, Reaches: fetch.Allow{}.Reaches, Call: func(_ context.Context, name string, r archive.Request) (archive.Capture, error) {
		var items []fakesearch.Item
		for i := 1; i <= 5; i++ {
			if strings.Contains(r.URL, "second") {
				items = append(items, fakesearch.Item{URL: planted50("search", i+5), Title: "Page"})
			} else {
				items = append(items, fakesearch.Item{URL: planted50("search", i), Title: "Page"})
			}
		}
		return archive.Capture{URL: name, Kind: archive.Responded, Time: runs.Pinned.Now(), Hops: []archive.Hop{{URL: r.URL, Time: runs.Pinned.Now(), Status: 200, Body: fakesearch.Answers("brave", items)[0]}}}, nil
	}}
	for _, query := range []string{"first", "second"} {
		must.Get(sourcing.Search(t.Context(), runs.Pinned, how, sourcing.SearchInput{ManifestPath: made.ManifestPath, Query: query}))(t)
	}
	validate(t, made, linking, sourcing.CitationsInput{})
	got := records(t, made)
	if len(got) != 50 {
		t.Fatalf("%d records", len(got))
	}
	for _, r := range got {
		var kind string
		var n int
		fmt.Sscanf(strings.NewReplacer("https://", "", ".example.org/page/", " ").Replace(r.NormalizedURL), "%s %d", &kind, &n)
		want := &source.Origin{Kind: source.OriginKind(kind)}
		switch kind {
		case "search":
			want.Search, want.Rank = "0001", n
			if n > 5 {
				want.Search, want.Rank = "0002", n-5
			}
		case "link":
			if want.Page = planted50("link", n-1); n == 1 {
				want.Page = planted50("search", 1)
			}
		}
		if diff := cmp.Diff(want, r.Origin); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.NormalizedURL, diff)
		}
	}
	var listed strings.Builder
	must.Do(t, report.Markdown(&listed, must.Get(sourcing.ListCitations(t.Context(), runs.Pinned, made.ManifestPath))(t).Report(), report.Options{}))
	if n := strings.Count(listed.String(), "origin: "); n != 50 || !strings.Contains(listed.String(), "origin: result 3 of search 0002") {
		t.Errorf("%d of 50 sources are listed with their origins:\n%s", n, listed.String())
	}
	if counted := line(t, gateC(t, made).Metrics); !strings.Contains(counted, `"origins":{"search":10,"link":10,"person":10,"client":10,"unknown":10}`) {
		t.Errorf("gate C counts %s", counted)
	}
}

// TestRequiredOrigins refuses what comes from nowhere while its author is there.
func TestRequiredOrigins(t *testing.T) {
	t.Parallel()
	made := runs.Create(t, run.InitInput{Query: "What does " + planted50("person", 1) + " say?", Asked: run.Asked{Origins: run.OriginsRequired}})
	r := runs.Open(t, made.ManifestPath)
	text := "## Sources\n\n- Page " + planted50("person", 1) + "\n- Page " + planted50("unknown", 1) + "\n"
	checked := must.Get(sourcing.NewSourceChecker(r).Check(t.Context(), runs.Pinned, linking, sourcing.SubmittedSources{Text: []byte(text), MaxSources: 9}))(t)
	if len(checked.Faults) != 1 || checked.Faults[0].Code != tidegate.OriginUnknown || checked.Faults[0].Line != 4 {
		t.Errorf("got %+v", checked.Faults)
	}
}

// TestOriginsUntilHandedIn judges outputs by what the run showed when they were handed in
// and by what their own sources link to, whatever others fetch before they are judged.
func TestOriginsUntilHandedIn(t *testing.T) {
	t.Parallel()
	found, linked := planted50("search", 1), planted50("link", 1) // the page of the first links to the second
	made := runs.Create(t, run.InitInput{Query: "What does " + found + " say?", Asked: run.Asked{Origins: run.OriginsRequired}})
	r := runs.Open(t, made.ManifestPath)
	lines := func() int {
		events := must.Get(r.Events())(t)
		return len(events)
	}
	check := sourcing.NewSourceChecker(r)
	faults := func(check *sourcing.SourceChecker, handedIn int, urls ...string) int {
		t.Helper()
		text := "## Sources\n\n"
		for _, url := range urls {
			text += "- Page " + url + "\n"
		}
		checked := must.Get(check.Check(t.Context(), runs.Pinned, linking, sourcing.SubmittedSources{Text: []byte(text), MaxSources: 9, HandedIn: handedIn}))(t)
		for _, f := range checked.Faults {
			if f.Code != tidegate.OriginUnknown {
				t.Errorf("%+v", f)
			}
		}
		return len(checked.Faults)
	}
	before := lines()
	if n := faults(check, before, linked); n != 1 {
		t.Errorf("before the page was fetched that links to it: %d faults", n)
	}
	if n := faults(check, before, found, linked); n != 0 {
		t.Errorf("with the page that links to it: %d faults", n)
	}
	for name, check := range map[string]*sourcing.SourceChecker{"the same": check, "another": sourcing.NewSourceChecker(r)} {
		if n := faults(check, before, linked); n != 1 {
			t.Errorf("%s checker, handed in before the page was fetched: %d faults", name, n)
		}
		if n := faults(check, lines(), linked); n != 0 {
			t.Errorf("%s checker, handed in after the page was fetched: %d faults", name, n)
		}
	}
}
