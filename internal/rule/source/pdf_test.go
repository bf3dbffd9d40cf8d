package source_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestAPDFFileIsJudgedByItsText(t *testing.T) {
	body := must.Get(os.ReadFile("../../text/page/testdata/chromium.pdf"))(t)
	page := &source.Page{URL: "https://a.test/x.pdf", Status: 200, ContentType: "application/pdf", Body: body}
	if r := judgeOne(t, "https://a.test/x.pdf", "Tides of the North Sea", page); r.Status != source.Valid || r.Notes != "ok" || !strings.Contains(r.Snippet, "Tides") {
		t.Errorf("%+v", r)
	}
	page.Body = body[:200]
	if r := judgeOne(t, "https://a.test/x.pdf", "Tides of the North Sea", page); r.Status != source.Valid || r.Notes != "ok: no text can be read from it" {
		t.Errorf("a broken file: %+v", r)
	}
}
