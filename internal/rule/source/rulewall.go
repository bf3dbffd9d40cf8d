package source

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/page"
)

// The rules for pages that stand where the source should be.

// The most words in sentences that a page of each kind has. A page with more is an
// article, whatever it is about.
const (
	wallProse     = 120
	parkedProse   = 60
	notFoundProse = 120
	articleProse  = 200
	loginProse    = 40
	consentProse  = 400
)

func botWall(s *subject) (string, bool) {
	if !s.page.Attached && (s.page.header("Cf-Mitigated") == "challenge" || s.page.header("X-Amzn-Waf-Action") != "") {
		return "", true
	}
	if s.content.Words < tinyPage && s.guarded() {
		return "", true
	}
	if s.content.Media != page.HTML || !s.little(wallProse) || s.content.Signals.Passwords > 0 {
		return "", false
	}
	signs := &s.content.Signals
	challenge := slices.ContainsFunc(signs.Scripts, func(src string) bool {
		src = strings.ToLower(src)
		_, found := containsAny(src, []string{"challenges.cloudflare.com", "/cdn-cgi/challenge-platform/h/", "captcha-delivery.com", "px-captcha", "perimeterx",
			"_incapsula_resource", "awswaf", "hcaptcha.com", "recaptcha/api", "datadome", "geo.captcha"})
		return found
	}) || slices.ContainsFunc(signs.IDs, func(id string) bool {
		_, found := containsAny(id, []string{"captcha", "turnstile", "challenge-form", "challenge-running", "cf-wrapper", "cf-error"})
		return found
	})
	_, asks := s.says(botWallPhrases())
	named := s.called(botWallNames()) != ""
	// A single sign makes a wall only of a page with nearly nothing else on it.
	tiny := s.content.Words < tinyPage
	return "", asks && (named || challenge || tiny) || named && (challenge || tiny) || challenge && s.content.Words < 60
}

// guarded reports whether a service that looks for robots has refused the request.
// Its field is in the header of the pages that it lets through, too.
func (s *subject) guarded() bool {
	refused := s.page.Status == 403 || s.page.Status == 405 || s.page.Status == 429
	return refused && !s.page.Attached && (s.page.header("X-Datadome") != "" || s.page.header("X-Kpsdk-Ct") != "")
}

func parked(s *subject) (string, bool) {
	if slices.Contains(parkingHosts(), s.to.site) && s.to.site != s.from.site {
		return "", true
	}
	if s.content.Media != page.HTML || !s.little(parkedProse) {
		return "", false
	}
	if slices.ContainsFunc(s.content.Signals.Scripts, func(src string) bool {
		return slices.Contains(parkingHosts(), s.address(src).site)
	}) {
		return "", true
	}
	if name := s.called(placeholderNames()); name != "" {
		// A page with sentences must speak of itself: bridges are under construction,
		// too.
		if _, itself := s.says(siteWords()); itself || s.content.Prose == 0 {
			return quoted(name), true
		}
	}
	title := lowerPhrase(s.content.Signals.Title)
	phrase, found := s.says(parkedPhrases())
	if !found {
		phrase, found = parkedPhrases().in(title)
	}
	if phrase == "related searches" && s.content.Prose > 0 {
		found = false // shops have them, too
	}
	if found {
		return quoted(phrase), true
	}
	// A page with hardly any text that names its own host and speaks of a domain,
	// in whatever language, is about itself.
	if s.to.host != "" && s.content.Words < parkedProse {
		if all := title + " " + lowerPhrase(s.content.Text); strings.Contains(all, s.to.site) {
			_, found = domainWords().in(all)
		}
	}
	return "", found
}

func softNotFound(s *subject) (string, bool) {
	if s.content.Media != page.HTML || s.content.Prose >= 3*notFoundProse {
		return "", false
	}
	titles, headings := titleParts(s.content.Signals.Title), make([]string, 0, len(s.content.Titles()))
	for _, heading := range s.content.Titles() {
		headings = append(append(headings, lowerPhrase(heading)), titleParts(heading)...)
	}
	title, heading := exactly(titles, notFoundNames()), exactly(headings, notFoundNames())
	few := s.content.Prose < notFoundProse
	switch {
	case title != "" && (few || heading != ""):
		return quoted(title), true
	case heading != "" && few:
		return quoted(heading), true
	case few && s.moved() && slices.Contains(notFoundPaths(), s.to.last()):
		return s.page.final(), true
	}
	if s.content.Prose < notFoundProse/2 {
		if name := s.missingName(titles, headings); name != "" {
			return quoted(name), true
		}
	}
	return "", false
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "“" + page.CutBytes(s, 100) + "”"
}

// labelWords is the most words of a sentence that is a label.
const labelWords = 4

func paywall(s *subject) (string, bool) {
	signs := &s.content.Signals
	if s.content.Media != page.HTML || s.content.Prose >= articleProse || signs.Free && !signs.NotFree {
		return "", false
	}
	if signs.NotFree {
		return "it says that it is not accessible for free", true
	}
	if phrase, found := s.says(paywallPhrases()); found {
		return quoted(phrase), true
	}
	if label := s.paywallLabel(); label != "" {
		return quoted(label), true
	}
	// Questions to subscribers stand in the header of free articles as well; where
	// they come before the rest of an article, they follow some text.
	if _, found := s.says(subscriberPhrases()); found {
		if phrase, found := subscriberPhrases().in(s.prompts(s.afterProse())); found {
			return quoted(phrase), true
		}
	}
	if signs.Paywall {
		_, found := s.says(subscribeWords())
		return "", found
	}
	return "", false
}

// paywallLabel is the first sentence of a page that is no more than a label of
// what is not for everybody, or "".
func (s *subject) paywallLabel() string {
	if _, found := paywallLabels().in(s.lowered()); !found {
		return ""
	}
	for _, sentence := range sentencesOf(s.lowered()) {
		if page.CountWords(sentence) <= labelWords && slices.ContainsFunc(paywallLabels().phrases, func(label string) bool { return strings.HasSuffix(sentence, label) }) {
			return sentence
		}
	}
	return ""
}

// afterProse is the text of a short page after its first line of prose, or all of
// it where it has none.
func (s *subject) afterProse() string {
	if s.content.Words > shortPage {
		return ""
	}
	at := 0
	for line := range strings.Lines(s.content.Text) {
		at += len(line)
		if page.CountWords(line) >= page.ProseLine {
			return s.content.Text[at-len(line):]
		}
	}
	return s.content.Text
}

func login(s *subject) (string, bool) {
	if s.content.Media != page.HTML || s.content.Prose >= loginProse {
		return "", false
	}
	words := s.content.Words
	named := s.called(loginNames())
	there := slices.ContainsFunc(s.to.segments(), func(part string) bool { return slices.Contains(loginPaths(), part) }) ||
		strings.HasPrefix(s.to.host, "login.") || strings.HasPrefix(s.to.host, "signin.") || strings.HasPrefix(s.to.host, "sso.") ||
		strings.HasPrefix(s.to.host, "auth.") || strings.HasPrefix(s.to.host, "idp.") || strings.HasPrefix(s.to.host, "accounts.")
	switch {
	case s.content.Signals.Passwords > 0 && (words < tinyPage && !s.asAddressed() || words < 400 && (named != "" || there)):
		return quoted(named), true
	case named != "" && (there || len(s.content.Signals.Forms) > 0) && words < 250:
		return quoted(named), true
	case there && s.moved() && words < 250:
		return s.page.final(), true
	}
	return "", false
}

func consent(s *subject) (string, bool) {
	if s.content.Media != page.HTML || s.content.Prose >= consentProse || s.content.Words > 2*consentProse {
		return "", false
	}
	if _, found := consentWords().in(strings.ToLower(s.from.path)); found {
		return "", false // a page about cookies
	}
	signs := &s.content.Signals
	asks := len(signs.Buttons) > 0 || len(signs.Forms) > 0
	if s.moved() && (strings.HasPrefix(s.to.host, "consent.") || strings.HasPrefix(s.to.host, "guce.") || slices.Contains(s.to.segments(), "consent")) {
		return s.page.final(), true
	}
	named := cmp.Or(s.called(consentNames()), roughly(s.names(), consentNames()))
	if named == "" && !asks {
		return "", false
	}
	about, all := s.linesAbout(consentWords())
	switch {
	case named != "" && (asks || 2*about >= all):
		return quoted(named), true
	case asks && all >= 12 && 3*about >= 2*all && !s.asAddressed():
		return "", true
	}
	return "", false
}

// linesAbout counts the words in lines of four words or more: in those that hold
// one of some words, and in all of them.
func (s *subject) linesAbout(words *search) (about, all int) {
	for line := range strings.SplitSeq(s.content.Text, "\n") {
		n := page.CountWords(line)
		if n < 4 {
			continue
		}
		all += n
		if _, found := words.in(strings.ToLower(line)); found {
			about += n
		}
	}
	return about, all
}
