package claim

import (
	"slices"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/page"
)

// kin are the words of a page by what words of other languages share with them: a beginning,
// such as that of verification and Verifikation, or the whole, as the end of a compound.
type kin struct{ begin, whole map[string][]int32 }

// kinLetters is how many letters a word shares at least with its kin.
const kinLetters = 5

// kinOf reads the words of the page, once.
func (r *reading) kinOf() *kin {
	if r.kin != nil {
		return r.kin
	}
	r.kin = &kin{map[string][]int32{}, map[string][]int32{}}
	at := 0
	add := func(to map[string][]int32, key string) {
		if p := to[key]; len(p) == 0 || p[len(p)-1] != int32(at) {
			to[key] = append(p, int32(at))
		}
	}
	page.EachFolded(r.page.Text, func(word []byte, from int) {
		for at+1 < len(r.passages) && from >= r.passages[at+1].start {
			at++
		}
		if text := string(word); isContent(text) {
			if text = loaned(text); len(text) >= kinLetters {
				add(r.kin.begin, text[:kinLetters])
				add(r.kin.whole, text)
			}
		}
	})
	return r.kin
}

// like are the passages that have kin of a word.
func (k *kin) like(word string) (at []int32) {
	if word = loaned(word); len(word) < kinLetters {
		return nil
	}
	at = slices.Clone(k.begin[word[:kinLetters]])
	for from := 1; from <= len(word)-kinLetters; from++ {
		at = append(at, k.whole[word[from:]]...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// foreign chooses the windows of a page in another language by the facts that they hold, and
// then by what its words share with those of the sentence.
func (r *reading) foreign(a *asked, holds *picker) []candidate {
	kin := picker{reading: r, named: holds.named}
	for _, it := range holds.items {
		if it.fact {
			kin.items = append(kin.items, it)
		}
	}
	add := func(at []int32) {
		if len(at) > 0 {
			kin.items = append(kin.items, item{at: at, weight: weightOf(len(at), len(r.passages))})
		}
	}
	var quoted []int32
	for i, is := range r.quoted {
		if is {
			quoted = append(quoted, int32(i))
		}
	}
	add(quoted)
	known := map[string]bool{}
	page.EachFolded(a.text, func(word []byte, _ int) {
		text := string(word)
		if known[text] || !isContent(text) {
			return
		}
		known[text] = true
		add(r.kinOf().like(text))
		if id, wanted := r.words[string(a.endings.stem(word))]; wanted {
			add(r.postings[id])
		}
	})
	runs, _ := kin.weigh()
	return kin.pick(kin.byRow(runs), looseWindows+MaxFurther, false)
}

// loaned is a folded word as languages share it, "" in another script than that of Latin.
func loaned(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) {
		return ""
	}
	word = sounds.Replace(word)
	var b strings.Builder
	for i := range len(word) {
		if i == 0 || word[i] != word[i-1] {
			b.WriteByte(word[i])
		}
	}
	return b.String()
}

// sounds are spellings of one sound, as loan words have them.
var sounds = strings.NewReplacer("ph", "f", "th", "t", "ck", "c", "k", "c", "z", "c", "qu", "c", "y", "i", "j", "i", "w", "v")
