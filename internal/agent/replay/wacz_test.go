package replay_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/played"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/test/signing"
)

// readersKey is a key whose signatures readers of web archives verify.
func readersKey(t testing.TB) (*seal.Key, *seal.Signers) {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))(t)
	return signing.With(t, private)
}

func zipped(t *testing.T, data []byte) map[string]string {
	t.Helper()
	files := must.Get(zip.NewReader(bytes.NewReader(data), int64(len(data))))(t)
	out := map[string]string{}
	for _, f := range files.File {
		in := must.Get(f.Open())(t)
		text := must.Get(io.ReadAll(in))(t)
		out[f.Name] = string(text)
	}
	return out
}

// TestAWebArchiveIsASealToo: verified as any seal is, every byte of it counts, and with
// -full the same bytes twice.
func TestAWebArchiveIsASealToo(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "second-wave")
	for kind, make := range map[string]func(testing.TB) (*seal.Key, *seal.Signers){"P-384": readersKey, "Ed25519": signing.New} {
		if !full.Asked() && kind != "P-384" {
			continue
		}
		key, signers := make(t)
		data := must.Get(replay.Seal(t.Context(), open(t, root), key, program, true))(t)
		if full.Asked() {
			again, err := replay.Seal(t.Context(), open(t, root), key, program, true)
			if err != nil || !bytes.Equal(data, again) {
				t.Errorf("%s: another file the second time, %v", kind, err)
			}
		}
		out, err := unseal(t, data, signers)
		if err != nil || !out.Pass {
			t.Fatalf("%s: %s %v %v", kind, differences(out.Replay), out.Findings, err)
		}
		files := zipped(t, data)
		if signed := strings.Contains(files["datapackage-digest.json"], `"signedData"`); signed != (kind == "P-384") {
			t.Errorf("%s: signed for readers of web archives: %v", kind, signed)
		}
		for i := 0; i < len(data); i += full.Stride(len(data), 60) {
			changed := bytes.Clone(data)
			changed[i] ^= 1 << (i % 8)
			if _, err := seal.Open(changed, signers, pinned.Now()); tidegate.CodeOf(err) != tidegate.Tampered {
				t.Fatalf("%s: byte %d of %d changed: %v", kind, i, len(data), err)
			}
		}
		wantResponses(t, files)
	}
}

// wantResponses demands an index of answers: none of the records about captures.
func wantResponses(t *testing.T, files map[string]string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(files["indexes/index.cdx"]), "\n")
	if !slices.IsSorted(lines) || len(lines) < 2 {
		t.Errorf("the index is not in order: %q", lines)
	}
	for _, line := range lines {
		parts := strings.SplitN(line, " ", 3)
		var at struct {
			URL, Filename  string
			Offset, Length int
		}
		if len(parts) != 3 || json.Unmarshal([]byte(parts[2]), &at) != nil {
			t.Fatalf("not a line of an index: %q", line)
		}
		record := []byte(files["archive/"+at.Filename][at.Offset : at.Offset+at.Length])
		if text := string(gunzip(t, record)); !strings.HasPrefix(text, "WARC/1.1\r\nWARC-Type: response\r\n") || !strings.Contains(text, "WARC-Target-URI: "+at.URL+"\r\n") {
			t.Errorf("%s leads to %.200q", at.URL, text)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(files["pages/pages.jsonl"]), "\n")[1:] {
		var page struct{ URL string }
		if err := json.Unmarshal([]byte(line), &page); err != nil || !strings.Contains(files["indexes/index.cdx"], `"url":"`+page.URL+`"`) {
			t.Errorf("a page that is not in the index: %s %v", line, err)
		}
	}
}

// gunzip is a record that may be compressed.
func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data
	}
	cmd := exec.Command("gzip", "-dc")
	cmd.Stdin = bytes.NewReader(data)
	out := must.Get(cmd.Output())(t)
	return out
}

// TestAWebArchiveWithMoreThanItsRun: readers of web archives look for indexes and
// archives in every folder, so one that somebody put there is refused, whoever signs.
func TestAWebArchiveWithMoreThanItsRun(t *testing.T) {
	t.Parallel()
	root := played.Lay(t, t.TempDir(), "no-second-wave")
	key, signers := readersKey(t)
	data, err := replay.Seal(t.Context(), open(t, root), key, program, true)
	if err != nil {
		t.Fatal(err)
	}
	honest := must.Get(seal.Open(data, signers, pinned.Now()))(t)
	for name, change := range full.Some(map[string]func([]seal.File) []seal.File{
		"another index":           func(files []seal.File) []seal.File { return append(files, seal.File{Name: "indexes/more.cdx"}) },
		"an index among its run":  func(files []seal.File) []seal.File { return append(files, seal.File{Name: "run/logs/x.CDXJ"}) },
		"an archive of its own":   func(files []seal.File) []seal.File { return append(files, seal.File{Name: "run/x.warc.gz"}) },
		"another file beside it":  func(files []seal.File) []seal.File { return append(files, seal.File{Name: "webarchive.yaml"}) },
		"an index of other pages": func(files []seal.File) []seal.File { return changed(files, "indexes/index.cdx", "200", "404") },
		"another report to read":  func(files []seal.File) []seal.File { return changed(files, "archive/report.warc", "200", "404") },
		"pages under other names": func(files []seal.File) []seal.File { return changed(files, "pages/pages.jsonl", "Report", "Truth") },
	}, 1) {
		var forged bytes.Buffer
		must.Do(t, seal.WriteWACZ(t.Context(), &forged, key, change(slices.Clone(honest.Files)), honest.Predicate))
		if out, err := unseal(t, forged.Bytes(), signers); err != nil || out.Pass {
			t.Errorf("%s: %v %v", name, out.Pass, err)
		}
	}
	var bare bytes.Buffer
	must.Do(t, seal.WriteWACZ(t.Context(), &bare, nil, honest.Files, honest.Predicate))
	_, err = unseal(t, bare.Bytes(), signers)
	runs.WantCode(t, err, tidegate.Tampered)
	must.Do(t, os.WriteFile(filepath.Join(root, "planted.cdx"), []byte("com,example)/ 2026 {}\n"), 0o600))
	data = must.Get(replay.Seal(t.Context(), open(t, root), key, program, true))(t)
	if out, err := unseal(t, data, signers); err != nil || !out.Pass || !slices.Equal(out.LeftOut, []string{"planted.cdx"}) {
		t.Errorf("what nobody recorded is not named: %v %v %v", out.Pass, out.LeftOut, err)
	}
}

func changed(files []seal.File, name, from, to string) []seal.File {
	i := slices.IndexFunc(files, func(f seal.File) bool { return f.Name == name })
	files[i].Data = bytes.Replace(files[i].Data, []byte(from), []byte(to), 1)
	return files
}

// replayer is what people open web archives with, in a browser.
const replayer = "replaywebpage@2.5.3"

// TestAForeignReaderOpensASealedRun: replayweb.page shows, in Chromium, the report and
// the pages that it cites, finds every digest and the signature right, and finds one that
// is not.
func TestAForeignReaderOpensASealedRun(t *testing.T) {
	if os.Getenv("TIDEGATE_OUTSIDERS") == "" {
		t.Skip("set TIDEGATE_OUTSIDERS=1 to open a sealed run with replayweb.page in Chromium")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skipf("no chromium: %v", err)
	}
	site := fetchedReplayer(t)
	root := played.Lay(t, t.TempDir(), "second-wave")
	key, signers := readersKey(t)
	data := must.Get(replay.Seal(t.Context(), open(t, root), key, program, true))(t)
	opened := must.Get(seal.Open(data, signers, pinned.Now()))(t)
	// What people and agents wrote becomes names, titles and addresses there.
	opened.Predicate.Set("question", codec.Of(hostile))
	var evil bytes.Buffer
	must.Do(t, seal.WriteWACZ(t.Context(), &evil, key, changed(opened.Files, "pages/pages.jsonl", `"title":"`, `"title":`+hostileJSON+`,"was":"`), opened.Predicate))
	forged := bytes.Replace(data, []byte(`"wacz_version": "1.1.1"`), []byte(`"wacz_version": "1.1.2"`), 1)
	served := map[string][]byte{"/sealed.wacz": data, "/checked.wacz": data, "/evil.wacz": evil.Bytes(), "/forged.wacz": forged}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if coll, ok := strings.CutPrefix(r.URL.Path, "/open/"); ok {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><script src="/ui.js"></script><replay-web-page source="/%[1]s.wacz" coll="%[1]s" url="%[2]s" embed="default" replayBase="/replay/"></replay-web-page>`, coll, seal.ReportURL)
			return
		}
		if coll, ok := strings.CutPrefix(r.URL.Path, "/check/"); ok {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><script>(async () => {
				await navigator.serviceWorker.register('/replay/sw.js?serveIndex=1&useHashCheck=1', {scope: '/replay/'});
				let worker;
				while (!(worker = (await navigator.serviceWorker.getRegistration('/replay/')).active)?.scriptURL.includes('useHashCheck')) await new Promise(r => setTimeout(r, 50));
				worker.postMessage({msg_type: 'addColl', name: '%[1]s', file: {sourceUrl: location.origin + '/%[1]s.wacz'}});
				document.body.append(Object.assign(document.createElement('iframe'), {src: '/replay/w/api/index'}));
			})()</script><body>`, coll)
			return
		}
		if page, ok := strings.CutPrefix(r.URL.Path, "/page"); ok {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><iframe src="%s"></iframe>`, page)
			return
		}
		if file := served[r.URL.Path]; file != nil {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
			return
		}
		http.ServeFile(w, r, filepath.Join(site, filepath.Base(r.URL.Path)))
	}))
	defer server.Close()
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU)...)
	defer stop()
	tab, leave := chromedp.NewContext(allocator)
	defer leave()
	must.Do(t, chromedp.Do(tab))
	// The reader's own page finds the pages of the archive.
	visit(t, tab, server.URL+"/open/sealed")
	await(t, tab, `(async () => {
		const host = document.querySelector('replay-web-page');
		const frame = (host?.shadowRoot || host)?.querySelector('iframe');
		const answer = await frame?.contentWindow.fetch('/replay/w/api/c/sealed?all=1').catch(() => null);
		return answer?.ok ? await answer.text() : '';
	})()`, func(text string) bool {
		return strings.Contains(text, `"url":"`+seal.ReportURL+`"`) && strings.Contains(text, "Report: Should the harbour")
	})
	// Its worker shows them, and compares digests when it is asked to.
	for coll, valid := range map[string]bool{"checked": true, "evil": true, "forged": false} {
		visit(t, tab, server.URL+"/check/"+coll)
		await(t, tab, `document.querySelector('iframe')?.contentWindow.fetch('/replay/w/api/c/`+coll+`?all=1').then(r => r.ok ? r.text() : '').catch(() => '') ?? ''`,
			func(text string) bool { return strings.Contains(text, seal.ReportURL) })
		for line := range strings.Lines(zipped(t, data)["pages/pages.jsonl"]) {
			var page struct{ URL string }
			if err := json.Unmarshal([]byte(line), &page); err != nil || page.URL == "" {
				continue
			}
			visit(t, tab, server.URL+"/page/replay/w/"+coll+"/mp_/"+page.URL)
			await(t, tab, `document.querySelector('iframe').contentDocument?.body?.innerText || ''`, func(text string) bool {
				return len(strings.Fields(text)) > 20 && (page.URL != seal.ReportURL || strings.Contains(text, "How this report was made"))
			})
		}
		for _, what := range []string{"signature", "datapackage.json", "pages/pages.jsonl"} {
			await(t, tab, `(async () => {
				const of = (r) => new Promise((yes, no) => { r.onsuccess = () => yes(r.result); r.onerror = no; });
				const db = await of(indexedDB.open('db:`+coll+`'));
				const all = await of(db.transaction('verification').objectStore('verification').getAll());
				db.close();
				return all.filter(v => v.id.endsWith('`+what+`')).map(v => String(v.matched)).join();
			})()`, func(text string) bool { return text == fmt.Sprint(valid || what != "datapackage.json") })
		}
		if ran, err := chromedp.Run(tab, chromedp.Evaluate[bool](`!!top.ran`)); ran || err != nil {
			t.Errorf("%s: a title runs: %v", coll, err)
		}
	}
}

const (
	hostile     = "\"><script>top.ran=1</script><img src=x onerror=top.ran=1>\u202e\n](javascript:top.ran=1)"
	hostileJSON = `"\"><script>top.ran=1</script><img src=x onerror=top.ran=1>\u202e\n"`
)

func visit(t *testing.T, tab context.Context, url string) {
	t.Helper()
	ctx, stop := context.WithTimeout(tab, 30*time.Second)
	defer stop()
	must.Do(t, chromedp.Do(ctx, chromedp.Navigate(url)))
}

// await asks until the answer will do.
func await(t *testing.T, tab context.Context, expression string, will func(string) bool) {
	t.Helper()
	var text string
	var err error
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); {
		if text, err = chromedp.Run(tab, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise)); err == nil && will(text) {
			return
		}
	}
	t.Fatalf("%s: %.2000s %v", expression, text, err)
}

// fetchedReplayer is a folder with what npm has of the replayer.
func fetchedReplayer(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(cache, "tidegate-test", replayer)
	if _, err := os.Stat(filepath.Join(dir, "package", "sw.js")); err != nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Skip(err)
		}
		fetch := exec.Command("sh", "-c", "npm pack --fetch-retries=0 "+replayer+" && tar xzf *.tgz")
		fetch.Dir = dir
		if out, err := fetch.CombinedOutput(); err != nil {
			t.Skipf("npm does not have %s: %v\n%s", replayer, err, out)
		}
	}
	return filepath.Join(dir, "package")
}
