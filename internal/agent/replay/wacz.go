package replay

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// Where readers of web archives look.
const (
	waczArchive = "archive/archive.warc.gz"
	waczReport  = "archive/report.warc"
	waczIndex   = "indexes/index.cdx"
	waczPages   = "pages/pages.jsonl"
)

// web is what a sealed file has more for readers of web archives: the report as a page,
// an index of answers, and a list of pages. All of it follows from the rest.
type web []seal.File

// cited is a page that a report cites, under the addresses by which it may be archived.
type cited struct {
	title string
	urls  []string
}

// webOfRun is for a run whose report is sealed at a time.
func webOfRun(ctx context.Context, r *run.Run, reported reporting.Reported, at string) (web, error) {
	pages, err := sourcing.Pages(ctx, r)
	if err != nil {
		return nil, err
	}
	var sources []cited
	for i := range reported.Records {
		record := &reported.Records[i]
		sources = append(sources, cited{record.Title, []string{record.URL, record.ReplacedBy, record.URLOriginal, record.NormalizedURL}})
	}
	return webOf(ctx, pages, reported.Report.Question, reported.Report.HTML(), sources, at)
}

// webOfAudit is for an audit that is shown by a page.
func webOfAudit(ctx context.Context, a *audit.Audit, shown []byte, at string) (web, error) {
	result, err := a.Again(ctx)
	if err != nil {
		return nil, err
	}
	var sources []cited
	for i := range result.Sources {
		sources = append(sources, cited{result.Sources[i].Title, []string{result.Sources[i].URL}})
	}
	return webOf(ctx, a.Pages(), "the audit of "+a.ReportName(), shown, sources, at)
}

func webOf(ctx context.Context, pages *archive.List, title string, report []byte, sources []cited, at string) (web, error) {
	when, ok := tidegate.ParseTime(at)
	if !ok {
		return nil, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("sealed_at", at), "the seal does not say when it was made")
	}
	lines, err := pages.Index(ctx, "archive.warc.gz")
	if err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, passesForReport)
	found := map[string]string{} // URL → when its last answer came
	for _, line := range lines {
		found[line.URL] = tidegate.Stamp(line.Time)
	}
	page, first := archive.Single(archive.Hop{URL: seal.ReportURL, Time: when, Status: 200,
		Header: []archive.Field{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, Body: report}, "report.warc")
	index, err := archive.CDXJ(append(lines, first))
	if err != nil {
		return nil, err
	}
	list := bytes.NewBufferString(`{"format":"json-pages-1.0","id":"pages","title":"The report, and what it cites"}` + "\n")
	add := func(id int, url, ts, title string) error {
		line, err := codec.MarshalLine(tidegate.Pairs("id", strconv.Itoa(id), "url", url, "ts", ts, "title", strings.ToValidUTF8(cmp.Or(title, url), "\uFFFD")))
		list.Write(append(line, '\n'))
		return err
	}
	err = add(0, seal.ReportURL, at, "Report: "+title)
	for i, source := range sources {
		n := slices.IndexFunc(source.urls, func(url string) bool { return found[url] != "" })
		if n >= 0 && err == nil {
			err = add(i+1, source.urls[n], found[source.urls[n]], source.title)
		}
	}
	return web{{Name: waczReport, Data: page}, {Name: waczIndex, Data: index}, {Name: waczPages, Data: list.Bytes()}}, err
}

// passesForReport reports whether an answer came from the host of the report, which does not
// exist: some networks answer for every name, and a reader would show that page as the
// report.
func passesForReport(line archive.Indexed) bool {
	report, _ := url.Parse(seal.ReportURL)
	from, err := url.Parse(line.URL)
	return err != nil || strings.EqualFold(strings.TrimRight(from.Hostname(), "."), report.Hostname())
}

// write seals files with what readers of web archives need. It returns INVALID_STATE for
// a file of the run that such a reader would take for an archive or an index.
func (w web) write(ctx context.Context, key *seal.Key, files []seal.File, about *codec.Value) ([]byte, error) {
	files = slices.Clone(files)
	for i := range files {
		if name := files[i].Name; name == inRun+run.ArchiveFile || name == inAudit+run.ArchiveFile {
			files[i].Name = waczArchive
		} else if mistaken(files[i].Name) {
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("file", files[i].Name), "readers of web archives would take a file for an archive or an index that is none: %q", files[i].Name)
		}
	}
	var out bytes.Buffer
	err := seal.WriteWACZ(ctx, &out, key, append(files, w...), about)
	return out.Bytes(), err
}

// mistaken reports whether a reader of web archives would look into a file that is not
// meant for it: some look for these names in every folder.
func mistaken(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{".cdx", ".cdxj", ".cdx.gz", ".idx", ".warc", ".warc.gz", ".wacz", ".har"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// compare holds what lies beside a run or audit in its seal against w. Nothing else may
// lie there.
func (w web) compare(kept map[string][]byte) []Step {
	var steps []Step
	made := map[string]bool{sealedHTML: true, sealedMarkdown: true}
	for _, file := range w {
		made[file.Name] = true
		steps = append(steps, same(file.Name, kept[file.Name], file.Data))
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if !made[name] {
			steps = append(steps, Step{What: name, Difference: "no such file belongs into the seal"})
		}
	}
	return steps
}
