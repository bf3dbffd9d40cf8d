package step_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// fetcher is how a run reaches the planted web.
func fetcher(t testing.TB, web *planted.Web) sourcing.Fetch {
	options := fetch.Options{Now: runs.Pinned.Now, Jitter: func() float64 { return 0.5 }, Resolve: web.Resolve, Dial: web.Dial, Roots: web.Roots(), Limits: fetch.DefaultLimits}
	options.Limits.MaxBody = 2 << 20
	client := fetch.New(options)
	t.Cleanup(client.Close)
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		return client.Each(ctx, urls, keep, nil)
	}
}

// noFetch fails the test when something is fetched.
func noFetch(t testing.TB) sourcing.Fetch {
	return func(_ context.Context, urls []string, _ func([]*archive.Packed) error) error {
		t.Errorf("%d pages are fetched, such as %s", len(urls), urls[0])
		return nil
	}
}

// outputOf is an output that cites pages.
func outputOf(pages ...planted.Page) string {
	var b strings.Builder
	b.WriteString("## Findings\n\nText.\n\n## Sources\n\n")
	for _, page := range pages {
		fmt.Fprintf(&b, "- [%s](<%s>)\n", strings.NewReplacer("[", `\[`, "]", `\]`).Replace(page.Title), page.URL)
	}
	return b.String() + "\n## Gaps\n\nNone.\n"
}

// citing makes a run whose first wave has one output.
func citing(t *testing.T, in run.InitInput, output string) run.InitResult {
	t.Helper()
	made := runs.Create(t, in)
	runs.Put(t, made.Root, "wave-1/p1.md", output)
	return made
}

// honest are planted pages without a fault.
func honest(n int) []planted.Page {
	var pages []planted.Page
	for _, page := range planted.Pages() {
		if page.Kind == planted.Honest && !strings.Contains(page.Variant, "slow") && len(page.Sentences) > 0 && len(pages) < n {
			pages = append(pages, page)
		}
	}
	return pages
}

func validate(t *testing.T, made run.InitResult, fetch sourcing.Fetch, in sourcing.CitationsInput) sourcing.CitationsResult {
	t.Helper()
	in.ManifestPath, in.Reason = made.ManifestPath, cmp.Or(in.Reason, "test")
	out := must.Get(sourcing.ValidateCitations(t.Context(), runs.Pinned, fetch, in))(t)
	return out
}

func gateC(t *testing.T, made run.InitResult) run.Judgement { return judgement(t, made, "C") }

func records(t *testing.T, made run.InitResult) []source.Record {
	t.Helper()
	path := filepath.Join(made.Root, "citations", "citations.jsonl")
	list := must.Get(source.ParseRecords(path, []byte(must.Read(t, path))))(t)
	return list
}

// TestNoWebOpensNoConnection runs a run of sensitivity no_web with the planted web:
// nothing is asked for, no source is checked, and gate C does not pass.
func TestNoWebOpensNoConnection(t *testing.T) {
	web := planted.New()
	defer web.Close()
	made := citing(t, run.InitInput{Sensitivity: "no_web"}, outputOf(honest(5)...))
	out := validate(t, made, noFetch(t), sourcing.CitationsInput{})
	if out.Mode != "offline" || out.OnlineDryRun != nil || out.Statuses.Blocked != 5 {
		t.Errorf("%+v", out)
	}
	_, err := sourcing.FetchSources(t.Context(), runs.Pinned, fetcher(t, web), sourcing.FetchInput{ManifestPath: made.ManifestPath})
	runs.WantCode(t, err, tidegate.InvalidState)
	_, err = sourcing.Replace(t.Context(), runs.Pinned, fetcher(t, web), sourcing.ReplaceInput{ManifestPath: made.ManifestPath, CID: records(t, made)[0].CID, URL: honest(1)[0].URL})
	runs.WantCode(t, err, tidegate.InvalidState)
	if dialed := web.Dialed(); len(dialed) > 0 {
		t.Errorf("dialled %v", dialed)
	}
	for _, r := range records(t, made) {
		if r.Status != source.Blocked || r.Notes != source.NotChecked || r.CheckedAt != "2026-02-14T12:00:00.000Z" {
			t.Errorf("%+v", r)
		}
	}
	gate := gateC(t, made)
	if gate.Passed() || line(t, gate.Metrics) != `{"validated_url_rate":0,"invalid_url_rate":1,"uncategorized_url_rate":0,"archived_rate":0,"unchecked":5}` {
		t.Errorf("%s %s", gate.Status(), line(t, gate.Metrics))
	}

	// A person's file is evidence.
	for _, r := range records(t, made) {
		file := filepath.Join(t.TempDir(), "page.txt")
		text := r.FoundBy[0].SourceLine + " " + strings.Repeat("The tide is moved by the moon and the sun, and measured in a stilling well. ", 20)
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
		got, err := sourcing.Attach(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), runs.Pinned, sourcing.AttachInput{ManifestPath: made.ManifestPath, CID: r.CID, FilePath: file, Reason: "no network"})
		if err != nil || got.Status != "valid" || got.Attached != "page.txt" {
			t.Fatalf("%+v %v", got, err)
		}
	}
	if gate := gateC(t, made); gate.Passed() || !slices.Contains(gate.Warnings, "STALE_CITATIONS") {
		t.Errorf("records from before the files count: %+v", gate)
	}
	validate(t, made, noFetch(t), sourcing.CitationsInput{})
	if gate := gateC(t, made); !gate.Passed() {
		t.Errorf("%+v", gate)
	}
	if r := records(t, made)[0]; !r.Attached || r.Notes != "ok: attached by a person" {
		t.Errorf("%+v", r)
	}
}

// TestGateCBelievesNoRecord forges what gate C is about, one thing at a time.
func TestGateCBelievesNoRecord(t *testing.T) {
	full.Story(t)
	t.Parallel()
	pages := honest(4)
	gone := planted.Page{URL: "https://nowhere.invalid/report", Title: "Nowhere"}
	web := planted.New()
	defer web.Close()
	fetch := fetcher(t, web)
	fresh := func(t *testing.T, output string) run.InitResult {
		made := citing(t, run.InitInput{}, output)
		validate(t, made, fetch, sourcing.CitationsInput{})
		return made
	}
	t.Run("as it is", func(t *testing.T) {
		if gate := gateC(t, fresh(t, outputOf(pages...))); !gate.Passed() {
			t.Fatalf("%+v", gate)
		}
	})
	attacks := map[string]struct {
		attack func(t *testing.T, made run.InitResult)
		want   string
	}{
		"a status is written over": {func(t *testing.T, made run.InitResult) {
			path := "citations/citations.jsonl"
			runs.Put(t, made.Root, path, strings.ReplaceAll(must.Read(t, filepath.Join(made.Root, path)), `"invalid"`, `"valid"`))
		}, "STALE_CITATIONS"},
		"a record is left out": {func(t *testing.T, made run.InitResult) {
			path := "citations/citations.jsonl"
			lines := strings.SplitAfter(must.Read(t, filepath.Join(made.Root, path)), "\n")
			runs.Put(t, made.Root, path, strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "nowhere.invalid") }), ""))
		}, "STALE_CITATIONS"},
		"an output cites one more": {func(t *testing.T, made run.InitResult) {
			runs.Put(t, made.Root, "wave-1/p2.md", outputOf(planted.Page{URL: "https://late.example/x", Title: "Late"}))
		}, "STALE_CITATIONS"},
		"the archive is gone": {func(t *testing.T, made run.InitResult) {
			must.Do(t, os.Remove(filepath.Join(made.Root, "evidence", "archive.warc.gz")))
		}, "STALE_CITATIONS"},
		"the index is another one": {func(t *testing.T, made run.InitResult) {
			runs.Put(t, made.Root, "evidence/index.json", "{}\n")
		}, "STALE_CITATIONS"},
		"an archive of one's own": {func(t *testing.T, made run.InitResult) {
			// A record that no line of the log names does not count.
			r := runs.Open(t, made.ManifestPath)
			a := must.Get(archive.Open(t.Context(), r.Folder(), "evidence/archive.warc.gz", nil))(t)
			lock := must.Get(r.Folder().Lock(t.Context(), time.Now))(t)
			defer lock.Unlock()
			forged := must.Get(archive.Pack(archive.Capture{URL: gone.URL, Kind: archive.Responded, Time: runs.Pinned.Now(), Hops: []archive.Hop{{URL: gone.URL, Time: runs.Pinned.Now(), Status: 200,
				Header: []archive.Field{{Name: "Content-Type", Value: "text/plain"}}, Body: []byte(strings.Repeat("Nowhere is a place with much text. ", 50))}}}))(t)
			must.Get(a.Append(t.Context(), lock, forged))(t)
			lock.Unlock()
			validate(t, made, noFetch(t), sourcing.CitationsInput{DryRun: true})
		}, "TOO_FEW_VALID_SOURCES"},
	}
	for name, tt := range attacks {
		t.Run(name, func(t *testing.T) {
			made := fresh(t, outputOf(append(slices.Clone(pages), gone)...))
			if gate := gateC(t, made); gate.Passed() || line(t, gate.Warnings) != `["TOO_FEW_VALID_SOURCES"]` {
				t.Fatalf("one source in five is not there: %+v", gate)
			}
			tt.attack(t, made)
			gate := gateC(t, made)
			if gate.Passed() || !slices.Contains(gate.Warnings, tt.want) {
				t.Errorf("%s: %v, want %s", gate.Status(), gate.Warnings, tt.want)
			}
		})
	}
}

// TestFetchingResumes ends a fetch again and again after a few pages, as a kill
// does, and continues it: nothing that counts is asked for twice, and in the end
// everything is there.
func TestFetchingResumes(t *testing.T) {
	full.Story(t)
	t.Parallel()
	pages := honest(40)
	made := citing(t, run.InitInput{}, outputOf(pages...))
	web := planted.New()
	defer web.Close()
	all := fetcher(t, web)
	killed := errors.New("killed")
	asked := map[string]int{}
	rounds := 0
	for ; rounds < 50; rounds++ {
		kept := 0
		_, err := sourcing.FetchSources(t.Context(), runs.Pinned, func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
			few := urls[:min(len(urls), 7)]
			return all(ctx, few, func(batch []*archive.Packed) error {
				end := len(urls) > 7 && kept+len(batch) > 4
				if end {
					batch = batch[:4-kept]
				}
				kept += len(batch)
				for _, packed := range batch {
					asked[packed.Entry().URL]++
				}
				if err := keep(batch); err != nil || !end {
					return err
				}
				return killed // what is in flight is lost
			})
		}, sourcing.FetchInput{ManifestPath: made.ManifestPath})
		if err == nil {
			break
		}
		if !errors.Is(err, killed) {
			t.Fatal(err)
		}
	}
	out, err := sourcing.FetchSources(t.Context(), runs.Pinned, noFetch(t), sourcing.FetchInput{ManifestPath: made.ManifestPath})
	if err != nil || out.Missing != 0 || out.Fetched != 0 {
		t.Errorf("%+v %v", out, err)
	}
	for url, n := range asked {
		if n != 1 {
			t.Errorf("%s was kept %d times", url, n)
		}
	}
	if len(asked) != len(pages) || rounds < 2 {
		t.Errorf("%d pages in %d rounds", len(asked), rounds)
	}
}

// TestBlockedSourcesAreTriedAgain fetches with again what was blocked, and
// nothing else.
func TestBlockedSourcesAreTriedAgain(t *testing.T) {
	pages := honest(3)
	made := citing(t, run.InitInput{}, outputOf(pages...))
	web := planted.New()
	defer web.Close()
	down := func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for i, url := range urls {
			if i > 0 {
				packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Unreachable, Time: runs.Pinned.Now()})
				if err != nil {
					return err
				}
				if err := keep([]*archive.Packed{packed}); err != nil {
					return err
				}
				continue
			}
			if err := fetcher(t, web)(ctx, urls[:1], keep); err != nil {
				return err
			}
		}
		return nil
	}
	if out := validate(t, made, down, sourcing.CitationsInput{}); out.Statuses.Blocked != 2 || out.BlockedCount != 2 || out.QueuePath == nil {
		t.Fatalf("%+v", out)
	}
	if queue := must.Read(t, filepath.Join(made.Root, "citations", "blocked-urls.queue.md")); !strings.Contains(queue, "blocked_count: 2") {
		t.Error(queue)
	}
	out, err := sourcing.FetchSources(t.Context(), runs.Pinned, fetcher(t, web), sourcing.FetchInput{ManifestPath: made.ManifestPath, Again: true})
	if err != nil || out.Fetched != 2 || out.Responded != 2 {
		t.Fatalf("%+v %v", out, err)
	}
	if out := validate(t, made, noFetch(t), sourcing.CitationsInput{}); out.Statuses.Valid != 3 || out.QueuePath != nil {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(made.Root, "citations", "blocked-urls.queue.md")); err == nil {
		t.Error("the queue of nothing is still there")
	}
}

// TestARefusedAddressIsTriedAgain fetches, with again, an address that was refused
// before a person allowed it.
func TestARefusedAddressIsTriedAgain(t *testing.T) {
	pages := honest(2)
	made := citing(t, run.InitInput{}, outputOf(pages...))
	refuse := func(_ context.Context, urls []string, keep func([]*archive.Packed) error) error {
		for _, url := range urls {
			packed, err := archive.Pack(archive.Capture{URL: url, Kind: archive.Refused, Time: runs.Pinned.Now()})
			if err != nil {
				return err
			}
			if err := keep([]*archive.Packed{packed}); err != nil {
				return err
			}
		}
		return nil
	}
	if out := validate(t, made, refuse, sourcing.CitationsInput{}); out.Statuses.Invalid != 2 {
		t.Fatalf("%+v", out)
	}
	web := planted.New()
	defer web.Close()
	for _, again := range []bool{false, true} {
		out, err := sourcing.FetchSources(t.Context(), runs.Pinned, fetcher(t, web), sourcing.FetchInput{ManifestPath: made.ManifestPath, Again: again})
		if want := map[bool]int{true: 2}[again]; err != nil || out.Responded != want {
			t.Errorf("again %v: %+v %v", again, out, err)
		}
	}
	if out := validate(t, made, noFetch(t), sourcing.CitationsInput{}); out.Statuses.Valid != 2 {
		t.Errorf("%+v", out)
	}
}

// TestReplacedSource judges a source by the page that a person named in its
// place. The record keeps its id and the URL that was cited.
func TestReplacedSource(t *testing.T) {
	pages := honest(2)
	lost := planted.Page{URL: "https://nowhere.invalid/report", Title: pages[1].Title}
	made := citing(t, run.InitInput{}, outputOf(pages[0], lost))
	web := planted.New()
	defer web.Close()
	validate(t, made, fetcher(t, web), sourcing.CitationsInput{})
	cid := source.CID("https://nowhere.invalid/report")
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	out, err := sourcing.Replace(person, runs.Pinned, fetcher(t, web), sourcing.ReplaceInput{ManifestPath: made.ManifestPath, CID: cid, URL: pages[1].URL, Reason: "it moved"})
	if err != nil || !out.Fetched || out.Status != "valid" {
		t.Fatalf("%+v %v", out, err)
	}
	validate(t, made, noFetch(t), sourcing.CitationsInput{})
	var got source.Record
	for _, r := range records(t, made) {
		if r.CID == cid {
			got = r
		}
	}
	if got.Status != source.Valid || got.ReplacedBy != pages[1].URL || got.URLOriginal != lost.URL || got.NormalizedURL != lost.URL {
		t.Errorf("%+v", got)
	}
	if gate := gateC(t, made); !gate.Passed() {
		t.Errorf("%+v", gate)
	}
	for name, in := range map[string]sourcing.ReplaceInput{
		"not cited":   {CID: "cid_0", URL: pages[1].URL},
		"no URL":      {CID: cid, URL: "ftp://x/"},
		"credentials": {CID: cid, URL: "https://user:secret@example.org/"},
	} {
		in.ManifestPath = made.ManifestPath
		if _, err := sourcing.Replace(person, runs.Pinned, noFetch(t), in); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGoldenVectorsOfTheCitationTools are digests that the earlier system
// computed.
func TestGoldenVectorsOfTheCitationTools(t *testing.T) {
	made := citing(t, run.InitInput{}, "## Sources\n\n- <https://example.com/doc?id=2>\n- <https://example.com/doc/?utm_source=news&id=2>\n")
	validate(t, made, noFetch(t), sourcing.CitationsInput{DryRun: true})
	if got := must.Read(t, filepath.Join(made.Root, "citations", "normalized-urls.txt")); got != "https://example.com/doc?id=2\n" {
		t.Error(got)
	}
	for url, cid := range map[string]string{
		"https://example.com": "cid_0f115db062b7c0dd030b16878c99dea5c354b49dc37b38eb8846179c7783e9d7", "https://Example.com:443/path/?b=2&a=1&utm_source=abc#frag": "cid_94ab2087f4c4ce19d248cfbab9e2b19cc5065e443510f7f37cab7347aaa7df0c",
	} {
		made := citing(t, run.InitInput{}, "## Sources\n\n- <"+url+">\n")
		validate(t, made, noFetch(t), sourcing.CitationsInput{DryRun: true})
		if got := records(t, made)[0].CID; got != cid {
			t.Errorf("%s: %s", url, got)
		}
	}
	empty := citing(t, run.InitInput{}, "## Sources\n")
	validate(t, empty, noFetch(t), sourcing.CitationsInput{})
	gate := gateC(t, empty)
	if gate.InputsDigest != "sha256:41fdacda18032de711c80af517d3320a42ef7046116a986e27c3622b2483a130" || line(t, gate.Warnings) != `["NO_URLS_EXTRACTED"]` {
		t.Errorf("%+v", gate)
	}
}

// TestGroundingReadsTheArchive checks a document against pages that were fetched,
// and says that a claim could not be checked where its source was not.
func TestGroundingReadsTheArchive(t *testing.T) {
	page := honest(1)[0]
	missing := planted.Page{URL: "https://nowhere.invalid/report", Title: "Nowhere"}
	made := citing(t, run.InitInput{}, outputOf(page, missing))
	web := planted.New()
	defer web.Close()
	validate(t, made, fetcher(t, web), sourcing.CitationsInput{})
	normalized := must.Get(link.Normalize(page.URL))(t)
	quotation := page.Sentences[0]
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", fmt.Sprintf("- It says “%s” [@%s].\n- It says “nobody ever wrote these words there” [@%s].\n- It says “%s” [@%s].\n",
		quotation, source.CID(normalized), source.CID(normalized), quotation, source.CID(missing.URL)))
	out, err := sentences.Ground(t.Context(), runClock, sentences.GroundInput{ManifestPath: made.ManifestPath})
	if err != nil || out.Pass || len(out.Claims) != 3 {
		t.Fatalf("%+v %v", out, err)
	}
	for i, want := range []string{"grounded", "ungrounded", "unchecked"} {
		if out.Claims[i].Verdict != want {
			t.Errorf("claim %d: %+v", i, out.Claims[i])
		}
	}
	var text strings.Builder
	if err := report.Markdown(&text, out.Report(), report.Options{}); err != nil || !strings.Contains(text.String(), "#:~:text=") {
		t.Errorf("%s %v", text.String(), err)
	}
	elsewhere := filepath.Join(t.TempDir(), "doc.md")
	must.Do(t, os.WriteFile(elsewhere, []byte("Nothing.\n"), 0o644))
	agent := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Agent})
	_, err = sentences.Ground(agent, runClock, sentences.GroundInput{ManifestPath: made.ManifestPath, DocumentPath: elsewhere, Dir: made.Root})
	runs.WantCode(t, err, tidegate.PathNotAllowed)
	if _, err := sentences.Ground(agent, runClock, sentences.GroundInput{ManifestPath: made.ManifestPath, DocumentPath: elsewhere, Dir: filepath.Dir(elsewhere)}); err != nil {
		t.Error(err)
	}
}
