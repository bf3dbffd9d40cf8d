package web

import (
	"context"
	"net/http"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// download is a file that a report can be had as.
type download struct{ Ending, Name, kind string }

// downloads are the files that a report can be had as.
var downloads = []download{
	{"html", "HTML", "text/html; charset=utf-8"},
	{"pdf", "PDF", "application/pdf"},
	{"docx", "Word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"bib", "BibTeX", "application/x-bibtex; charset=utf-8"},
}

// download answers with the report of a run as a file.
func (s *server) download(w http.ResponseWriter, r *http.Request) {
	l, done, err := s.open(r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	defer done()
	for _, d := range downloads {
		if d.Ending != r.PathValue("format") {
			continue
		}
		data, err := l.reportAs(r.Context(), d.Ending)
		if err != nil {
			s.problem(w, r, err)
			return
		}
		w.Header().Set("Content-Type", d.kind)
		w.Header().Set("Content-Security-Policy", textPolicy)
		w.Header().Set("Content-Disposition", `attachment; filename="`+artifact.FileName(l.run.ID())+"."+d.Ending+`"`)
		_, _ = w.Write(data)
		return
	}
	s.problem(w, r, tidegate.Errorf(tidegate.FileNotFound, nil, "a report cannot be had as that"))
}

// reportAs is the report as a file of that ending. It returns NOT_FOUND where nothing can
// print, and the errors of reading the report.
func (l *visit) reportAs(ctx context.Context, ending string) ([]byte, error) {
	reported, err := l.readReport(ctx, l.site.Version)
	if err != nil {
		return nil, err
	}
	switch ending {
	case "html":
		return l.readDocument(ctx, l.site.Version)
	case "pdf":
		if l.site.PDF == nil {
			return nil, tidegate.Errorf(tidegate.FileNotFound, nil, "nothing here prints PDF: download the HTML and print that")
		}
		l.site.printing.Lock() // a browser at a time
		defer l.site.printing.Unlock()
		return l.site.PDF(ctx, reported.Report.PrintHTML(), reported.Report.CreatedAt)
	case "bib":
		return reported.Export("bibtex")
	}
	return reported.Export(ending)
}
