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
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Process.Kill(); s.Wait() })
	lines := bufio.NewScanner(out)
	lines.Scan()
	address, err := url.Parse(lines.Text())
	if err != nil || address.Host == "" {
		t.Fatalf("it serves at %q", lines.Text())
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.base, s.browser = "http://"+address.Host, &http.Client{Jar: jar}
	s.ask(t, http.MethodGet, "/?"+address.RawQuery, nil)
	return s
}

func (s *pageServer) ask(t *testing.T, method, path string, fields url.Values) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", s.base)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := s.browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	// The agent leaves a mark where its cell lets it, and waits.
	marked := filepath.Join(home, "marked")
	if err := os.Mkdir(marked, 0o700); err != nil {
		t.Fatal(err)
	}
	sleeper := filepath.Join(home, "sleeper")
	if err := os.WriteFile(sleeper, []byte("#!/bin/sh\ntouch \""+marked+"/$$\"\nsleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := "[agents.default]\ndriver = \"exec:" + sleeper + "\"\nprice = { input = 1, output = 1 }\nwrite = [\"" + marked + "\"]\n"
	if err := os.WriteFile(own, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	// In its cell the agent has another id: it is known by what it runs.
	lives := func() bool { return exec.Command("pgrep", "-f", sleeper).Run() == nil }
	began := func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if marks, err := os.ReadDir(marked); err == nil && len(marks) == 1 && lives() {
				if err := os.Remove(filepath.Join(marked, marks[0].Name())); err != nil {
					t.Fatal(err)
				}
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
	plan := s.sends(t, "/new", s.ask(t, http.MethodGet, "/new", nil), url.Values{"question": {"Does it rain?"}, "most_usd": {"2"}})
	s.sends(t, "/new", plan, url.Values{})
	began()
	if page := s.sends(t, "/new", s.ask(t, http.MethodGet, "/new", nil), url.Values{"question": {"Does it snow?"}, "most_usd": {"2"}}); !strings.Contains(page, "1.00 USD are left of the 3.00") {
		t.Errorf("a second run is planned:\n%s", page)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.Wait()
	gone()

	s = servePages(t, home, "3")
	s.shows(t, here, "Continue it here")
	s.sends(t, here+"/continue", s.ask(t, http.MethodGet, here+"/continue", nil), url.Values{})
	began()
	s.shows(t, here, "running")
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.Wait()
	gone()

	s = servePages(t, home, "3")
	s.shows(t, here, "nobody drives it")
	s.shows(t, "/new", "$3.00 are left of the $3.00")
	if info, err := os.Stat(filepath.Join(home, "work.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("what was spent is kept as %v, %v", info, err)
	}
}
