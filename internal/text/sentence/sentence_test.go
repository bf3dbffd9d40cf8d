package sentence_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/sentence"
)

// cut joins the sentences of a text with bars.
func cut(text, language string) string {
	var parts []string
	for _, s := range sentence.Split(text, language) {
		parts = append(parts, text[s.Start:s.End])
	}
	return strings.Join(parts, "|")
}

// TestCitedEnds: behind a full stop and a citation, which stands here as #, a sentence begins
// whatever its first letter is.
func TestCitedEnds(t *testing.T) {
	for _, test := range []struct{ language, want string }{
		{"en", "It is safe.#|restic writes there.#|npm, too.#|iPhone users like it#.|eBay sells it.#"},
		{"en", "It is in the U.S.#|rsync copies it.#|macOS has it, e.g. since 2019.#|e2fsprogs is old.#"},
		{"en", "He said \"yes.\"#|pandas is a library.#|It grew# and x fell.#|20 ships came.#"},
		{"de", "Das steht fest.#|von der Leyen sagte es am 3. März.#|d. h. es stimmt.#"},
		{"nl", "Het groeit.#|van Gogh schilderde.#|'s Nachts niet.#"},
		{"fr", "Il a dit « oui. »#|d'Alembert l'a écrit.#"},
		{"fi", "Se kasvoi.#|iPadit myivät.#"},
		{"zh", "港口增长。#|npm包也是。#"},
	} {
		var text strings.Builder
		var cited []int
		for _, r := range test.want {
			switch r {
			case '#':
				cited = append(cited, text.Len())
			case '|':
				text.WriteByte(' ')
			default:
				text.WriteRune(r)
			}
		}
		var parts []string
		for _, s := range sentence.Split(text.String(), test.language, cited...) {
			parts = append(parts, text.String()[s.Start:s.End])
		}
		if got, want := strings.Join(parts, "|"), strings.ReplaceAll(test.want, "#", ""); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.language, got, want)
		}
	}
}

// TestSplit has texts with a bar where a sentence ends.
func TestSplit(t *testing.T) {
	for _, test := range []struct{ language, want string }{
		{"en", `The port grew.|It handled 3.5 million tonnes in 2020.|Why?|Nobody knows!`},
		{"en", `Dr. Smith of the U.S. Senate met J. R. Miller at 10 a.m. on Mt. Everest.|They spoke.`},
		{"en", `See Fig. 3 and No. 12, e.g. the port (cf. Jones et al. 2019).|He said no.|Then he left.`},
		{"en", `"It is over." The crowd left.`}, // a quotation mark closes the sentence before it
		{"en", `He asked "Why now?!"|She did not answer...|Nobody did.`},
		{"en", `The site example.com and Node.js 1.26 changed.|The rest (of it.) stayed.`},
		{"en", "One line\nanother line. And a third\r\nthe end"},
		{"en", "  \n\t "},
		{"de", `Am 3. März 2020 kam Dr. Müller, d. h. der Leiter, z. B. mit Bus Nr. 7 an.|Es war spät.`},
		{"de", `Im 19. Jahrhundert wuchs der Hafen, vgl. Abb. 2 und S. 14.|Der 2. Weltkrieg zerstörte ihn.`},
		{"de", `Der Umsatz stieg bis 2020.|Die Zahl war 1.234,5 Mio. Euro.|Das ist viel, usw.`},
		{"de", `Das Spiel endete 3 zu 12.|Die Gäste gewannen am 12. Dez. 2021 erneut.`},
		{"fr", `M. Dupont et Mme. Curie ont écrit, p. ex. à l'art. 5.|Le total est de 28 400 tonnes.|« Vraiment ? »|Oui.`},
		{"fr", "Selon M.\u00a0Durand, le port grandit.|Il a raison\u00a0!|C'est tout."},
		{"es", `El Sr. García y la Dra. Ruiz viven en EE. UU. desde 2010.|¿Por qué?|¡Nadie lo sabe!|Véase la pág. 12.`},
		{"it", `Il sig. Rossi e il dott. Bianchi arrivano a Roma.|Il porto cresce del 3,5 %.`},
		{"pt", `O Sr. Silva vive na Av. Paulista.|O porto cresceu 12,5 por cento.|Porquê?`},
		{"fi", `Esim. Helsinki kasvoi 3. maaliskuuta 2020, ks. Taulukko 2.|Satama on suuri.|Miksi?`},
		{"pl", `Np. Gdańsk leży przy ul. Długiej, m.in. od 1945 r. Port rośnie.`},
		{"ru", `В 2020 г. Россия, т. е. страна, и г. Москва росли.|Почему?|Никто не знает.`},
		{"tr", `Türkiye 29 Ekim 1923'te kuruldu.|20. Yüzyıl önemliydi, bkz. Şekil 2.`},
		{"el", `Ο κ. Παπαδόπουλος ήρθε, π.χ. χθες.|Γιατί;|Κανείς δεν ξέρει.`},
		{"zh", `收入不是起点。|"就香港而言，这不等于中产。"|他说"好。"|然后走了。`},
		{"zh", `港口去年处理了2.84万吨货物。|为什么？|没有人知道！|“这很好。”|他这样说。`},
		{"ja", `港は大きくなった。|2020年は3.5％増えた。|なぜですか？|わからない。`},
		{"ar", `نما الميناء بنسبة ٣.٥ في المئة.|لماذا؟|قال د. أحمد ذلك.|انتهى.`},
		{"hi", `बंदरगाह बढ़ा।|डॉ. शर्मा ने कहा।|क्यों?|कोई नहीं जानता।`},
		{"th", `ท่าเรือเติบโตในปี พ.ศ. 2563 ดร. สมชาย กล่าว! ไม่มีใครรู้`},
		{"ko", `항구가 커졌다.|2020년에는 3.5% 늘었다.|왜?`},
		{"en", `It was sold.|iPhone sales rose.|eBay bought it. restic did not.`},
		{"", `Dr. Smith came.|The end.`},
		{"xx", `Prof. Ana came.|The end.`},
	} {
		text := strings.ReplaceAll(test.want, "|", " ")
		if test.language == "zh" || test.language == "ja" {
			text = strings.ReplaceAll(test.want, "|", "")
		}
		want := test.want
		switch {
		case strings.HasPrefix(want, `"It`):
			want = `"It is over."|The crowd left.`
		case strings.HasPrefix(want, "One"):
			want = "One line|another line.|And a third|the end"
		case strings.TrimSpace(want) == "":
			want = ""
		}
		if got := cut(text, test.language); got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.language, got, want)
		}
	}
}

func TestAScriptWithoutMarksIsCutByLength(t *testing.T) {
	for name, word := range map[string]string{"with blanks": "ท่าเรือเติบโต ", "without": "ท่าเรือ"} {
		text := strings.Repeat(word, 200)
		spans := sentence.Split(text, "th")
		if len(spans) < 4 {
			t.Errorf("%s: %d sentences", name, len(spans))
		}
		joined := ""
		for _, s := range spans {
			part := text[s.Start:s.End]
			joined += part
			if n := utf8.RuneCountInString(part); n > sentence.MaxUnmarked+3 { // marks stay with their letter
				t.Errorf("%s: a sentence of %d characters", name, n)
			}
			if r, _ := utf8.DecodeRuneInString(part); unicode.IsMark(r) {
				t.Errorf("%s: a sentence begins with a mark", name)
			}
			if word[len(word)-1] == ' ' && !strings.HasSuffix(part, "เติบโต") {
				t.Errorf("%s: a word is cut", name)
			}
		}
		if want := strings.ReplaceAll(text, " ", ""); strings.ReplaceAll(joined, " ", "") != want {
			t.Errorf("%s: text is lost", name)
		}
	}
}

// FuzzSplit: sentences follow one another, hold whole characters, and leave out
// nothing but white space.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"A. B! c? 3.5", "z. B. 3. März\n\n«»", "ก" + strings.Repeat("า", 500), "\xff.\xe0\x80 .A", "。」. . . a"} {
		f.Add(seed, "de")
	}
	f.Fuzz(func(t *testing.T, text, language string) {
		at := 0
		for _, s := range sentence.Split(text, language) {
			if s.Start < at || s.End <= s.Start || s.End > len(text) || strings.TrimSpace(text[at:s.Start]) != "" {
				t.Fatalf("%q: sentence %v after %d", text, s, at)
			}
			if part := text[s.Start:s.End]; part != strings.TrimSpace(part) || utf8.ValidString(text) && !utf8.ValidString(part) {
				t.Fatalf("%q: sentence %q", text, part)
			}
			at = s.End
		}
		if strings.TrimSpace(text[at:]) != "" {
			t.Fatalf("%q: nothing behind %d", text, at)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	for name, text := range map[string]string{
		"prose":  strings.Repeat("The port of Rotterdam handled 12.4 million containers in 2020. Dr. Smith said so! ", 1000),
		"stops":  strings.Repeat(". ", 40_000),
		"digits": strings.Repeat("1. ", 30_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				sentence.Split(text, "en")
			}
		})
	}
}
