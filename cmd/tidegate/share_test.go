package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
)

// TestRunsShareAsTheConfigurationSays fetches the same source for runs of one home. By itself
// each run fetches; with [archive] share the second one takes the page of the first, says so,
// and is whole without it; another list of private hosts shares nothing.
func TestRunsShareAsTheConfigurationSays(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, ferryPage)
	}))
	t.Cleanup(site.Close)
	home := t.TempDir()
	host := strings.TrimPrefix(site.URL, "http://")
	variables := map[string]string{"TIDEGATE_HOME": home, "TIDEGATE_FETCH_ALLOW": host, "XDG_CONFIG_HOME": filepath.Join(home, "config"), "HOME": home}
	put := func(name, text string) {
		t.Helper()
		must.Write(t, filepath.Join(home, name), text)
	}
	typed := func(words ...string) string {
		t.Helper()
		out, status := typedIn(t.Context(), home, variables, words...)
		if status != 0 {
			t.Fatalf("%v: %d: %s", words, status, out)
		}
		return out
	}
	fetch := func(id string) int64 {
		t.Helper()
		typed("run", "init", "What does the ferry carry?", "--id", id)
		put("runs/"+id+"/wave-1/p1.md", "## Findings\n\nText.\n\n## Sources\n\n- [The ferry Ampere](<"+site.URL+"/ampere>)\n\n## Gaps\n\nNone.\n")
		requests.Store(0)
		typed("citations", "fetch", id)
		return requests.Load()
	}
	if fetch("alone") != 1 || fetch("beside") != 1 {
		t.Error("without the configuration, pages are shared")
	}
	put("config/tidegate/tidegate.toml", strings.Join(taught(t), "\n")+"\n")
	if fetch("first") != 1 {
		t.Error("what was fetched without the configuration is shared")
	}
	if fetch("second") != 0 {
		t.Error("the page is fetched again")
	}
	if log, err := os.ReadFile(filepath.Join(home, "runs", "second", "logs", "audit.jsonl")); err != nil || !strings.Contains(string(log), `"shared":{"url":"`+site.URL+`/ampere","run_id":"first","fetched_at":"`) {
		t.Errorf("the log says\n%s", log)
	}
	variables["TIDEGATE_FETCH_ALLOW"] = host + ",wiki.internal"
	if fetch("third") != 1 {
		t.Error("a run takes what one fetched that may reach other hosts")
	}
	variables["TIDEGATE_FETCH_ALLOW"] = host
	must.Do(t, os.RemoveAll(filepath.Join(home, "runs", "first")))
	typed("run", "verify", "second")
	if fetch("fourth") != 1 {
		t.Error("a page of a run that is gone is taken")
	}
	must.Do(t, os.RemoveAll(filepath.Join(home, "archive")))
	if fetch("fifth") != 1 || fetch("sixth") != 0 {
		t.Error("a deleted archive is not made again")
	}
}
