package step_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// TestOwnDocuments: what can be read is taken as it was read, what cannot is named with
// why, and a document that changes in between is not taken at all.
func TestOwnDocuments(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("fleet.csv", "Tug,Pull\nMöwe,68\n")
	write("letter.eml", "Subject: The tug\r\n\r\nIt pulls.\r\n")
	write("torn.eml", "Subject: The tug\r\nContent-Transfer-Encoding: base64\r\n\r\nSXQgcHVsbHM!\r\n")
	write("broken.docx", "PK\x03\x04 nothing")
	write("empty.txt", " \n")
	if f, err := os.Create(filepath.Join(dir, "huge.txt")); err != nil || f.Truncate(64<<20) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	must.Do(t, os.Symlink("fleet.csv", filepath.Join(dir, "same.csv")))
	socket := must.Get(net.Listen("unix", filepath.Join(dir, "waits.txt")))(t)
	defer socket.Close()
	desk := run.Desk{Reach: artifact.Everywhere, Now: func() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }, Pinned: true}
	documents := must.Get(sourcing.ReadDocuments(desk, dir))(t)
	var unread []string
	for _, u := range documents.Unread {
		unread = append(unread, u.String())
	}
	want := "broken.docx has no text that can be read\nempty.txt has no text that can be read\nhuge.txt is larger than 63 MiB\nsame.csv is a link, and only files in the folder are taken\ntorn.eml cannot be read to its end: it is broken, or has more than 64 MiB of text\nwaits.txt is a pipe, a socket or a device, and no file"
	if got := strings.Join(unread, "\n"); got != want || len(documents.List) != 2 {
		t.Errorf("%d documents; unread:\n%s", len(documents.List), got)
	}
	made := must.Get(run.Create(t.Context(), desk, t.TempDir(), run.InitInput{Query: "How strong is the tug?", RunID: "tug", Sensitivity: "no_web"}))(t)
	person := tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person})
	must.Do(t, sourcing.AttachDocuments(person, desk, made.ManifestPath, documents))
	r := must.Get(run.Open(t.Context(), desk, made.ManifestPath))(t)
	defer r.Close()
	events, err := r.EventsOf(run.EventAttached)
	if err != nil || len(events) != 2 || strings.Join(events[0].Entry.Get("left_out_files").Strs(), "\n") != want {
		t.Errorf("the log does not name the files that were left out: %v", err)
	}
	if told, _ := reporting.InWords(events[0]); !strings.Contains(told.Text, "; 6 files left out that cannot be read: broken.docx has no text that can be read; empty.txt ") {
		t.Errorf("the log is told as %q", told.Text)
	}
	list := must.Get(sourcing.AttachedDocuments(r))(t)
	var texts []string
	err = sourcing.ReadAttached(t.Context(), r, list, func(d sourcing.Document, c page.Content) bool {
		texts = append(texts, d.Name+" "+d.URL+" "+c.Text)
		return true
	})
	if got := strings.Join(texts, "\n"); err != nil || got != "fleet.csv https://files.invalid/fleet.csv Tug\tPull\nTug: Möwe\tPull: 68\nletter.eml https://files.invalid/letter.eml Subject: The tug\nIt pulls." {
		t.Errorf("%v\n%s", err, got)
	}
	write("fleet.csv", "Tug,Pull\nMöwe,70\n")
	if err := sourcing.AttachDocuments(person, desk, made.ManifestPath, documents); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("a document that has changed: %v", err)
	}
}

// TestDocumentsAreRead: prompts show an outline and the best passages, in all prompts of a
// wave together at most half of the documents, and tools answer for the rest.
func TestDocumentsAreRead(t *testing.T) {
	dir, size := t.TempDir(), 0
	for _, name := range []string{"tugs", "cranes", "fish"} {
		text := "# Harbour " + name + "\n\nThis paper of the board is about " + name + " and nothing else at all.\n\n## Costs of " + name + "\n\n"
		for i := range 400 {
			text += fmt.Sprintf("Sentence %d says that %s lie at berth %d.\n\n", i, name, i)
		}
		text += "## Winter\n\nIn winter the " + name + " need heaters for their hydraulic oil.\n"
		size += len(text)
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600))
	}
	manual := "..\n  Normally, there are no heading levels that are assigned to certain characters.\n\n#######\nBackups\n#######\n\n.. note:: and a comment of eight words that is none\n\n" +
		"A backup is kept on\na machine that stands somewhere else than here.\n\nS3-compatible storage\n*********************\n\n    # For keystone authentication\n    $ init\n\n" +
		"Regions\n=======\n\nEach region has [an endpoint](x).\n\nLocks\n*****\n\nNone.\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "manual.rst"), []byte(manual), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "publish.md"), []byte("# Code\n\n## Publish\n\nUse [MIT](x).\n\n### Steps\n\nPush it to [the mirror][m].\n\n## Use\n\nFreely.\n\n[m]: https://m.example\n"), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "faq.html"), []byte("<h1>Questions</h1><p>Is it old?<p>Is it safe?<p>Who asks Is it safe? asks late.<h3>Is it old?<a>¶</a></h3><p>Yes, it is.<h3>Is it safe?</h3><p>Nobody knows."), 0o600))
	desk := run.Desk{Reach: artifact.Everywhere, Now: func() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }, Pinned: true}
	documents := must.Get(sourcing.ReadDocuments(desk, dir))(t)
	made := must.Get(run.Create(t.Context(), desk, t.TempDir(), run.InitInput{Query: "What do tugs need?", RunID: "tug", Sensitivity: "no_web"}))(t)
	must.Do(t, sourcing.AttachDocuments(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), desk, made.ManifestPath, documents))
	r := must.Get(run.Open(t.Context(), desk, made.ManifestPath))(t)
	defer r.Close()
	list := must.Get(sourcing.AttachedDocuments(r))(t)
	quoted := must.Get(sourcing.Quote(t.Context(), r, list, []string{"hydraulic heaters of tugs in winter", "what cranes lift", "the price of fish"}))(t)
	passages := 0
	for _, q := range quoted {
		for _, p := range q.Passages {
			passages += len(p.Text)
		}
		if len(q.Passages) == 0 || !strings.Contains(q.Outline, "- fish.md https://files.invalid/fish.md") || !strings.Contains(q.Outline, "headings: Harbour fish | Costs of fish | Winter") ||
			!strings.Contains(q.Outline, "begins: This paper of the board is about fish and") ||
			!strings.Contains(q.Outline, "headings: Backups | S3-compatible storage | Regions | Locks\n  begins: A backup is kept on a machine that stands somewhere") {
			t.Errorf("%d passages, and the outline\n%s", len(q.Passages), q.Outline)
		}
	}
	if passages > size/2 || passages < size/8 {
		t.Errorf("the prompts of a wave show %d of %d bytes", passages, size)
	}
	if best := quoted[0].Passages[0]; best.Name != "tugs.md" || !strings.Contains(best.Text, "hydraulic") {
		t.Errorf("the best passage is %q of %s", best.Text, best.Name)
	}
	ask := func(tool string, arguments ...string) string {
		t.Helper()
		named := map[string]string{}
		for i := 0; i < len(arguments); i += 2 {
			named[arguments[i]] = arguments[i+1]
		}
		return must.Get(sourcing.Consult(t.Context(), r, tool, named))(t)
	}
	for _, test := range []struct{ got, want string }{
		{ask("read", "document", "fish.md", "section", "Winter"), "Winter\nIn winter the fish need heaters for their hydraulic oil."},
		{ask("read", "document", "https://files.invalid/tugs.md"), "Harbour tugs\nThis paper"},
		{ask("read", "document", "publish.md", "section", "publish") + "|", "Publish\nUse MIT.\nSteps\nPush it to the mirror.\n|"},
		{ask("read", "document", "manual.rst", "section", "S3-compatible storage"), "S3-compatible storage\n*********************\n\n    # For keystone authentication\n    $ init\n\nRegions\n=======\n\nEach region has [an endpoint](x).\n"},
		{ask("read", "document", "faq.html", "section", "Is it old?¶") + "|", "Is it old?¶\nYes, it is.\n|"},
		{ask("read", "document", "faq.html", "section", "### is it safe?") + "|", "Is it safe?\nNobody knows.|"},
		{ask("look_for", "words", "nobody knows safe"), "faq.html https://files.invalid/faq.html, below the heading Is it safe?:"},
		{ask("read", "document", "manual.rst", "section", "For keystone authentication"), "no heading is "},
		{ask("read", "document", "tugs.md", "from", "100000000"), "from is a whole number below "},
		{ask("read", "document", "ships.md"), `no document is called "ships.md"; these are the documents:`},
		{ask("read", "document", "tugs.md", "section", "Summer"), `no heading is "Summer"; the headings are: Harbour tugs | Costs of tugs | Winter`},
		{ask("look_for", "words", "hydraulic oil of cranes"), "cranes.md https://files.invalid/cranes.md"},
		{ask("look_for", "words", "submarine"), "no document has a passage with these words"},
	} {
		if !strings.HasPrefix(test.got, test.want) {
			t.Errorf("got %q, want %q", test.got[:min(len(test.got), 200)], test.want)
		}
	}
	if looked := ask("look_for", "words", "sentence berth tugs cranes fish"); len(looked) < 3<<10 || len(looked) > 5<<10 {
		t.Errorf("look_for shows %d bytes", len(looked))
	}
	event := func(answer string) string {
		raw := must.Get(codec.Marshal(codec.Of(tidegate.Pairs("type", "tool", "name", "read", "arguments", tidegate.Pairs("document", "fish.md", "section", "Winter"), "answer_digest", codec.DigestBytes([]byte(answer))))))(t)
		line := must.Get(codec.Marshal(codec.Of(tidegate.Pairs("kind", "tool", "raw", string(raw)))))(t)
		return strings.ReplaceAll(string(line), "\n", " ") + "\n"
	}
	for answer, same := range map[string]bool{ask("read", "document", "fish.md", "section", "Winter"): true, "another": false} {
		if differs, err := sourcing.ConsultAgain(t.Context(), r, event(answer)); err != nil || (differs == "") != same {
			t.Errorf("an answer that is the same (%v) differs: %q, %v", same, differs, err)
		}
	}
}
