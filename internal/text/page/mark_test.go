package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/text/page"
)

func TestMarksOfAPieceOfHTML(t *testing.T) {
	kinds := map[page.MarkKind]string{page.TextMark: "text", page.StartMark: "start", page.EndMark: "end", page.OpenMark: "open"}
	for piece, want := range map[string]string{
		"a <b>c</B > d":                      `text "a " start b "<b>" text "c" end b "</B >" text " d"`,
		"1 < 2 <3":                           `text "1 < 2 <3"`,
		"x<!-- <b> -->y<!x>z<!-->":           `text "x" text "y" text "z"`,
		"<!-- x --!>y":                       `text "y"`,
		"x<!-- y>":                           `text "x" open "<!-- y>"`,
		"<!--!>":                             `open "<!--!>"`,
		"<?x":                                `open "<?x"`,
		"<script>a<b></script>":              `start script "<script>" text "a" start b "<b>" end script "</script>"`,
		`<A HREF="x&amp;y" id=b/>`:           `start a "<A HREF=\"x&amp;y\" id=b/>" href=x&y "HREF=\"x&amp;y\"" id=b/ "id=b/"`,
		"<p hidden a = 'b' a=c / >":          `start p "<p hidden a = 'b' a=c / >" hidden= "hidden" a=b "a = 'b'" a=c "a=c"`,
		"x <a title='b\" href=java&#58;c> y": `text "x " open a "<a title='b\" href=java&#58;c> y" title=b" href=java:c> y "title='b\" href=java&#58;c> y"`,
	} {
		var got []string
		for m := range page.Marks([]byte(piece)) {
			parts := []string{kinds[m.Kind]}
			if m.Name != "" {
				parts = append(parts, m.Name)
			}
			parts = append(parts, fmt.Sprintf("%q", piece[m.Start:m.End]))
			for _, a := range m.Attributes {
				parts = append(parts, fmt.Sprintf("%s=%s %q", a.Name, a.Value, piece[a.Start:a.End]))
			}
			got = append(got, strings.Join(parts, " "))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", piece, got, want)
		}
	}
}
