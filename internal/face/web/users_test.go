package web_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestUsersDoWhatTheirRolesAllow: all see all runs; who may not decide is not offered it
// and cannot; the log says who decided and by what they are known.
func TestUsersDoWhatTheirRolesAllow(t *testing.T) {
	full.Story(t)
	t.Parallel()
	s, manifest, _ := newRun(t)
	deciding(s)
	s.Users = user.List{Home: t.TempDir(), Now: s.Desk.Now}
	s.Proxy = guard.Proxy{Header: "X-Remote-User", Secret: "a secret of the proxy"}
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	tokens := map[string]string{}
	for name, role := range map[string]user.Role{"rita": user.Read, "dora": user.Decide} {
		given := must.Get(s.Users.Add(person, name, role, 0))(t)
		tokens[name] = given
	}
	server := httptest.NewServer(web.Handler(s, token, nil))
	t.Cleanup(server.Close)
	enter := func(name string) *browser {
		jar := must.Get(cookiejar.New(nil))(t)
		b := &browser{&http.Client{Jar: jar}, server.URL, nil}
		if status, page := b.get(t, "/?token="+tokens[name]); status != http.StatusOK || !strings.Contains(page, "rain") || !strings.Contains(page, "<bdi>"+name+"</bdi>") {
			t.Fatalf("%s is answered with %d:\n%s", name, status, page)
		}
		return b
	}
	reader, decider := enter("rita"), enter("dora")
	if _, page := reader.get(t, "/runs/rain"); strings.Contains(page, "/decide") {
		t.Error("a reader is offered decisions")
	}
	if _, page := decider.get(t, "/runs/rain"); !strings.Contains(page, "/decide") {
		t.Error("nobody who decides is offered decisions")
	}
	if status, _ := reader.get(t, "/runs/rain/decide/run-pause"); status != http.StatusNotFound {
		t.Errorf("a reader sees the form: %d", status)
	}
	stolen := decider.confirmation(t, "/runs/rain/decide/run-pause", url.Values{"reason": {"rest"}})
	if status, _, _ := reader.send(t, "/runs/rain/decide/run-pause", server.URL, stolen); status != http.StatusMethodNotAllowed {
		t.Errorf("a reader decides: %d", status)
	}
	if status, page, _ := decider.send(t, "/runs/rain/decide/run-pause", server.URL, stolen); status != http.StatusSeeOther {
		t.Fatalf("%d %s", status, page)
	}
	wantLogged(t, manifest, `"actor":"person","by":"token","who":"dora"`)

	// The proxy says who somebody is.
	as := func(headers http.Header) (int, string) {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/runs/rain", nil)
		r.Header = headers
		w := httptest.NewRecorder()
		web.Handler(s, token, nil).ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const name, secret = "X-Remote-User", guard.SecretHeader
	if status, page := as(http.Header{name: {"dora"}, secret: {s.Proxy.Secret}}); status != http.StatusOK || !strings.Contains(page, "/decide") {
		t.Errorf("dora through the proxy: %d", status)
	}
	for what, headers := range map[string]http.Header{
		"no secret":                     {name: {"dora"}},
		"another secret":                {name: {"dora"}, secret: {"a secret of the prox"}},
		"a stranger":                    {name: {"mallory"}, secret: {s.Proxy.Secret}},
		"two names":                     {name: {"rita", "dora"}, secret: {s.Proxy.Secret}},
		"two secrets":                   {name: {"dora"}, secret: {s.Proxy.Secret, s.Proxy.Secret}},
		"an empty name":                 {name: {""}, secret: {s.Proxy.Secret}},
		"only the secret":               {secret: {s.Proxy.Secret}},
		"a name and the owner's cookie": {name: {"mallory"}, "Cookie": {"tidegate=" + token}},
	} {
		if status, _ := as(headers); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", what, status)
		}
	}
	within, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var streams []*http.Response
	for _, path := range []string{"/runs/rain/events", "/live/runs"} {
		asked := must.Get(http.NewRequestWithContext(within, http.MethodGet, server.URL+path, nil))(t)
		stream, err := reader.Do(asked)
		if err != nil || stream.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v", path, stream, err)
		}
		defer stream.Body.Close()
		streams = append(streams, stream)
	}
	must.Do(t, s.Users.Remove(person, "rita"))
	for _, stream := range streams {
		if _, err := io.Copy(io.Discard, stream.Body); err != nil {
			t.Errorf("somebody who was removed still follows %s: %v", stream.Request.URL.Path, err)
		}
	}
	if status, _ := reader.get(t, "/"); status != http.StatusUnauthorized {
		t.Errorf("somebody who was removed is still there: %d", status)
	}
}

func wantLogged(t *testing.T, manifest, want string) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(filepath.Dir(manifest), "logs", "audit.jsonl"))
	if err != nil || !strings.Contains(string(log), want) {
		t.Errorf("the log does not say %s: %v", want, err)
	}
}
