package citation

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is a word as titles are compared: in lower case, without accents. In a
// script that puts no blanks between words it is two characters.
type word struct {
	text   string
	script script
}

// script is the writing system of a word.
type script uint8

const (
	otherScript script = iota
	latin
	cyrillic
	greek
	arabic
	hebrew
	han
	hangul
	thai
	devanagari
)

func scriptOf(r rune) script {
	switch {
	case r < 0x250 || r >= 0x1e00 && r < 0x1f00:
		return latin
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return han
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Arabic, r):
		return arabic
	case unicode.Is(unicode.Hebrew, r):
		return hebrew
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.Is(unicode.Thai, r):
		return thai
	case unicode.Is(unicode.Devanagari, r):
		return devanagari
	}
	return otherScript
}

// like reports whether two words are the same but for their ending, or one is a
// compound that begins with the other: they begin with the same four letters and
// differ in no more than three at the end, or one is all of the other's first six
// letters or more.
func (w word) like(other word) bool {
	if w.text == other.text {
		return true
	}
	if w.script == han || w.script == thai || w.script != other.script {
		return false
	}
	n := 0
	for n < len(w.text) && n < len(other.text) && w.text[n] == other.text[n] {
		n++
	}
	same := utf8.RuneCountInString(w.text[:n])
	if same >= 6 && (n == len(w.text) || n == len(other.text)) {
		return true
	}
	return same >= 4 && utf8.RuneCountInString(w.text[n:]) <= 3 && utf8.RuneCountInString(other.text[n:]) <= 3
}

// eachWord calls visit for the words of a text until it returns false. Numbers
// do not count.
func eachWord(text string, visit func(word) bool) {
	var plain []byte
	var last rune // of a dense script
	flush := func() bool {
		if len(plain) == 0 {
			return true
		}
		w := word{text: string(plain)}
		for _, r := range w.text {
			w.script = scriptOf(r)
			break
		}
		plain = plain[:0]
		return visit(w)
	}
	for _, r := range text {
		if r < 0x80 {
			if isLetter(byte(r)) {
				plain = append(plain, byte(r)|0x20)
				last = 0
				continue
			}
			if r >= '0' && r <= '9' && len(plain) > 0 {
				plain = append(plain, byte(r))
				continue
			}
			if r == '\'' && len(plain) > 0 {
				continue
			}
		} else if unicode.IsLetter(r) || unicode.IsMark(r) {
			if !isDense(r) {
				plain = appendPlain(plain, r)
				last = 0
				continue
			}
			if !flush() || last != 0 && !visit(word{string([]rune{last, r}), scriptOf(r)}) {
				return
			}
			last = r
			continue
		} else if r == '’' && len(plain) > 0 || r == 0xad {
			continue
		}
		last = 0
		if !flush() {
			return
		}
	}
	flush()
}

// appendPlain appends a letter in lower case without its accents.
func appendPlain(b []byte, r rune) []byte {
	for _, part := range norm.NFKD.String(string(unicode.ToLower(r))) {
		if !unicode.Is(unicode.Mn, part) {
			b = utf8.AppendRune(b, part)
		}
	}
	return b
}

// wordsOf lists the words of a text except those of a list.
func wordsOf(text string, without map[string]bool) []word {
	var words []word
	eachWord(text, func(w word) bool {
		if !without[w.text] && len(words) < 4*maxKept {
			words = append(words, w)
		}
		return true
	})
	return words
}

// telling lists the words of a title that say what it is about: three letters or
// more, neither function words nor the words that go with any source.
func telling(title string) []word {
	return slices.DeleteFunc(wordsOf(title, commonWords()), func(w word) bool { return w.script == latin && len(w.text) < 3 })
}

var commonWords = sync.OnceValue(func() map[string]bool {
	common := map[string]bool{}
	for _, list := range functionWords {
		for w := range strings.FieldsSeq(list) {
			common[w] = true
		}
	}
	for w := range strings.FieldsSeq(`accessed available retrieved source sources link links website web site online page pages article pdf html htm www http https com org net
		via url doi isbn vol see full text here official homepage home read more download abgerufen zugriff quelle consulte consultado fuente
		jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december`) {
		common[w] = true
	}
	return common
})

// functionWords are frequent short words of languages in Latin script, without
// accents. They tell languages apart.
var functionWords = map[string]string{
	"en": "the of and to in is that for with are was on as by from this it be or an at which have has not its their were been but they",
	"de": "der die das und ist nicht mit von zu den dem des ein eine einer auf fur auch sich im wird werden bei nach uber aus sind als am zum zur wie",
	"fr": "le la les des et est une dans pour que qui sur pas au aux du avec ce cette sont par plus ou en ont ses leur nous vous",
	"es": "el la los las y es una en que para con por del al se su como mas pero este esta son fue ha sus lo sobre entre",
	"it": "il lo la gli le e di che un una per con del della nel nella sono non dei delle alla dal piu come si ha anche questo",
	"pt": "o os as e um uma que para com por do da dos das no na nos nas se mais como foi sao pelo pela ao ou sua seu nao",
	"nl": "de het een en van is dat op te in zijn voor met niet aan er ook als bij door naar uit worden deze die maar om",
	"sv": "och att det som en ett ar av for pa med inte till den har de om var vid fran eller kan ska sig efter",
	"da": "og at det som en et er af for pa med ikke til den har de om var ved fra eller kan skal sig efter ogsa blev",
	"pl": "i w na z do nie ze to sie jest o jak po ale przez dla od oraz jego ktory ktore ich przy tym byl",
	"cs": "a v na z do ne ze to se je o jak po ale pro od ktery ktere jsou byl podle take jako pri",
	"fi": "ja on ei se etta oli han ovat joka mutta kun myos tai niin kuin voi ole olla sen hanen",
	"tr": "ve bir bu da de icin ile olarak daha cok en gibi olan ne kadar sonra ise her ya",
	"ro": "si de la in cu pe nu este un o care din pentru sau mai ca au fost sunt al ale prin dupa",
	"hu": "a az es hogy nem is egy ez meg van volt csak de ha mint vagy el fel ki be szerint",
	"id": "yang dan di dari ini untuk dengan pada adalah tidak dalam akan itu oleh juga ke sebagai atau telah",
	"vi": "va cua la cac mot trong co cho khong duoc nhung voi nay den tu nguoi khi da ra",
}

// guessLanguages lists the languages of which a text in Latin script has the most
// function words: one where it is plain, none where it has no such word.
func guessLanguages(text string) []string {
	counts := map[string]int{}
	sets := languageSets()
	eachWord(text, func(w word) bool {
		for _, language := range sets[w.text] {
			counts[language]++
		}
		return true
	})
	var best []string
	most := 0
	for _, language := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[language]; n > most {
			best, most = []string{language}, n
		} else if n == most {
			best = append(best, language)
		}
	}
	return best
}

// languageSets lists for each function word the languages that have it.
var languageSets = sync.OnceValue(func() map[string][]string {
	sets := map[string][]string{}
	for language, list := range functionWords {
		for w := range strings.FieldsSeq(list) {
			sets[w] = append(sets[w], language)
		}
	}
	return sets
})
