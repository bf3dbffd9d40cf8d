package citation

import (
	"cmp"
	"slices"
	"strings"
)

// The rules for pages that stand where the source should be.

// How many words in sentences a page of each kind has at most. What has more is
// an article, whatever it is about.
const (
	wallProse     = 120
	parkedProse   = 60
	notFoundProse = 120
	articleProse  = 200
	loginProse    = 40
	consentProse  = 400
)

func botWall(s *subject) (string, bool) {
	if !s.page.Attached && strings.EqualFold(s.page.header("Cf-Mitigated"), "challenge") {
		return "", true
	}
	if s.content.media != mediaHTML || !s.little(wallProse) || s.content.html.passwords > 0 {
		return "", false
	}
	signs := &s.content.html
	challenge := slices.ContainsFunc(signs.scripts, func(src string) bool {
		src = strings.ToLower(src)
		_, found := containsAny(src, []string{"challenges.cloudflare.com", "/cdn-cgi/challenge-platform/h/", "captcha-delivery.com", "px-captcha", "perimeterx",
			"_incapsula_resource", "awswaf", "hcaptcha.com", "recaptcha/api", "datadome", "geo.captcha"})
		return found
	}) || slices.ContainsFunc(signs.ids, func(id string) bool {
		_, found := containsAny(id, []string{"captcha", "turnstile", "challenge-form", "challenge-running", "cf-wrapper", "cf-error"})
		return found
	})
	_, asks := s.says(botWallPhrases())
	named := exactly(s.names(), botWallNames()) != ""
	// What is only asked for, or only there, is a wall where nearly nothing else is.
	tiny := s.content.words < 80
	return "", asks && (named || challenge || tiny) || named && (challenge || tiny) || challenge && s.content.words < 60
}

func parked(s *subject) (string, bool) {
	if slices.Contains(parkingHosts(), s.to.site) && s.to.site != s.from.site {
		return "", true
	}
	if s.content.media != mediaHTML || !s.little(parkedProse) {
		return "", false
	}
	if slices.ContainsFunc(s.content.html.scripts, func(src string) bool {
		return slices.Contains(parkingHosts(), s.address(src).site)
	}) {
		return "", true
	}
	if name := exactly(s.names(), placeholderNames()); name != "" {
		return quoted(name), true
	}
	title := lowerPhrase(s.content.html.title)
	phrase, found := s.says(parkedPhrases())
	if !found {
		phrase, found = containsAny(title, parkedPhrases())
	}
	if phrase == "related searches" && s.content.prose > 0 {
		found = false // shops have them, too
	}
	if found {
		return quoted(phrase), true
	}
	// A page with hardly any text that names its own host and speaks of a domain,
	// in whatever language, is about itself.
	all := title + " " + lowerPhrase(s.content.Text)
	if s.to.host != "" && s.content.words < parkedProse && strings.Contains(all, s.to.site) {
		_, found = containsAny(all, domainWords())
	}
	return "", found
}

func softNotFound(s *subject) (string, bool) {
	if s.content.media != mediaHTML || s.content.prose >= 3*notFoundProse {
		return "", false
	}
	titles, headings := titleParts(s.content.html.title), make([]string, 0, len(s.content.headings))
	for _, heading := range s.content.headings {
		headings = append(append(headings, lowerPhrase(heading)), titleParts(heading)...)
	}
	title, heading := exactly(titles, notFoundNames()), exactly(headings, notFoundNames())
	few := s.content.prose < notFoundProse
	switch {
	case title != "" && (few || heading != ""):
		return quoted(title), true
	case heading != "" && few:
		return quoted(heading), true
	case few && s.moved() && slices.Contains(notFoundPaths(), s.to.last()):
		return s.page.final(), true
	}
	if s.content.prose < notFoundProse/2 {
		names := append(titles, headings...)
		if s.content.words < 60 && len(headings) == 0 {
			for sentence := range strings.FieldsFuncSeq(lowerPhrase(strings.ReplaceAll(s.content.Text, "\n", ". ")), func(r rune) bool { return r == '.' || r == '。' }) {
				names = append(names, strings.TrimSpace(sentence))
			}
		}
		if name := roughly(names, notFoundNames()); name != "" {
			return quoted(name), true
		}
	}
	return "", false
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "“" + cutBytes(s, 100) + "”"
}

func paywall(s *subject) (string, bool) {
	signs := &s.content.html
	if s.content.media != mediaHTML || s.content.prose >= articleProse || signs.free && !signs.notFree {
		return "", false
	}
	if signs.notFree {
		return "it says that it is not accessible for free", true
	}
	if phrase, found := s.says(paywallPhrases()); found {
		return quoted(phrase), true
	}
	if signs.paywall {
		_, found := s.says(subscribeWords())
		return "", found
	}
	return "", false
}

func login(s *subject) (string, bool) {
	if s.content.media != mediaHTML || s.content.prose >= loginProse {
		return "", false
	}
	words := s.content.words
	named := exactly(s.names(), loginNames())
	there := slices.ContainsFunc(s.to.segments(), func(part string) bool { return slices.Contains(loginPaths(), part) }) ||
		strings.HasPrefix(s.to.host, "login.") || strings.HasPrefix(s.to.host, "signin.") || strings.HasPrefix(s.to.host, "sso.") ||
		strings.HasPrefix(s.to.host, "auth.") || strings.HasPrefix(s.to.host, "idp.") || strings.HasPrefix(s.to.host, "accounts.")
	switch {
	case s.content.html.passwords > 0 && (words < 80 && !s.asCited() || words < 400 && (named != "" || there)):
		return quoted(named), true
	case named != "" && (there || len(s.content.html.forms) > 0) && words < 250:
		return quoted(named), true
	case there && s.moved() && words < 250:
		return s.page.final(), true
	}
	return "", false
}

func consent(s *subject) (string, bool) {
	if s.content.media != mediaHTML || s.content.prose >= consentProse || s.content.words > 2*consentProse {
		return "", false
	}
	if s.cited(consentWords()) {
		return "", false // a page about cookies
	}
	signs := &s.content.html
	asks := len(signs.buttons) > 0 || len(signs.forms) > 0
	if s.moved() && (strings.HasPrefix(s.to.host, "consent.") || strings.HasPrefix(s.to.host, "guce.") || slices.Contains(s.to.segments(), "consent")) {
		return s.page.final(), true
	}
	named := cmp.Or(exactly(s.names(), consentNames()), roughly(s.names(), consentNames()))
	about, all := s.linesAbout(consentWords())
	switch {
	case named != "" && (asks || 2*about >= all):
		return quoted(named), true
	case asks && all >= 12 && 3*about >= 2*all && !s.asCited():
		return "", true
	}
	return "", false
}

// cited reports whether an output calls the source by one of some words.
func (s *subject) cited(words []string) bool {
	named := lowerPhrase(strings.Join(s.source.titles(), " ") + " " + s.source.Normalized)
	_, found := containsAny(named, words)
	return found
}

// linesAbout counts the words of the lines with four words or more that hold one
// of some words, and of all such lines.
func (s *subject) linesAbout(words []string) (about, all int) {
	for line := range strings.SplitSeq(s.content.Text, "\n") {
		n := countWords(line)
		if n < 4 {
			continue
		}
		all += n
		if _, found := containsAny(strings.ToLower(line), words); found {
			about += n
		}
	}
	return about, all
}
