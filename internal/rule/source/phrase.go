package source

import (
	"embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/page"
)

//go:embed lists
var lists embed.FS

// phraseList is a list of phrases by which pages say what they are, as phrases are
// compared, read when it is first asked for. They are looked for in titles, headings
// and the text of short pages only: an article about a phrase is not an example of it.
func phraseList(name string) func() []string {
	return sync.OnceValue(func() []string {
		var phrases []string
		for _, e := range page.List(lists, "lists/"+name+".txt") {
			phrases = append(phrases, lowerPhrase(e.Text))
		}
		return phrases
	})
}

// search finds the first of its phrases in one pass over a text, however many
// phrases it has. Each has three bytes or more.
type search struct {
	phrases []string
	begins  [1 << searchBits / 8]byte // a bit for the key of each beginning
	from    map[uint32][]int          // by that key, which phrases begin so
}

// searchBits is the size of a key: with 16 bits few places of a text have the key
// of a phrase, and the table of a list is small.
const searchBits = 16

// searchKey is the key of three bytes, the first of them in the highest place.
func searchKey(three uint32) uint32 {
	return (three & 0xffffff) * 0x9e3779b1 >> (32 - searchBits)
}

func searchFor(name string) func() *search {
	phrases := phraseList(name)
	return sync.OnceValue(func() *search { return newSearch(phrases()) })
}

func newSearch(phrases []string) *search {
	s := &search{phrases: phrases, from: map[uint32][]int{}}
	for i, phrase := range phrases {
		key := searchKey(uint32(phrase[0])<<16 | uint32(phrase[1])<<8 | uint32(phrase[2]))
		s.begins[key/8] |= 1 << (key % 8)
		s.from[key] = append(s.from[key], i)
	}
	return s
}

// in is the first phrase of the list that a text holds anywhere.
func (s *search) in(text string) (string, bool) {
	first := len(s.phrases)
	var three uint32
	for at := range len(text) {
		three = three<<8 | uint32(text[at])
		key := searchKey(three)
		if s.begins[key/8]&(1<<(key%8)) == 0 || at < 2 {
			continue
		}
		for _, i := range s.from[key] {
			if i < first && strings.HasPrefix(text[at-2:], s.phrases[i]) {
				first = i
			}
		}
	}
	if first == len(s.phrases) {
		return "", false
	}
	return s.phrases[first], true
}

// The lists of this package, each in its file, which says what it is for.
var (
	notFoundNames     = phraseList("not-found")
	notFoundPaths     = phraseList("not-found-paths")
	parkedPhrases     = searchFor("parked")
	placeholderNames  = phraseList("placeholders")
	siteWords         = searchFor("site-words")
	domainWords       = searchFor("domain-words")
	parkingHosts      = phraseList("parking-hosts")
	botWallNames      = phraseList("bot-wall")
	botWallPhrases    = searchFor("bot-wall-phrases")
	loginNames        = phraseList("login")
	loginPaths        = phraseList("login-paths")
	consentNames      = phraseList("consent")
	consentWords      = searchFor("consent-words")
	paywallPhrases    = searchFor("paywall")
	paywallLabels     = searchFor("paywall-labels")
	subscriberPhrases = searchFor("subscribers")
	subscribeWords    = searchFor("subscribe-words")
	sitePages         = phraseList("site-pages")
	absences          = searchFor("absences")
	sharedHosts       = phraseList("shared-hosts")
	resolverHosts     = phraseList("resolver-hosts")
)

func beginsLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !page.IsDense(r)
}

func endsLetter(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsDigit(r)) && !page.IsDense(r)
}
