package planted

import (
	"fmt"
	"strings"
)

// pdf is a one-page document with these lines.
func pdf(lines []string) string {
	var text strings.Builder
	text.WriteString("BT /F1 10 Tf 14 TL 40 800 Td\n")
	escape := strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`)
	for _, line := range lines {
		fmt.Fprintf(&text, "(%s) Tj T*\n", escape.Replace(line))
	}
	text.WriteString("ET")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", text.Len(), text.String()),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}
	var out strings.Builder
	out.WriteString("%PDF-1.4\n")
	var places []int
	for i, object := range objects {
		places = append(places, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, place := range places {
		fmt.Fprintf(&out, "%010d 00000 n \n", place)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return out.String()
}
