package web_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/store"
)

// TestAuditsArePages: the list of audits leads to each, whose page acts on nothing.
func TestAuditsArePages(t *testing.T) {
	s := site(t.TempDir())
	report := "The ferry <script>alert(1)</script> carries 120 cars [1].\n\n# Sources\n\n[1] https://a.example/a\n"
	made := must.Get(audit.Make(t.Context(), s.Desk, nil, audit.Input{Report: report, NoFetch: true, Home: store.Audits.Home(s.Home)}))(t)
	u := visit(t, s, nil)
	if _, list := u.get(t, "/audits"); !strings.Contains(list, `href="/audits/`+made.AuditID+`"`) || !strings.Contains(list, "report.md") {
		t.Errorf("the list:\n%s", list)
	}
	for i := range 8 {
		must.Get(audit.Make(t.Context(), s.Desk, nil, audit.Input{Report: report + strings.Repeat(".", i), NoFetch: true, Home: store.Audits.Home(s.Home)}))(t)
	}
	if _, list := u.get(t, "/audits"); !strings.Contains(list, `Finished</a> <span class="num">8+</span>`) {
		t.Errorf("eight of nine are all:\n%s", list)
	}
	_, page := u.get(t, "/audits/"+filepath.Base(made.AuditPath))
	if !strings.Contains(page, `id="s1"`) || !strings.Contains(page, `data-state="doubtful"`) || strings.Contains(page, "<script>") {
		t.Errorf("the page:\n%s", page)
	}
}

// TestOurOwnReportAuditsAsItsRun audits the report of the demo: every sentence stands as
// it does in the run, where agents of ours wrote it.
func TestOurOwnReportAuditsAsItsRun(t *testing.T) {
	full.Story(t)
	s := demoSite(t)
	r := must.Get(run.Open(t.Context(), s.Desk, filepath.Join(s.Home, "harbour", run.ManifestFile)))(t)
	defer r.Close()
	reported := must.Get(reporting.ReadReport(t.Context(), r, false, "tidegate (devel)"))(t)
	claims := must.Get(sentences.ReadClaims(r))(t)
	result := must.Get(audit.Make(t.Context(), s.Desk, demo.Pages{Now: s.Desk.Now}.Fetch, audit.Input{Report: string(reported.Report.Markdown()), Home: t.TempDir()}))(t)
	// An audit reads the rows of a table without its header, and the open questions, which claim nothing.
	claims.Sentences = slices.DeleteFunc(claims.Sentences, func(c evidence.Claim) bool { return strings.HasPrefix(c.Text, "Boat") })
	result.Sentences = slices.DeleteFunc(result.Sentences, func(s foreign.Judged) bool { return strings.Contains(s.Text, " | ") || strings.Contains(s.Text, " #") })
	if len(result.Sentences) != len(claims.Sentences) {
		t.Fatalf("%d sentences, of which the run has %d", len(result.Sentences), len(claims.Sentences))
	}
	for i, c := range claims.Sentences {
		got := result.Sentences[i]
		aboutRun := len(c.CIDs) == 1 && c.CIDs[0] == evidence.RunCID // of which a stranger knows nothing
		if got.Text != c.Text || got.Standing != c.Standing && !aboutRun {
			t.Errorf("line %d: %s %q, in the run %s %q", got.Line, got.Standing, got.Text, c.Standing, c.Text)
		}
	}
}
