package main

import (
	"bufio"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/must"
)

// pageServer is a server of pages in a process of its own, and a browser that has its token.
type pageServer struct {
	*exec.Cmd
	base    string
	browser *http.Client
}

func servePages(t *testing.T, home, allowed string) *pageServer {
	t.Helper()
	s := &pageServer{Cmd: exec.Command("tidegate", "serve", "--http", "0", "--allow-work", allowed)}
	s.Dir, s.Env = home, append(os.Environ(), "TIDEGATE_HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"))
	out := must.Get(s.StdoutPipe())(t)
	must.Do(t, s.Start())
	t.Cleanup(func() { s.Process.Kill(); s.Wait() })
	lines := bufio.NewScanner(out)
	lines.Scan()
	address, err := url.Parse(lines.Text())
	if err != nil || address.Host == "" {
		t.Fatalf("it serves at %q", lines.Text())
	}
	jar := must.Get(cookiejar.New(nil))(t)
	s.base, s.browser = "http://"+address.Host, &http.Client{Jar: jar}
	s.ask(t, http.MethodGet, "/?"+address.RawQuery, nil)
	return s
}

func (s *pageServer) ask(t *testing.T, method, path string, fields url.Values) string {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(fields.Encode())))(t)
	r.Header.Set("Origin", s.base)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer := must.Get(s.browser.Do(r))(t)
	defer answer.Body.Close()
	page := must.Get(io.ReadAll(answer.Body))(t)
	return html.UnescapeString(string(page))
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// sends sends the form of a page.
func (s *pageServer) sends(t *testing.T, path, page string, more url.Values) string {
	t.Helper()
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		if more.Get(m[1]) == "" {
			more.Set(m[1], m[2])
		}
	}
	return s.ask(t, http.MethodPost, path, more)
}

// shows asks for a page until it shows a text.
func (s *pageServer) shows(t *testing.T, path, text string) {
	t.Helper()
	page := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if page = s.ask(t, http.MethodGet, path, nil); strings.Contains(page, text) {
			return
		}
	}
	t.Fatalf("%s does not come to show %q:\n%s", path, text, page)
}

// TestWorkFromPagesEndsWithTheServer starts a run on the page, and ends the server while its
// agent works: politely, which ends the agent, and by a kill, which does, too. The server
// that comes after each continues the run, and what may be spent is the same.
func TestWorkFromPagesEndsWithTheServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	own := filepath.Join(home, "config", "tidegate", "tidegate.toml")
	must.Do(t, os.MkdirAll(filepath.Dir(own), 0o700))
	// The agent leaves a mark where its cell lets it, and waits.
	marked := filepath.Join(home, "marked")
	must.Do(t, os.Mkdir(marked, 0o700))
	sleeper := filepath.Join(home, "sleeper")
	must.Do(t, os.WriteFile(sleeper, []byte("#!/bin/sh\ntouch \""+marked+"/$$\"\nsleep 600\n"), 0o700))
	settings := "[agents.default]\ndriver = \"exec:" + sleeper + "\"\nprice = { input = 1, output = 1 }\nwrite = [\"" + marked + "\"]\n"
	must.Do(t, os.WriteFile(own, []byte(settings), 0o600))
	// In its cell the agent has another id: it is known by what it runs.
	lives := func() bool { return exec.Command("pgrep", "-f", sleeper).Run() == nil }
	began := func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if marks, err := os.ReadDir(marked); err == nil && len(marks) == 1 && lives() {
				must.Do(t, os.Remove(filepath.Join(marked, marks[0].Name())))
				return
			}
		}
		t.Fatal("no agent began")
	}
	gone := func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); lives(); {
			if time.Now().After(end) {
				t.Fatal("the agent lives on")
			}
		}
	}
	const here = "/runs/does-it-rain"
	s := servePages(t, home, "3")
	s.sends(t, "/new", s.ask(t, http.MethodGet, "/new", nil), url.Values{"question": {"Does it rain?"}, "most_usd": {"2"}})
	began()
	if page := s.sends(t, "/new", s.ask(t, http.MethodGet, "/new", nil), url.Values{"question": {"Does it snow?"}, "most_usd": {"2"}}); !strings.Contains(page, "1.00 USD are left of the 3.00") {
		t.Errorf("a second run is planned:\n%s", page)
	}
	must.Do(t, s.Process.Signal(syscall.SIGTERM))
	s.Wait()
	gone()

	s = servePages(t, home, "3")
	s.shows(t, here, "Continue it here")
	s.sends(t, here+"/continue", s.ask(t, http.MethodGet, here+"/continue", nil), url.Values{})
	began()
	s.shows(t, here, "running")
	must.Do(t, s.Process.Kill())
	s.Wait()
	gone()

	s = servePages(t, home, "3")
	s.shows(t, here, "nobody drives it")
	s.shows(t, "/new", "$3.00 are left of the $3.00")
	if info, err := os.Stat(filepath.Join(home, "work.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what was spent is kept as %v, %v", info, err)
	}
}
