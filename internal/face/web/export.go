package web

import (
	"context"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Export writes the pages of a run as files into a folder that does not exist yet:
// the same pages as the server's, each list on one page, with nothing that needs a
// server, and their description as an RO-Crate. It returns how many files it wrote. It also returns the errors of reading
// the run, and those of [artifact.CreateFolder]; then nothing was written.
func Export(ctx context.Context, site *Site, manifest, dir string) (files int, err error) {
	found, done, err := site.snapshot(ctx, manifest)
	if err != nil {
		return 0, err
	}
	defer done()
	l := &visit{snapshot: found, ctx: ctx, site: site, link: fileLink, id: found.run.ID(), size: math.MaxInt32, files: true}
	err = artifact.Everywhere.CreateFolder("html", dir, func(draft *artifact.Draft) error {
		var names []string
		write := func(name string, data []byte) error {
			names = append(names, name)
			return draft.Write(name, data)
		}
		if err := l.export(write); err != nil {
			return err
		}
		described, err := reporting.Crate(l.run, l.records, slices.Clone(names), fileLink("document", l.run.ID()), l.site.Version)
		if err != nil {
			return err
		}
		err = write(reporting.CrateFile, described)
		files = len(names)
		return err
	})
	return files, err
}

func (l *visit) export(write func(name string, data []byte) error) error {
	if err := write(fileLink("style"), []byte(styleText)); err != nil {
		return err
	}
	put := func(name string, p *page, err error) error {
		if err != nil {
			return err
		}
		data, err := p.render()
		if err != nil {
			return err
		}
		return write(name, data)
	}
	id := l.run.ID()
	for _, view := range []struct {
		name  string
		build func() (*page, error)
	}{
		{"run", l.runPage},
		{"made", func() (*page, error) { return l.madePage(url.Values{}) }},
		{"jobs", func() (*page, error) { return l.jobsPage(url.Values{}) }},
		{"outputs", l.outputsPage},
		{"gates", l.gatesPage},
		{"sources", func() (*page, error) { return l.sourcesPage(url.Values{}) }},
		{"report", l.reportPage},
		{"log", func() (*page, error) { return l.logPage(url.Values{}) }},
	} {
		p, err := view.build()
		if err := put(fileLink(view.name, id), p, err); err != nil {
			return err
		}
	}
	for _, j := range l.board.Jobs() {
		p, err := l.jobPage(j.ID)
		if err := put(fileName("job", j.ID)+".html", p, err); err != nil {
			return err
		}
		if err := l.exportTexts(j.ID, write); err != nil {
			return err
		}
	}
	document, err := l.readDocument()
	if err != nil {
		return err
	}
	return write(fileLink("document", id), document)
}

// exportTexts writes the prompts and answers of a job, whole and as text.
func (l *visit) exportTexts(id string, write func(name string, data []byte) error) error {
	shown, err := l.board.Show(id)
	if err != nil {
		return err
	}
	for _, a := range shown.Attempts {
		names := []string{"prompt.md"}
		for _, s := range a.Submissions {
			names = append(names, s.Answer)
		}
		for _, name := range names {
			data, err := l.run.Folder().Read(run.AttemptDir(a.JobID, a.Number) + "/" + name)
			if err != nil {
				continue // the page of the job says so
			}
			if err := write(textFile(id, number(a.Number), name), data); err != nil {
				return err
			}
		}
	}
	return nil
}

func fileName(kind, id string) string { return kind + "-" + artifact.FileName(id) }

// textFile is the name of a text. Its ending is ours: a browser must not show a file
// as a page because an agent named it so.
func textFile(job, attempt, name string) string {
	return fileName("text", job) + "-" + attempt + "-" + strings.ReplaceAll(artifact.FileName(name), ".", "-") + ".txt"
}

// fileLink is the address of a page among files that lie in one folder.
func fileLink(view string, args ...string) string {
	switch view {
	case "style":
		return "style.css"
	case "run", "runs":
		return "index.html"
	case "job":
		return url.PathEscape(fileName("job", args[1]) + ".html")
	case "text":
		return url.PathEscape(textFile(args[1], args[2], args[3]))
	case "document":
		return "report-document.html"
	case "new", "newAudit", "ask": // nothing is started from files
		return ""
	}
	return view + ".html"
}
