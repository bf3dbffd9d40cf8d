package audit_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestTheReportAsAWhole finds what is wrong with how a report cites, and what became of its
// sources.
func TestTheReportAsAWhole(t *testing.T) {
	text := func(what string) string {
		return strings.Repeat(what+" is described here at length, so that the page has enough words to be a page, and more of them than any wall or error would show. ", 12)
	}
	pages := web{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		url := "https://x.example/" + name
		pages[url] = shows(url, 200, "Page "+name, text("The thing "+name))
	}
	pages["https://x.example/b"] = shows("https://x.example/b", 200, "Page a", text("The thing a"))
	pages["https://x.example/c"] = moves("https://x.example/c", "https://x.example/new/c", shows("https://x.example/new/c", 200, "Page c", text("The thing c")))
	report := `The thing a is described here [1][2]. Nobody has this [9]. The thing c is described [4].
All are described [1][3][4][5][6][7][8]. It is “quoted without a source”. It grew by 12 percent.

## Sources

[1] Page a: https://x.example/a
[2] Page a: https://x.example/a
[3] Page a: https://x.example/b
[4] Page c: https://x.example/c
[5] Page d: https://x.example/d
[6] Page e: https://x.example/e
[7] Page f: https://x.example/f
[8] Page g: https://x.example/g
[10] Nobody cites it: https://x.example/z
`
	result := must.Get(audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, pages.fetch, audit.Input{Report: report, Home: t.TempDir()}))(t)
	var got []string
	for _, f := range result.Findings {
		got = append(got, fmt.Sprintf("%d %s %s %s", f.Line, f.Level, f.Code, f.Text))
	}
	want := []string{
		"1 fault ENTRY_MISSING [9]: no entry of a list of sources has a URL for it",
		"2 weak TOO_MANY_CITATIONS one sentence cites 7 sources",
		"6 weak SAME_URL https://x.example/a stands under 2 numbers: 1, 2",
		"14 note ENTRY_NOT_CITED no sentence cites the entry 10 Nobody cites it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	found := map[string]string{}
	for _, s := range result.Sources {
		for _, f := range s.Findings {
			found[s.URL[len("https://x.example/"):]] += f.Rule + " "
		}
	}
	if found["a"]+found["b"] != "repeated duplicate " || found["c"] != "moved " { // which of the two is the duplicate follows from their ids
		t.Errorf("sources: %v", found)
	}
	if s := result.Summary; s.UncitedNumbers != 1 || s.UncitedQuotations != 1 || s.Sources.Invalid != 1 {
		t.Errorf("%+v", s)
	}
}

// TestWhatIsNotReadIsSaid: text beside the main part of a page, and in blocks of code, is
// not audited, and nobody may hide a lie there in silence.
func TestWhatIsNotReadIsSaid(t *testing.T) {
	for name, report := range map[string]string{
		"beside the main part": "<html><body><p>The moon is made of green cheese, as everybody knows who looks.</p><nav>Home</nav><main><p>One is <a href='https://x.example/a'>here</a>.</p></main>",
		"in code":              "One is [here](https://x.example/a).\n\n```\nThe moon is made of green cheese.\n```\n",
	} {
		result := must.Get(audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, nil, audit.Input{Report: report, NoFetch: true, Home: t.TempDir()}))(t)
		if len(result.Sentences) != 1 || len(result.Findings) != 1 || result.Findings[0].Code != "LEFT_OUT" || !strings.HasPrefix(result.Findings[0].Text, "1 block ") {
			t.Errorf("%s: %+v", name, result.Findings)
		}
	}
}

// TestKeysOfAnAudit: programs find every key, in its place.
func TestKeysOfAnAudit(t *testing.T) {
	report, _, pages := planted()
	result := must.Get(audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, pages.fetch, audit.Input{Report: report, Home: t.TempDir()}))(t)
	data := must.Get(result.Document())(t)
	var doc map[string]any
	must.Do(t, json.Unmarshal(data, &doc))
	for path, keys := range map[string]string{
		"": "ok pass audit_id audit_path report summary citations sentences sources findings", "report": "name format styles language digest bytes",
		"summary": "sentences found weak missing unchecked cited uncited sources", "citations": "line text ids urls",
		"sentences": "line text form urls standing findings windows verdict", "sentences findings": "rule level text", "sources": "url ids title line status reason cited findings",
	} {
		var at any = doc
		for name := range strings.FieldsSeq(path) {
			at = at.(map[string]any)[name]
			if list, is := at.([]any); is {
				at = list[0]
				if i := slices.IndexFunc(list, func(v any) bool { f, _ := v.(map[string]any)["findings"].([]any); return len(f) > 0 }); i >= 0 {
					at = list[i]
				}
			}
		}
		for key := range strings.FieldsSeq(keys) {
			if _, has := at.(map[string]any)[key]; !has {
				t.Errorf("%s has no %s", path, key)
			}
		}
	}
}

// TestAReportWithAnAddress is fetched once, kept byte for byte, and read as what it is; one
// that is not there is NOT_FOUND.
func TestAReportWithAnAddress(t *testing.T) {
	_, _, pages := planted()
	const address = "https://chat.example/share/abc?v=2"
	const body = "<!doctype html><html lang=en><title>Shared</title><body><nav>Home</nav><main><p>The port of Ardmore employs 213 people <a href='https://ports.example/ardmore/terminal'>1</a>.</p></main>"
	pages[address] = func(c *archive.Capture) { c.Hops = append(c.Hops, hop(address, 200, body)) }
	desk := run.Desk{Now: noon, Program: "test"}
	result := must.Get(audit.Make(t.Context(), desk, pages.fetch, audit.Input{URL: address, Home: t.TempDir()}))(t)
	kept, err := os.ReadFile(filepath.Join(result.AuditPath, "report.html"))
	if err != nil || string(kept) != body {
		t.Errorf("kept %q: %v", kept, err)
	}
	if r := result.Audited; r.Name != "abc.html" || r.Format != "html" || result.Summary.Found != 1 || result.Pass || result.Outcome != foreign.NoErrorByRule {
		t.Errorf("%+v %+v", r, result.Summary)
	}
	if _, err := audit.Make(t.Context(), desk, pages.fetch, audit.Input{URL: "https://chat.example/gone", Home: t.TempDir()}); tidegate.CodeOf(err) != tidegate.FileNotFound {
		t.Errorf("one that is gone: %v", err)
	}
}

// TestExactlyOneReport: neither none nor two.
func TestExactlyOneReport(t *testing.T) {
	for _, in := range []audit.Input{{}, {Report: "a", URL: "https://a.example/"}, {Report: "a", ReportPath: "/a"}} {
		in.Home = t.TempDir()
		if _, err := audit.Make(t.Context(), run.Desk{Now: noon}, nil, in); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// TestAReaderIsOffered: a person is asked about the sentences that cite something; who says no
// has the report judged by rule, and who named an agent is not asked.
func TestAReaderIsOffered(t *testing.T) {
	report, kinds, pages := planted()
	for _, test := range []struct{ named, said string }{{"", ""}, {"", "codex"}, {"gemini", ""}} {
		asked := 0
		read := func(context.Context, *audit.Parts) (string, error) { return "its budget is used up", nil }
		in := audit.Input{Report: report, Home: t.TempDir(), Verifier: test.named, Read: read, Offer: func(_ context.Context, sentences int) (string, audit.Reader, error) {
			asked = sentences
			return test.said, read, nil
		}}
		result := must.Get(audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, pages.fetch, in))(t)
		if reads := test.named + test.said; (result.Summary.Read != nil) != (reads != "") || reads != "" && (result.Summary.Read.By != reads || result.Outcome != foreign.Failed) {
			t.Errorf("%+v: %+v, %s", test, result.Summary.Read, result.Outcome)
		}
		if want := len(kinds) - 15; test.named == "" && asked != want || test.named != "" && asked != 0 {
			t.Errorf("%+v: asked about %d sentences, of %d", test, asked, want)
		}
	}
}

// TestSavedPagesSayTheirAddresses: a folder without an index has the pages that say where they
// come from, or are called by it, in files of their own, of a browser or of an archive.
func TestSavedPagesSayTheirAddresses(t *testing.T) {
	const text = "<title>Quay</title><p>The quay cost 210,000 euro in 2024, and 36 men built it in nine months of work.</p>"
	const address = "https://quays.example/cost/of-quays?year=2024"
	record := func(kind, uri, block string) string {
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, uri, len(block), block)
	}
	packed := func(s string) string {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		must.Get(w.Write([]byte(s)))(t)
		must.Do(t, w.Close())
		return out.String()
	}
	chunked := func(s string) string {
		return fmt.Sprintf("%x\r\n%s\r\n%x;part\r\n%s\r\n0\r\n\r\n", 7, s[:7], len(s)-7, s[7:])
	}
	const html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	info := record("warcinfo", "", "software: another program")
	mhtml := "From: <Saved by Blink>\r\nSnapshot-Content-Location: " + address + "\r\nSubject: Quay\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\tboundary=\"--b\"\r\n\r\n" +
		"----b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: " + address + "\r\n\r\n" + strings.ReplaceAll(text, "210,", "21=30,") + "=20\r\n----b\r\nContent-Type: text/css\r\n\r\np {}\r\n----b--\r\n"
	for name, body := range map[string]string{
		"saved.html":     "<!-- saved from url=(0027)" + address + " -->" + text,
		"single.html":    "<!doctype html><html><!--\n Page saved with SingleFile \n url: " + address + " \n saved date: today\n-->" + text,
		"based.html":     "<html><head><base href=\"" + address + "\">" + text,
		"canonical.html": "<html><head><base href='https://quays.example/'><link href='http://www.quays.example/cost/of-quays/?year=2024' rel='canonical'>" + text,
		"shared.htm":     "<html><head><meta property='og:url' content='" + address + "'>" + text,
		"page.mhtml":     mhtml,
		"Quay.mht":       mhtml,
		"all.warc":       info + record("request", address, "GET / HTTP/1.1\r\n\r\n") + record("response", "<"+address+">", html+"\r\n"+text),
		"all.warc.gz":    packed(info) + packed(record("response", address, html+"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"+chunked(packed(text)))),
		"kept.warc":      record("response", address, html+"Transfer-Encoding: chunked\r\n\r\n"+text),
		"moved.warc":     record("response", address, "HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n") + record("response", "https://quays.example/there", html+"\r\n"+text),
		"twice.warc":     record("response", address, html+"\r\n"+text) + record("response", address, "HTTP/1.1 503 Busy\r\n\r\n"),
		"resource.warc":  strings.Replace(record("resource", address, text), "application/http", "text/html", 1),
		"https%3A%2F%2Fquays.example%2Fcost%2Fof-quays%3Fyear%3D2024.html": text,
		"www.quays.example/cost/of-quays?year=2024":                        text,
		"quays.example_cost_of-quays_year=2024.html":                       text,
		"mirror/nothing.html":                                              text,
		"nothing.warc":                                                     info + record("response", "https://quays.example/other", html+"\r\n"+text),
		"quays.example_files/cost.html":                                    "<!-- saved from url=(0027)" + address + " -->" + text,
	} {
		pages := t.TempDir()
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(pages, name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(pages, name), []byte(body), 0o600))
		result, err := audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, nil, audit.Input{Report: "The quay cost 210,000 euro in 2024 [1](" + address + ").", Home: t.TempDir(), Pages: pages})
		if none := strings.Contains(name, "nothing") || strings.Contains(name, "_files"); none != (tidegate.CodeOf(err) == tidegate.SchemaValidationFailed) || !none && (err != nil || result.Summary.Found != 1 || result.Sources[0].Status != "valid") {
			t.Errorf("%s: %+v, %+v, %v", name, result.Summary, result.Sources, err)
		}
	}
	for name, body := range map[string]string{"bad.warc": "no", "cut.warc": record("response", address, html+"\r\n"+text)[:300], "bad.warc.gz": "\x1f\x8bno"} {
		pages := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(pages, name), []byte(body), 0o600))
		_, err := audit.Make(t.Context(), run.Desk{Now: noon, Program: "test"}, nil, audit.Input{Report: "The quay cost 210,000 euro [1](" + address + ").", Home: t.TempDir(), Pages: pages})
		if tidegate.CodeOf(err) != tidegate.ReadFailed || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
