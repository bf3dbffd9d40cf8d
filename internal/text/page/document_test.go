package page_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/text/page"
)

func TestTablesOfText(t *testing.T) {
	for name, tt := range map[string]struct{ kind, body, want string }{
		"commas":       {"text/csv", "Tug,Pull\r\nMöwe,\"68,5\"\r\n", "Tug\tPull\nTug: Möwe\tPull: 68,5"},
		"semicolons":   {"text/csv", "Tug;Pull\nMöwe;68,5\n\nEnte;70\n", "Tug\tPull\nTug: Möwe\tPull: 68,5\nTug: Ente\tPull: 70"},
		"tabs":         {"text/tab-separated-values", "Tug\tPull\nMöwe\t68\n", "Tug\tPull\nTug: Möwe\tPull: 68"},
		"no header":    {"text/csv", "1,2\n3,4\n", "1\t2\n3\t4"},
		"years above":  {"text/csv", "Tug,2024,2025\nMöwe,68,70\n", "Tug\t2024\t2025\nTug: Möwe\t2024: 68\t2025: 70"},
		"a formula":    {"text/csv", "Tug,Pull\n=1+1,@SUM(A1)\n", "Tug\tPull\nTug: =1+1\tPull: @SUM(A1)"},
		"a torn quote": {"text/csv", "Tug,Pull\n\"Möwe,68\n", "Tug\tPull\nTug: Möwe,68"},
		"a plain text": {"text/plain", "Tug,Pull\nMöwe,68\n", "Tug,Pull\nMöwe,68\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := page.Read([]byte(tt.body), tt.kind); got.Text != tt.want {
				t.Errorf("got %q, want %q", got.Text, tt.want)
			}
		})
	}
}

const mail = "Received: from x\r\nFrom: =?utf-8?q?Ada_B=C3=B6m?= <ada@example.org>\r\nTo: bob@example.org\r\nDate: Tue, 4 Mar 2025 10:00:00 +0100\r\nSubject: The tug\r\n of ours\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"out\"\r\n\r\nfor old programs\r\n" +
	"--out\r\nContent-Type: multipart/alternative; boundary=in\r\n\r\n--in\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nIt pulls 68 tonnes, in short.\r\n--in\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>It pulls 68=20tonnes.</p><p hidden>unseen</p>\r\n--in--\r\n" +
	"--out\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=\"fleet.csv\"\r\nContent-Transfer-Encoding: base64\r\n\r\nVHVnLFB1bGwKTcO2d2UsNjgK\r\n" +
	"--out\r\nContent-Type: message/rfc822\r\n\r\nSubject: Re: The winch\r\n\r\nIt holds.\r\n--out--\r\n"

func TestMail(t *testing.T) {
	got := page.Read([]byte(mail), "message/rfc822")
	want := "From: Ada Böm <ada@example.org>\nTo: bob@example.org\nDate: Tue, 4 Mar 2025 10:00:00 +0100\nSubject: The tug of ours\nIt pulls 68 tonnes.\nAttached: fleet.csv\nTug\tPull\nTug: Möwe\tPull: 68\nSubject: Re: The winch\nIt holds."
	if got.Text != want || got.Title != "The tug of ours" || got.Published != "2025-03-04" || got.Cut || got.Media != page.Document {
		t.Errorf("title %q, published %q, cut %v, text:\n%s", got.Title, got.Published, got.Cut, got.Text)
	}
	nested := "Subject: x\r\n\r\ninside"
	for range 20 {
		nested = "Subject: x\r\nContent-Type: message/rfc822\r\n\r\n" + nested
	}
	var packages bytes.Buffer // more attachments than are unpacked
	z := zip.NewWriter(&packages)
	w, _ := z.Create("word/document.xml")
	fmt.Fprintf(w, "<w:p><w:r><w:t>%s</w:t></w:r></w:p>", strings.Repeat(" ", 1<<14))
	z.Close()
	attached := "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\nContent-Transfer-Encoding: base64\r\n\r\n"+base64.StdEncoding.EncodeToString(packages.Bytes())+"\r\n", 60) + "--b--\r\n"
	for name, body := range map[string]string{"many packages": attached, "many parts": "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\nx\r\n", 600) + "--b--\r\n", "mails in mails": nested, "no boundary": "Subject: x\r\nContent-Type: multipart/mixed\r\n\r\n--a\r\n", "torn": mail[:strings.Index(mail, "tonnes.</p>")], "bad base64": "Subject: x\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n"} {
		if got := page.Read([]byte(body), "message/rfc822"); !got.Cut {
			t.Errorf("%s: it is said to be whole: %q", name, got.Text)
		}
	}
	if got := page.Read([]byte("no mail at all"), "message/rfc822"); got.Media != page.Other {
		t.Errorf("%+v", got)
	}
}

func FuzzMail(f *testing.F) {
	f.Add(mail)
	f.Fuzz(func(t *testing.T, body string) {
		got := page.Read([]byte(body), "message/rfc822")
		if strings.Contains(got.Text, "\r") {
			t.Errorf("%q", got.Text)
		}
	})
}
