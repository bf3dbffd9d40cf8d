package page

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestABadLineOfAListIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"# about\n\n[de]\nSeite\n\n[*]\n404\n": "",
		"Seite\n":                              `words.txt:1: "Seite" stands under no language`,
		"# about\n[german]\nSeite\n":           `words.txt:2: "german" is no language`,
		"[de]\na\n[fr]\nb\n[de]\nc\n":          `words.txt:5: "[de]" stands there twice`,
		"[de]\na\nb\na\n":                      `words.txt:4: "a" stands there twice`,
	} {
		got := ""
		list, err := readList(fstest.MapFS{"words.txt": {Data: []byte(text)}}, "words.txt")
		if err != nil {
			got = err.Error()
		} else if len(list) != 2 || list[0] != (Entry{"de", "Seite"}) || list[1] != (Entry{"*", "404"}) {
			t.Errorf("%q: %v", text, list)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestLists reads the lists of this package: words are written as they are compared.
func TestLists(t *testing.T) {
	for _, name := range []string{"function-words", "common-words"} {
		for _, e := range List(lists, "lists/"+name+".txt") {
			for w := range strings.FieldsSeq(e.Text) {
				EachWord(w, func(plain Word) bool {
					if plain.Text != w {
						t.Errorf("%s: [%s] %s is compared as %s", name, e.Language, w, plain.Text)
					}
					return true
				})
			}
		}
	}
}
