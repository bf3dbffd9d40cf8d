package planted

import (
	_ "embed" // the texts
	"strings"
)

// tongue is a language with the texts that its pages are made of.
type tongue struct {
	code, name  string
	title       string   // of its article
	article     []string // sentences
	home, about string   // words of the menu

	notFound, notFoundText  string
	signIn, signInText      string
	consent, consentText    string
	accept, reject          string
	subscribe, subscribeFor string
	forSale                 string
}

// article is a text, in which %d stands for a number.
type article struct {
	title     string
	sentences []string
}

// A tongue begins with == and its code. Lines with a colon are its texts, # is the
// title of an article, and - is a sentence of it.
//
//go:embed tongues.txt
var tongueTexts string

// english is the tongue of most pages. It has several articles, about unrelated
// things.
var tongues, english, englishArticles = readTongues(tongueTexts)

func readTongues(text string) (others []tongue, english tongue, articles []article) {
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "== "), "\n== ") {
		code, rest, _ := strings.Cut(part, "\n")
		t := tongue{code: code}
		texts := map[string]*string{
			"name": &t.name, "home": &t.home, "about": &t.about, "not found": &t.notFound, "not found text": &t.notFoundText,
			"sign in": &t.signIn, "sign in text": &t.signInText, "consent": &t.consent, "consent text": &t.consentText,
			"accept": &t.accept, "reject": &t.reject, "subscribe": &t.subscribe, "subscribe for": &t.subscribeFor, "for sale": &t.forSale,
		}
		articles = nil
		for line := range strings.SplitSeq(strings.TrimSpace(rest), "\n") {
			if title, ok := strings.CutPrefix(line, "# "); ok {
				articles = append(articles, article{title: title})
			} else if sentence, ok := strings.CutPrefix(line, "- "); ok {
				last := &articles[len(articles)-1]
				last.sentences = append(last.sentences, sentence)
			} else if key, value, _ := strings.Cut(line, ": "); texts[key] != nil {
				*texts[key] = value
			}
		}
		t.title, t.article = articles[0].title, articles[0].sentences
		if code == "en" {
			return others, t, articles
		}
		others = append(others, t)
	}
	panic("planted: no English")
}

// elsewhere are titles that share no word with any of the articles.
var elsewhere = []string{
	"Quantum annealing benchmarks: protein folding revisited",
	"Semiconductor export controls, quarterly outlook",
	"Randomised malaria vaccine efficacy",
	"Lithium battery cathode degradation mechanisms",
	"Sovereign bond yields: inflation expectations",
	"Transformer language models: scaling laws",
	"Coral bleaching, Barrier Reef monitoring",
	"Antitrust enforcement: digital advertising markets",
	"Perovskite photovoltaic stability report",
	"Satellite megaconstellations: orbital debris policy",
}
