package source

import (
	"slices"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

// maxWords is how many words of a title are looked at.
const maxWords = 256

// like reports whether two words are the same but for their ending, or one is a
// compound that begins with the other: they begin with the same four letters and
// differ in no more than three at the end, or one is all of the other's first six
// letters or more.
func like(w, other page.Word) bool {
	if w.Text == other.Text {
		return true
	}
	if w.Script == page.Han || w.Script == page.Thai || w.Script != other.Script {
		return false
	}
	n := 0
	for n < len(w.Text) && n < len(other.Text) && w.Text[n] == other.Text[n] {
		n++
	}
	same := utf8.RuneCountInString(w.Text[:n])
	if same >= 6 && (n == len(w.Text) || n == len(other.Text)) {
		return true
	}
	return same >= 4 && utf8.RuneCountInString(w.Text[n:]) <= 3 && utf8.RuneCountInString(other.Text[n:]) <= 3
}

// wordsOf lists the words of a text, with the common ones or without.
func wordsOf(text string, common bool) []page.Word {
	var words []page.Word
	page.EachWord(text, func(w page.Word) bool {
		if (common || !page.IsCommon(w.Text)) && len(words) < maxWords {
			words = append(words, w)
		}
		return true
	})
	return words
}

// telling lists the words of a title that say what it is about: three letters or
// more, neither function words nor the words that go with any source.
func telling(title string) []page.Word {
	return slices.DeleteFunc(wordsOf(title, false), func(w page.Word) bool { return w.Script == page.Latin && len(w.Text) < 3 })
}

// inLatin reports whether the first telling word of a title is in Latin script.
func inLatin(title string) bool {
	words := telling(title)
	return len(words) > 0 && words[0].Script == page.Latin
}
