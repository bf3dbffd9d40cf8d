package source

import (
	"path"
	"testing"

	"github.com/tidegate/tidegate/internal/text/page"
)

// TestLists reads every list: each is parsed, and is written as phrases are compared.
func TestLists(t *testing.T) {
	files, err := lists.ReadDir("lists")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d lists, %v", len(files), err)
	}
	for _, file := range files {
		list := page.List(lists, path.Join("lists", file.Name()))
		if len(list) == 0 {
			t.Errorf("%s has no entry", file.Name())
		}
		for _, e := range list {
			if plain := lowerPhrase(e.Text); plain != e.Text || len(plain) < 3 && e.Language != "*" {
				t.Errorf("%s: [%s] %q is compared as %q, and has three bytes or more", file.Name(), e.Language, e.Text, plain)
			}
		}
	}
}
