package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/work/reporting"
)

// offered are the formats in which pages offer a report.
var offered = []string{"html", "pdf", "docx", "bibtex"}

func downloads() []reporting.Format {
	var list []reporting.Format
	for _, name := range offered {
		i := slices.IndexFunc(reporting.Formats, func(f reporting.Format) bool { return f.Name == name })
		list = append(list, reporting.Formats[i])
	}
	return list
}

// download answers with the report of a run as a file.
func (s *server) download(w http.ResponseWriter, r *http.Request) {
	l, done, err := s.open(r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	defer done()
	for _, d := range downloads() {
		if d.Ending != r.PathValue("format") {
			continue
		}
		data, err := l.reportAs(r.Context(), d.Name)
		if err != nil {
			s.problem(w, r, err)
			return
		}
		w.Header().Set("Content-Type", d.Media)
		w.Header().Set("Content-Security-Policy", guard.TextPolicy)
		w.Header().Set("Content-Disposition", `attachment; filename="`+artifact.FileName(l.run.ID())+"."+d.Ending+`"`)
		_, _ = w.Write(data)
		return
	}
	format := tidegate.Cut(r.PathValue("format"))
	s.problem(w, r, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("format", format), "a report has no format %q; its page links to those it has", format))
}

// reportAs is the report in a format. It returns the errors of reading the report and of
// [reporting.Reported.Export].
func (l *visit) reportAs(ctx context.Context, format string) ([]byte, error) {
	reported, err := l.readReport(ctx, l.site.Version)
	switch {
	case err != nil:
		return nil, err
	case format == "html":
		return l.readDocument()
	case format == "pdf":
		l.site.printing.Lock() // a browser at a time
		defer l.site.printing.Unlock()
	}
	return reported.Export(ctx, format, l.site.PDF)
}
