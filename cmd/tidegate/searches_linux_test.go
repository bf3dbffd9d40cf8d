package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/fakesearch"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// hiddenPage is found by the stand-ins of tests, and forbidden by a run's policy.
const hiddenPage = "hidden-page-5e1f"

// TestAResearchWithItsOwnSearch has a model search by services with a key. The first does
// not answer, which the person sees; the second echoes the key, and finds what the person
// does not allow.
func TestAResearchWithItsOwnSearch(t *testing.T) {
	full.Story(t)
	t.Parallel()
	story := plannedStory(t)
	if strings.Contains(story.victim, "policy") {
		t.Skip("the whole story has other sources")
	}
	services := &fakesearch.Server{Find: func(service string, r *http.Request) ([]fakesearch.Item, int) {
		if service == "tavily" {
			return nil, http.StatusInternalServerError
		}
		found, status := foundBy(service, r)
		return append([]fakesearch.Item{{URL: "https://www.forbidden.example/" + hiddenPage, Title: "Forbidden " + hiddenPage, Snippet: hiddenPage, Date: "2024-01-01"}}, found...), status
	}}
	fake := httptest.NewServer(services)
	defer fake.Close()
	var mu sync.Mutex
	var read []string
	model := fakemodel.StartService(hosted, func(r fakemodel.Request) fakemodel.Reply {
		mu.Lock()
		read = append(read, r.Body)
		mu.Unlock()
		text, job := story.answer(r)
		for heading, id := range map[string]string{"# Planning task": "perspectives", "# Research task": "wave1.economics"} {
			if job == "" && strings.Contains(r.Body, heading) { // whose prompts say what is allowed
				_, text = story.answersTo(id)
				job = id
			}
		}
		if n := len(r.Results); strings.HasPrefix(job, "wave1.") && n == 1 && strings.Contains(r.Results[0], "By archive") {
			return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "open", Args: `{"url": "` + energyStudy + `"}`}, {Name: "open", Args: `{"url": "https://www.wikipedia.org/"}`}}}
		} else if strings.HasPrefix(job, "wave1.") && n < 2 {
			return fakemodel.Reply{Calls: []fakemodel.Call{{Name: "search", Args: `{"query": "energy of harbour craft"}`}}}
		}
		return fakemodel.Reply{Text: text}
	})
	defer model.Close()
	dir := t.TempDir()
	own := filepath.Join(dir, "tidegate", "tidegate.toml")
	must.Do(t, os.MkdirAll(filepath.Dir(own), 0o700))
	file := fmt.Sprintf("[search.tavily]\nurl = %q\nkey_env = \"BRAVE_API_KEY\"\n[search.brave]\nurl = %q\n", fake.URL+"/tavily", fake.URL+"/brave")
	must.Do(t, os.WriteFile(own, []byte(file), 0o600))
	variables := map[string]string{
		"PATH": dir, "HOME": dir, "XDG_CONFIG_HOME": dir, "TIDEGATE_HOME": filepath.Join(dir, "home"),
		"OPENAI_API_KEY": rightKey, "OPENAI_BASE_URL": model.URL + "/v1", "BRAVE_API_KEY": fakesearch.Key, "OLLAMA_HOST": model.URL, "LMSTUDIO_BASE_URL": model.URL,
	}
	var out strings.Builder
	world := inHarbourOf(dir, variables, &out)
	if status := world.run(context.Background(), "research", question, "--yes", "--search", "tavily,brave", "--deny-domains", "forbidden.example", "--origins", "required"); status != 0 {
		t.Fatalf("exit status %d:\n%s", status, out.String())
	}
	for _, want := range []string{"Tavily (" + fake.URL + "/tavily, with the key in BRAVE_API_KEY), Brave Search (", "searched brave for energy of harbour craft; Tavily answers with status 500"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the person does not see %q:\n%s", want, out.String())
		}
	}
	if got := services.Asked(); slices.Contains(got, "wikipedia") || len(got) != 4 {
		t.Errorf("asked were %q", got)
	}
	said := out.String()
	for _, command := range []string{"doctor", "run replay harbour", "run verify harbour", "report harbour --format html", "run log harbour"} {
		out.Reset()
		status := world.run(context.Background(), strings.Fields(command)...)
		if command == "doctor" && !strings.Contains(out.String(), "Tavily answers with status 500") {
			t.Errorf("doctor does not say it:\n%s", out.String())
		}
		if command == "run replay harbour" && (status != 0 || !strings.Contains(out.String(), " 0 differences")) {
			t.Errorf("it does not replay:\n%s", out.String())
		}
		said += out.String()
	}
	mu.Lock()
	said += strings.Join(read, "\n")
	mu.Unlock()
	if strings.Contains(said, fakesearch.Key) || strings.Contains(said, hiddenPage) {
		t.Error("the key, or what is forbidden, is shown to the person or to the model")
	}
	err := filepath.WalkDir(filepath.Join(dir, "home"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := readWhole(path)
		if strings.Contains(text, fakesearch.Key) {
			t.Errorf("the key is in %s", path)
		}
		if name := filepath.Base(filepath.Dir(path)); strings.Contains(text, hiddenPage) && name != "search" && name != "evidence" {
			t.Errorf("what is forbidden is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	// The same again, by the sources of that run alone.
	asked := len(services.Asked())
	world.fetch = func(_ context.Context, urls []string, _ func([]*archive.Packed) error) error {
		t.Errorf("a connection would be opened to %q", urls)
		return nil
	}
	out.Reset()
	mu.Lock()
	read = nil
	mu.Unlock()
	if status := world.run(context.Background(), "research", question, "--yes", "--sources", "harbour", "--origins", "required"); status != 0 {
		t.Fatalf("exit status %d:\n%s", status, out.String())
	}
	mu.Lock()
	said = strings.Join(read, "\n")
	mu.Unlock()
	if !strings.Contains(said, "the archive of run harbour does not have it") || !strings.Contains(said, "eleven ports") || len(services.Asked()) != asked {
		t.Errorf("the pages of the archive are not what it opens, or %d services were asked", len(services.Asked())-asked)
	}
	if cited, err := readWhole(filepath.Join(dir, "home/runs/harbour-2/citations/citations.jsonl")); err != nil || !strings.Contains(cited, `"origin":{"kind":"search","search":"0001","rank":1}`) {
		t.Errorf("%s, %v", cited, err)
	}
	if found, err := readWhole(filepath.Join(dir, "home/runs/harbour/search/0001.json")); err != nil || !strings.Contains(found, hiddenPage) {
		t.Errorf("nothing forbidden was found: %s, %v", found, err)
	}
}

// TestARealClientSearchesThroughItsHome has clients call the search of their home through
// the relay of their cells. What they cite has been found so.
func TestARealClientSearchesThroughItsHome(t *testing.T) {
	path := agentClients(t)
	story := shortStory(t)
	fake := httptest.NewServer(&fakesearch.Server{Find: foundBy})
	defer fake.Close()
	for _, client := range []string{"claude", "codex", "opencode", "gemini", "acp"} {
		t.Run(client, func(t *testing.T) {
			if client != "claude" && client != "codex" && !full.Asked() {
				t.Skip("two clients are enough; -full has the others")
			}
			var mu sync.Mutex
			told := ""
			h := newHarbour(t, path, agentTables[client]+fmt.Sprintf("[search.brave]\nurl = %q\n", fake.URL+"/brave"), func(r fakemodel.Request) fakemodel.Reply {
				text, job := story.answer(r)
				search := slices.IndexFunc(r.Tools, func(tool string) bool { return strings.HasSuffix(tool, "deep_research_search") })
				if job != "wave1.economics" || search < 0 {
					return fakemodel.Reply{Text: text}
				}
				if len(r.Results) == 0 {
					return fakemodel.Reply{Calls: []fakemodel.Call{{Name: r.Tools[search], Args: `{"query": "energy of harbour craft"}`}}}
				}
				mu.Lock()
				defer mu.Unlock()
				told = strings.Join(r.Results, "\n")
				return fakemodel.Reply{Text: text}
			})
			h.env = append(h.env, "BRAVE_API_KEY="+fakesearch.Key)
			said, status := h.types(append(slices.Clone(story.args), "--origins", "required")...)
			h.checkDone(t, said, status, story)
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(told, energyStudy) || strings.Contains(told, fakesearch.Key) {
				t.Errorf("it was told %s", told)
			}
			if cited := h.file(t, "citations/citations.jsonl"); !strings.Contains(cited, `"origin":{"kind":"search","search":"0001","rank":1}`) {
				t.Errorf("%s", cited)
			}
			if attempt := h.file(t, "jobs/wave1.economics/001/attempt.json"); !strings.Contains(attempt, `"search_calls": 1`) && client != "acp" { // which names no tools
				t.Errorf("the search is not counted: %s", attempt)
			}
			if replayed, status := h.types("run", "replay", h.run()); status != 0 || !strings.Contains(replayed, " 0 differences") {
				t.Errorf("%s", replayed)
			}
		})
	}
}
