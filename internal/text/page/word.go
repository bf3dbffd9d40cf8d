package page

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a word as titles are compared: in lower case, without accents. In a
// script that puts no blanks between words it is two characters.
type Word struct {
	Text   string
	Script Script
}

// Script is the writing system of a word.
type Script uint8

// The scripts.
const (
	otherScript Script = iota
	Latin
	cyrillic
	greek
	arabic
	hebrew
	Han // with kana
	hangul
	Thai
	devanagari
)

func scriptOf(r rune) Script {
	switch {
	case r < 0x250 || r >= 0x1e00 && r < 0x1f00:
		return Latin
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return Han
	case unicode.Is(unicode.Latin, r):
		return Latin
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
		return Thai
	case unicode.Is(unicode.Devanagari, r):
		return devanagari
	}
	return otherScript
}

// EachWord calls visit for the words of a text until it returns false. Numbers
// do not count.
func EachWord(text string, visit func(Word) bool) {
	var plain []byte
	var last rune // of a dense script
	flush := func() bool {
		if len(plain) == 0 {
			return true
		}
		w := Word{Text: string(plain)}
		for _, r := range w.Text {
			w.Script = scriptOf(r)
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
			if !IsDense(r) {
				plain = appendPlain(plain, r)
				last = 0
				continue
			}
			if !flush() || last != 0 && !visit(Word{string([]rune{last, r}), scriptOf(r)}) {
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

// IsCommon holds for the words that say nothing of what a title is about: function
// words, and those that go with any source. The word is in lower case, without
// accents.
func IsCommon(word string) bool { return commonWords()[word] }

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

// LanguageSample is how many bytes of a long text show its languages.
const LanguageSample = 64 << 10

// Languages lists the languages of which a text in Latin script has the most
// function words: one where it is plain, none where it has no such word.
func Languages(text string) []string {
	counts := map[string]int{}
	sets := languageSets()
	EachWord(text, func(w Word) bool {
		for _, language := range sets[w.Text] {
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
