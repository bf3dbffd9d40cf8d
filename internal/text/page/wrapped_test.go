package page_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/text/page"
)

// TestWrappedTextHasALineForEachParagraph: sentences of a plain text that was wrapped are
// whole, and whatever ended before its line was full stays a line.
func TestWrappedTextHasALineForEachParagraph(t *testing.T) {
	const wrapped = `Threat Model
============

The design goals for the archive include being able to securely store
backups in a location that is not completely trusted by the people who
use it.

-  The archive is not designed to protect against attackers deleting
   files at the storage location. There is nothing that can be
   done about this. If this needs to be guaranteed, get a location
   without any access from third parties.
-  The user uses an authentic copy.
1. First the harbour was dredged down to a depth of twelve metres, in
   two winters.

Quay 4, Harbour Street
1010 Velden
Telephone in the morning

  rm ~/.config/harbour/manifest-of-this-time
  harbour delete --cache-only

It was opened in the year 1912 by the people of the town, among
them the pilots.
`
	const want = `Threat Model
============

The design goals for the archive include being able to securely store backups in a location that is not completely trusted by the people who use it.

-  The archive is not designed to protect against attackers deleting files at the storage location. There is nothing that can be done about this. If this needs to be guaranteed, get a location without any access from third parties.
-  The user uses an authentic copy.
1. First the harbour was dredged down to a depth of twelve metres, in two winters.

Quay 4, Harbour Street
1010 Velden
Telephone in the morning

  rm ~/.config/harbour/manifest-of-this-time
  harbour delete --cache-only

It was opened in the year 1912 by the people of the town, among them the pilots.
`
	for _, kind := range []string{"", "text/plain; charset=utf-8", "application/octet-stream"} {
		c := page.Read([]byte(wrapped), kind)
		if diff := cmp.Diff(want, c.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
		if diff := cmp.Diff([]string{"Threat Model"}, c.Headings); diff != "" {
			t.Errorf("%s: headings (-want +got):\n%s", kind, diff)
		}
	}
	for name, same := range map[string]string{
		"a poem":          "The tide comes in,\nthe tide goes out,\nand no one knows\nwhat it is about,\nthe harbour sleeps\n",
		"long lines":      strings.Repeat(strings.Repeat("the tugs lie at the quay all night ", 8)+"\n", 4),
		"a mail's quotes": "> The tugs lie at the quay in the night, all four of them, and the crews\n> sleep ashore.\n> The tugs lie at the quay in the night, all four of them, and the crews\n",
		"a table":         "tug\tpower of its engine in kilowatts, as it was measured\tyear\nAnna\t2000 kilowatts, as it was measured by the makers of it\t1999\nBerta\t2000 kilowatts, as it was measured by the makers of it\t1998\n",
		"nothing":         "",
	} {
		if got := page.Read([]byte(same), "text/plain").Text; got != same {
			t.Errorf("%s becomes\n%s", name, got)
		}
	}
	if got := page.Read([]byte(wrapped), "application/json").Text; got != wrapped {
		t.Errorf("what is no prose becomes\n%s", got)
	}
}
