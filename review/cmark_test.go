package review_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

// TestStructureByCmark asks a second CommonMark reader.
func TestStructureByCmark(t *testing.T) {
	cmark, err := exec.LookPath("cmark")
	if err != nil {
		t.Skip("cmark is not installed")
	}
	texts := append([]string{"-\n\nx\n\n", "1.\n\nx"}, hostile...)
	for i, text := range texts {
		if blank(text) || len(text) > 2000 {
			continue
		}
		p := sample(verdicts[i%3])
		for _, field := range fields {
			field.set(&p, text)
		}
		data := review.Format(p, nil)
		if got, want := cmarkShape(t, cmark, data), expectedShape(p, nil); got != want {
			t.Errorf("structure with %q\n got %s\nwant %s\nfile:\n%s", text, got, want, data)
		}
	}
}

func cmarkShape(t *testing.T, cmark string, data []byte) string {
	t.Helper()
	cmd := exec.Command(cmark, "-t", "xml")
	cmd.Stdin = bytes.NewReader(data)
	out := must.Get(cmd.Output())(t)
	var document struct {
		Blocks []struct {
			XMLName xml.Name
			Level   string     `xml:"level,attr"`
			Items   []struct{} `xml:"item"`
		} `xml:",any"`
	}
	must.Do(t, xml.Unmarshal(out, &document))
	names := map[string]string{"heading": "Heading", "list": "List", "paragraph": "Paragraph", "block_quote": "Blockquote"}
	var b strings.Builder
	for _, block := range document.Blocks {
		b.WriteString(names[block.XMLName.Local] + block.Level)
		if block.XMLName.Local == "list" {
			fmt.Fprintf(&b, "(%d)", len(block.Items))
		}
		b.WriteByte(' ')
	}
	return b.String()
}
