package step_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// site is a web with one server that answers to every name.
func site(t *testing.T, handler http.HandlerFunc) sourcing.Fetch {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := fetch.New(fetch.Options{
		Now: runs.Pinned.Now, Limits: fetch.Limits{Deadline: 10 * time.Second, MaxBody: 64 << 20, Parallel: 8, PerHost: 8},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	})
	t.Cleanup(client.Close)
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return client.Each(ctx, urls, keep, nil)
	}
}

const article = "<p>The tide is moved by the moon and the sun. It is measured in a stilling well, which keeps the waves out and lets the water in.</p>"

// TestCredentialsStayOutOfEveryArtifact plants credentials wherever an agent or a
// server can put them, takes a run through everything that is done with sources,
// and searches every file of the run except the output itself: no run takes an
// output with credentials in it.
func TestCredentialsStayOutOfEveryArtifact(t *testing.T) {
	const secret = "s3cr3t"
	asked := 0
	fetch := site(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if strings.Contains(r.URL.String()+r.Header.Get("Authorization")+r.Header.Get("Cookie"), secret) && r.URL.Path != "/landed" {
			t.Errorf("the server is told %s %v", r.URL, r.Header)
		}
		w.Header().Set("Set-Cookie", "session="+secret)
		w.Header().Set("X-Auth-Token", secret)
		switch r.URL.Path {
		case "/moved":
			w.Header().Set("Location", "http://other.test-pages.org/landed?access_token="+secret)
			w.WriteHeader(http.StatusFound)
		case "/userinfo":
			w.Header().Set("Location", "http://reader:"+secret+"@other.test-pages.org/landed")
			w.WriteHeader(http.StatusFound)
		default:
			w.Header().Set("Link", "<http://a.test-pages.org/?token="+secret+">; rel=canonical")
			fmt.Fprint(w, "<title>The tide</title><link rel=canonical href='http://reader:"+secret+"@a.test-pages.org/'>"+article)
		}
	})
	output := "## Findings\n\nText.\n\n## Sources\n\n"
	for _, url := range []string{
		"http://reader:S@a.test-pages.org/1", "http://S@a.test-pages.org/2", "http://a.test-pages.org/3?token=S", "http://a.test-pages.org/4?x=1&API_KEY=S", "http://a.test-pages.org/5?%74oken=S",
		"http://a.test-pages.org/6#access_token=S", "http://a.test-pages.org/7?x=1;password=S", `http:\\reader:S@a.test-pages.org/8`, "http://reader:S@exa mple/9", "ftp://reader:S@a.test-pages.org/10",
		"http://a.test-pages.org/moved", "http://a.test-pages.org/userinfo", "http://a.test-pages.org/plain", "http://a.test-pages.org/https://reader:S@b.test-pages.org/11",
	} {
		url = strings.ReplaceAll(url, "S", secret)
		output += fmt.Sprintf("- The tide, <%s>, also as %s and [the tide](<%s> \"%s\")\n", url, url, url, url)
	}
	made := citing(t, run.InitInput{}, output)
	for _, do := range []func() error{
		func() error {
			_, err := sourcing.FetchSources(t.Context(), runs.Pinned, fetch, sourcing.FetchInput{ManifestPath: made.ManifestPath})
			return err
		},
		func() error {
			out := validate(t, made, fetch, sourcing.CitationsInput{})
			if out.Statuses.Valid == 0 || out.Statuses.Invalid < 8 {
				t.Errorf("%+v", out.Statuses)
			}
			return nil
		},
		func() error { gateC(t, made); return nil },
		func() error {
			for _, url := range []string{"http://reader:" + secret + "@a.test-pages.org/", "http://a.test-pages.org/#access_token=" + secret} {
				_, err := sourcing.Replace(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), runs.Pinned, fetch,
					sourcing.ReplaceInput{ManifestPath: made.ManifestPath, CID: records(t, made)[0].CID, URL: url})
				if tidegate.CodeOf(err) != tidegate.InvalidArgs || strings.Contains(fmt.Sprintf("%+v", tidegate.AsError(err)), secret) {
					t.Errorf("%+v", tidegate.AsError(err))
				}
			}
			return nil
		},
	} {
		must.Do(t, do())
	}
	if asked == 0 {
		t.Error("nothing was asked, so that nothing is shown")
	}
	for name, text := range must.Tree(t, made.Root) {
		if strings.HasSuffix(name, ".warc.gz") {
			text = unpacked(t, text)
			// What a page itself says is kept.
			text = strings.ReplaceAll(text, "href='http://reader:"+secret+"@a.test-pages.org/'", "")
		}
		if strings.Contains(text, secret) && !strings.HasPrefix(name, "wave-1") {
			at := strings.Index(text, secret)
			t.Errorf("%s has a secret: %q", name, text[max(0, at-200):min(len(text), at+20)])
		}
	}
}

func unpacked(t *testing.T, text string) string {
	t.Helper()
	in := must.Get(gzip.NewReader(strings.NewReader(text)))(t)
	data := must.Get(io.ReadAll(in))(t)
	return string(data)
}

// TestHostileTitlesAreShownForWhatTheyAre serves pages whose titles would act on
// any program that shows them.
func TestHostileTitlesAreShownForWhatTheyAre(t *testing.T) {
	titles := []string{
		"tide \x1b[2J\x1b]0;owned\x07 \u009b31m", "tide \u202egnp.exe\u2069 \u200b\U000e0041", "tide | table | row\n\n# Heading\n\n- [x](javascript:alert(1))", "tide <script>alert(1)</script> <img src=x onerror=alert(1)>",
		"tide `code` ![i](http://evil.test/pixel) <http://evil.test>", "tide },\n  author = {Mallory}}\n@comment{", "tide\r\nER  - \r\nTY  - JOUR", "tide ::error::owned", "tide \u2028next", strings.Repeat("tide ", 1<<16),
	}
	fetch := site(t, func(w http.ResponseWriter, r *http.Request) {
		var i int
		fmt.Sscanf(r.URL.Path, "/%d", &i)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		title := strings.NewReplacer("<", "&lt;").Replace(titles[i])
		fmt.Fprintf(w, "<title>%s</title><meta property=og:site_name content=\"%s\"><meta name=author content=\"%s\"><p>%d %s", title, title, title, i, article)
	})
	output := "## Sources\n\n"
	for i := range titles {
		output += fmt.Sprintf("- The tide, http://a%d.test-pages.org/%d\n", i, i)
	}
	made := citing(t, run.InitInput{}, output)
	out := validate(t, made, fetch, sourcing.CitationsInput{})
	if out.Statuses.Valid != len(titles) {
		t.Fatalf("%+v", out.Statuses)
	}
	list := must.Get(sourcing.ListCitations(t.Context(), runClock, made.ManifestPath))(t)
	shown := map[string]string{"validated-citations.md": must.Read(t, filepath.Join(made.Root, "citations", "validated-citations.md"))}
	for _, format := range []string{"csl-json", "bibtex", "ris"} {
		document, ok, err := list.Export(format)
		if !ok || err != nil {
			t.Fatal(format, err)
		}
		shown[format] = string(document)
	}
	for _, format := range report.Formats() {
		var b bytes.Buffer
		must.Do(t, format.Write(&b, list.Report(), report.Options{}))
		shown[format.Name] = b.String()
	}
	for name, text := range shown {
		for _, bad := range []string{"\x1b", "\u009b", "\u202e", "\u2069", "\U000e0041", "\u2028", "\x07", "\n# Heading", "\n::error"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s shows %q", name, bad)
			}
		}
		if strings.HasSuffix(name, "md") || name == "markdown" {
			if tag := regexp.MustCompile(`(^|[^\\])<[a-z]`).FindString(text); tag != "" {
				t.Errorf("%s has HTML: %q", name, tag)
			}
		}
		if len(text) > 1<<20 {
			t.Errorf("%s has %d bytes", name, len(text))
		}
	}
	for _, r := range records(t, made) {
		if len(r.Title) > 4096 || len(r.Publisher) > 4096 || len(r.Author) > 4096 || strings.ContainsAny(r.Title+r.Publisher+r.Author, "\n\r\x1b") {
			t.Errorf("%d %d %d %q", len(r.Title), len(r.Publisher), len(r.Author), tidegate.Cut(r.Title))
		}
	}
}
