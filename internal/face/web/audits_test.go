package web_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/work/audit"
)

// TestAuditsArePages: the list of audits leads to each, whose page acts on nothing.
func TestAuditsArePages(t *testing.T) {
	s := site(t.TempDir())
	report := "The ferry <script>alert(1)</script> carries 120 cars [1].\n\n# Sources\n\n[1] https://a.example/a\n"
	made, err := audit.Make(t.Context(), s.Desk, nil, audit.Input{Report: report, NoFetch: true, Home: audit.Home(s.Home)})
	if err != nil {
		t.Fatal(err)
	}
	u := visit(t, s, nil)
	if _, list := u.get(t, "/audits"); !strings.Contains(list, `href="/audits/`+made.AuditID+`"`) || !strings.Contains(list, "report.md") {
		t.Errorf("the list:\n%s", list)
	}
	_, page := u.get(t, "/audits/" + filepath.Base(made.AuditPath))
	if !strings.Contains(page, `<span class="s unchecked"`) || strings.Contains(page, "<script") {
		t.Errorf("the page:\n%s", page)
	}
}
