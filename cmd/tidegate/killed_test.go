package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/work/run"
)

// deadly is a web site whose server kills the process that fetches from it, at a
// moment of the request with that number.
type deadly struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string // the pages, since the process was started
	kill   func()   // the process; nil: it may live
	number int      // of the request at which it is killed
	moment string
}

func newDeadly(t *testing.T) *deadly {
	d := &deadly{}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// next starts counting again, and returns what was asked for before.
func (d *deadly) next(kill func(), number int, moment string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.asked
	d.asked, d.kill, d.number, d.moment = nil, kill, number, moment
	return asked
}

func (d *deadly) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.asked = append(d.asked, "http://"+r.Host+r.URL.Path)
	kill, moment := d.kill, d.moment
	if len(d.asked) != d.number || kill == nil {
		kill, moment = nil, ""
	}
	d.mu.Unlock()
	flush := http.NewResponseController(w).Flush
	if moment == "asked" {
		kill()
	}
	page := fmt.Sprintf("<title>Tide %s</title><p>The tide is moved by the moon, and turns twice a day. %s</p>", r.URL.Path, strings.Repeat("High water comes later every day at gauge "+r.URL.Path[1:]+". ", 500))
	w.Header().Set("Content-Length", fmt.Sprint(len(page)))
	fmt.Fprint(w, page[:len(page)/2])
	if flush(); moment == "half answered" {
		kill()
	}
	fmt.Fprint(w, page[len(page)/2:])
	if flush(); moment == "answered" {
		kill()
	}
}

// round is one start of the program, killed at a moment of the request with that
// number; 0 lets it live.
type round struct {
	number int
	moment string
}

// TestKilledWhileFetching kills `citations fetch` again and again, at moments that
// the server of the pages chooses, and then lets it end. After every kill the run
// agrees with its record and its archive can be read; no page that the archive had
// is asked for again; and in the end the records are those of an undisturbed run.
func TestKilledWhileFetching(t *testing.T) {
	full.Story(t)
	t.Parallel()
	pages, rounds := 5, []round{{1, "half answered"}, {2, "answered"}, {3, "asked"}}
	if full.Asked() {
		pages, rounds = 7, []round{{1, "asked"}, {1, "half answered"}, {1, "answered"}, {2, "asked"}, {2, "half answered"}, {2, "answered"}, {3, "answered"}}
	}
	site := newDeadly(t)
	address := strings.TrimPrefix(site.URL, "http://")
	hosts := []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1)} // two, because requests to one are spaced
	var sources strings.Builder
	for i := range pages {
		fmt.Fprintf(&sources, "- Tide %d, http://%s/%d\n", i, hosts[i%2], i)
	}
	home := t.TempDir()
	variables := map[string]string{"TIDEGATE_HOME": home, "TIDEGATE_NOW": "2026-03-04T05:06:07Z", "TIDEGATE_FETCH_ALLOW": strings.Join(hosts, ",")}
	must := func(words ...string) {
		t.Helper()
		if out, status := typedIn(t.Context(), home, variables, words...); status != 0 {
			t.Fatalf("tidegate %s: exit status %d\n%s", strings.Join(words, " "), status, out)
		}
	}
	records := func(id string) string {
		t.Helper()
		must("citations", "check", id)
		must("run", "verify", id)
		data, err := os.ReadFile(filepath.Join(home, "runs", id, "citations", "citations.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, id := range []string{"calm", "killed"} {
		must("run", "init", "Why do tides turn?", "--id", id)
		if err := os.WriteFile(filepath.Join(home, "runs", id, "wave-1", "p1.md"), []byte("## Findings\n\nText.\n\n## Sources\n\n"+sources.String()+"\n## Gaps\n\nNone.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must("citations", "fetch", "calm")
	if asked := site.next(nil, 0, ""); len(asked) != pages {
		t.Fatalf("%d pages are asked for: %v", len(asked), asked)
	}

	had := archivedIn(t, home, "killed")
	kills := 0
	for _, round := range append(rounds, round{}) {
		command := exec.Command("tidegate", "citations", "fetch", "killed")
		command.Env = os.Environ()
		for name, value := range variables {
			command.Env = append(command.Env, name+"="+value)
		}
		started := make(chan struct{})
		site.next(func() { <-started; command.Process.Kill() }, round.number, round.moment)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		close(started)
		err := command.Wait()
		asked := site.next(nil, 0, "")
		if err != nil {
			kills++
		}
		if err != nil && round.number == 0 {
			t.Fatal(err)
		}
		for _, url := range asked {
			if had[url] {
				t.Errorf("%s was in the archive and is asked for again", url)
			}
		}
		must("run", "verify", "killed")
		has := archivedIn(t, home, "killed")
		for url := range had {
			if !has[url] {
				t.Errorf("%s was in the archive and is gone", url)
			}
		}
		had = has
	}
	if kills < len(rounds)-2 || len(had) != pages {
		t.Errorf("killed %d times; %d of %d pages are there", kills, len(had), pages)
	}
	if calm, killed := records("calm"), records("killed"); calm != killed || strings.Count(calm, `"status":"valid"`) != pages {
		t.Errorf("the records are\n%s\nand without a kill\n%s", killed, calm)
	}
}

// archivedIn are the URLs that the archive of a run has, according to its log.
func archivedIn(t *testing.T, home, id string) map[string]bool {
	t.Helper()
	r, err := run.Open(t.Context(), run.Desk{}, filepath.Join(home, "runs", id, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	events, err := r.Events()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]bool{}
	for _, event := range events {
		for _, record := range event.Entry.Get("records").Elems() {
			counts[record.Get("digest").Str()] = true
		}
	}
	a, err := archive.Open(t.Context(), r.Folder(), "evidence/archive.warc.gz", func(digest string) bool { return counts[digest] })
	if err != nil {
		t.Fatal(err)
	}
	urls := map[string]bool{}
	for _, entry := range a.Entries() {
		if !a.Counts(entry) {
			continue
		}
		if _, err := a.Read(t.Context(), entry); err != nil {
			t.Errorf("%s: %v", entry.URL, err)
		}
		urls[entry.URL] = true
	}
	return urls
}
