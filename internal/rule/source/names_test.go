package source

import "strings"

// Names lists, by rule, the phrases that pages call themselves by.
func Names() map[string][]string {
	return map[string][]string{
		"soft-404": notFoundNames(), "bot-wall": botWallNames(), "login": loginNames(), "consent": consentNames(),
		"paywall": paywallPhrases().phrases, "parked": parkedPhrases().phrases,
	}
}

// FirstIn is the first of some phrases, one to a line, that a text holds, found in
// one pass and by looking for one after the other.
func FirstIn(lines, text string) (onePass, oneByOne string) {
	s := newSearch(strings.Split(lines, "\n"))
	onePass, _ = s.in(text)
	oneByOne, _ = containsAny(text, s.phrases)
	return onePass, oneByOne
}

// PageNamed is a page for each of those rules, with the phrase in two places.
var PageNamed = map[string]string{
	"soft-404": "<title>%s | News</title><h1>%s</h1><p>News</p>",
	"bot-wall": "<title>%s</title><h1>%s</h1><div id=captcha></div>",
	"login":    "<title>%s - News</title><h1>%s</h1><form><input type=password></form>",
	"consent":  "<title>%s</title><h1>%s</h1><p>cookies</p><button>OK</button>",
	"paywall":  "<title>News</title><p>The tide rises.</p><h3>%s</h3><!-- %s -->",
	"parked":   "<title>news.test</title><p>%s</p><!-- %s -->",
}
