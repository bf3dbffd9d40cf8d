package source

import (
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/rule/policy"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Status is what a source is worth.
type Status string

// The statuses. Only valid and paywalled sources may be cited.
const (
	Valid     Status = "valid"
	Paywalled Status = "paywalled"
	Blocked   Status = "blocked"
	Mismatch  Status = "mismatch"
	Invalid   Status = "invalid"
)

// usable reports whether a source of that status may be cited.
func (s Status) usable() bool { return s == Valid || s == Paywalled }

// Rule is one row of the table by which sources are judged.
type Rule struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Reason string `json:"reason" jsonschema:"what the notes of a record begin with"`
	About  string `json:"about" jsonschema:"when the rule holds"`

	// holds says whether the rule applies to a subject, and what the notes add
	// to the reason.
	holds func(*subject) (detail string, ok bool)
}

// NotChecked is the reason given for a source of which the archive has nothing.
const NotChecked = "not checked"

// PolicyRule is the name of the rule for sources that the run's policy refuses.
const PolicyRule = "policy"

// Rules is the table, in order: the first rule that holds decides. The last one
// always holds.
func Rules() []Rule { return slices.Clone(rules()) }

var rules = sync.OnceValue(func() []Rule {
	return []Rule{
		{"malformed", Invalid, "not a URL that can be fetched", "The text is not an http or https URL, or is longer than 2,048 bytes.", malformedURL},
		{"credentials", Invalid, "the URL carries credentials", "A user name, a password, or a parameter such as token or api_key stands in a URL that was cited.", withCredentials},
		{PolicyRule, Mismatch, "policy", "The person who asked the question does not allow it: by its domain, its date, its language or its class.", notAllowed},
		{"unregistered", Invalid, "no such work", "The registry of its id says that there is none: doi.org for a DOI, arXiv for its own.", unregistered},
		{"retracted", Mismatch, "retracted", "Its registry says that the work was retracted, withdrawn or removed.", retracted},
		{"other-work", Mismatch, "the id of another work", "Its registry gives another title than any that outputs gave it: fewer than half of the words of either are those of the other.", otherWork},
		{"not-checked", Blocked, NotChecked, "The archive has neither a fetch nor an attached file.", notChecked},
		{"absent", Blocked, "not in the archive that answers", "An archive answers in the place of the web, that of a finished run or of a recording, and does not have the page.", fault(Absent)},
		{"refused-address", Invalid, "the address is private or reserved", "The host, or one that a redirect leads to, resolves to an address or a port that is not fetched.", fault(RefusedAddress)},
		{"no-such-name", Invalid, "the host does not exist", "The name service does not know the host.", fault(NoSuchName)},
		{"redirect-loop", Invalid, "redirects lead nowhere", "The redirects lead back, do not end, or lead to something that is not an http or https URL.", fault(RedirectLoop, TooManyRedirects, BadRedirect)},
		{"timed-out", Blocked, "the server did not answer in time", "The whole exchange took longer than the fetcher waits.", fault(TimedOut)},
		{"bad-tls", Blocked, "the connection is not secure", "The certificate or the handshake of the server is at fault.", fault(BadTLS)},
		{"no-connection", Blocked, "no connection", "The network is down, or the server refused, reset or did not speak HTTP.", noResponse},
		{"gone", Invalid, "no such page", "HTTP 404, 410 or 451.", httpStatus(404, 410, 451)},
		{"payment", Paywalled, "behind a paywall", "HTTP 402.", httpStatus(402)},
		{"bot-wall", Blocked, "a bot wall", "A service says in the header that it asks for proof that its reader is human, or the page asks for it and shows nothing else.", botWall},
		{"refused", Blocked, "the server refused", "HTTP 401, 403 or 429.", httpStatus(401, 403, 429)},
		{"server-error", Blocked, "the server failed", "HTTP 5xx.", serverError},
		{"no-page", Blocked, "no page", "Any other HTTP status outside 200 to 299.", notSuccess},
		{"too-large", Blocked, "larger than is read", "The page has more bytes than the fetcher takes.", tooLarge},
		{"parked", Invalid, "a parked domain", "The page offers the domain itself for sale, or is what a server shows before it has a site.", parked},
		{"soft-404", Invalid, "an error page with status 200", "Title, heading or address or, on a small page, a sentence say that the page does not exist, and there is little other text.", softNotFound},
		{"leads-elsewhere", Mismatch, "the DOI leads elsewhere", "The page that a DOI leads to has not half of the words of its registered title.", leadsElsewhere},
		{"abstract-only", Mismatch, "only the abstract", "The page shows the abstract of a work, and an output cites it alone for a number that the abstract does not have.", abstractOnly},
		{"paywall", Paywalled, "behind a paywall", "The page says that it is not accessible for free, or asks for a subscription, and shows less text than an article.", paywall},
		{"login", Mismatch, "a login page", "The page asks for a password or calls itself a login page, and shows little else.", login},
		{"consent", Mismatch, "a consent page", "The page asks for consent to cookies, and shows little else.", consent},
		{"home-page", Mismatch, "redirected to a home page", "A deep link ends at the home page of a site.", movedHome},
		{"other-site", Mismatch, "redirected to another site", "A deep link ends at another site, which keeps neither its path nor its title.", movedAway},
		{"other-title", Mismatch, "not what it was cited as", "The page shares no word with any title that outputs gave it, in the same script and, as far as that shows, in the same language.", otherTitle},
		{"no-text", Blocked, "a page without text", "The response is empty, or is HTML that shows no text without running scripts, or only leads to another page.", noText},
		{"valid", Valid, "ok", "None of the rules above holds.", always},
	}
})

// subject is a source with what the archive has of it.
type subject struct {
	source  *Source
	page    *Page // or nil
	policy  policy.Policy
	found   string        // the date by which a search found it
	id      scholar.ID    // of a paper or book
	work    *scholar.Work // what its registry says; nil where that is not known
	content page.Content
	lower   string // what lowered returns, once it was called

	from, to address // of the URL that was asked for, and of the page that was read
}

// newSubject is a source with a page, which may be nil.
func newSubject(source *Source, p *Page, allowed policy.Policy, works func(scholar.ID) *scholar.Work) *subject {
	s := &subject{source: source, page: p, policy: allowed}
	if p != nil && p.response() {
		s.content = p.Content()
		s.from = s.address(p.URL)
		s.to = s.from
		if p.FinalURL != "" && p.FinalURL != p.URL {
			s.to = s.address(p.FinalURL)
		}
	}
	if s.id = s.identify(); s.id.Kind != "" && works != nil {
		s.work = works(s.id)
	}
	return s
}

// judge finds the first rule that holds, and what the notes of its record say.
func (s *subject) judge() (rule Rule, notes string) {
	for _, rule := range rules() {
		if detail, ok := rule.holds(s); ok {
			notes := rule.Reason
			if detail != "" {
				notes += ": " + detail
			}
			return rule, notes
		}
	}
	panic("source: the last rule does not hold")
}

func always(s *subject) (string, bool) {
	switch {
	case s.page.Attached:
		return "attached by a person", true
	case s.content.Media == page.Other, s.content.Media == page.PDF && s.content.Text == "":
		return "no text can be read from it", true
	}
	return "", true
}

// little reports whether a page has fewer than n words in sentences, and no long
// list of other words.
func (s *subject) little(n int) bool { return s.content.Prose < n && s.content.Words < 8*n }

// shortPage is how many words a page may have for its whole text to be searched
// for phrases.
const shortPage = 1000

// promptWords is the most words of a line that asks its reader for something. A
// phrase in a longer line is part of an article.
const promptWords = 30

// tinyPage is a number of words: a page with fewer can hardly be an article.
const tinyPage = 80

// says finds the first of some phrases in the short lines of a short page. With an
// error's status no line is part of an article.
func (s *subject) says(phrases *search) (string, bool) {
	if s.content.Words > shortPage {
		return "", false
	}
	return phrases.in(s.lowered())
}

// lowered are the prompts of the whole text, with those for readers without
// scripts.
func (s *subject) lowered() string {
	if s.lower == "" {
		s.lower = s.prompts(s.content.Text + "\n" + s.content.Signals.Noscript)
	}
	return s.lower
}

// prompts are the lines of a text that may ask their reader for something, as
// phrases are compared.
func (s *subject) prompts(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 1)
	for line := range strings.SplitSeq(text, "\n") {
		if s.page.Status >= 400 || page.CountWords(line) <= promptWords {
			b.WriteString(lowerPhrase(line))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func containsAny(text string, phrases []string) (string, bool) {
	for _, phrase := range phrases {
		if strings.Contains(text, phrase) {
			return phrase, true
		}
	}
	return "", false
}

// names lists what a page calls itself: the parts of its title and its first
// headings, as phrases are compared.
func (s *subject) names() []string {
	names := titleParts(s.content.Signals.Title)
	for i, heading := range s.content.Titles() {
		if i == 3 {
			break
		}
		names = append(names, lowerPhrase(heading))
		names = append(names, titleParts(heading)...)
	}
	return names
}

// titleParts splits a title at the marks that sites put between a page's name
// and their own.
func titleParts(title string) []string {
	var parts []string
	for part := range strings.FieldsFuncSeq(lowerPhrase(title), func(r rune) bool { return strings.ContainsRune("|·»«•–—:", r) }) {
		for piece := range strings.SplitSeq(part, " - ") {
			if piece = strings.TrimSpace(piece); piece != "" {
				parts = append(parts, piece)
			}
		}
	}
	return parts
}

// called is the first name of a page that is one of some phrases and nothing more,
// or "". A title that goes on after the phrase is about it.
func (s *subject) called(phrases []string) string {
	name := exactly(s.names(), phrases)
	if name == "" {
		return ""
	}
	for part := range strings.FieldsFuncSeq(lowerPhrase(s.content.Signals.Title), func(r rune) bool { return strings.ContainsRune("|·»«•–—", r) }) {
		if rest, found := strings.CutPrefix(strings.TrimSpace(part), strings.Trim(name, phraseMarks)); found && page.CountWords(strings.SplitN(rest, " - ", 2)[0]) > 3 {
			return ""
		}
	}
	return name
}

// phraseMarks may stand around a phrase.
const phraseMarks = " .!?()[]\"'-–—:;,。！？"

var phraseSpelling = strings.NewReplacer("’", "'", "‘", "'", "ʼ", "'", "…", "...", "\u00ad", "", "\u200b", "")

// lowerPhrase is a text as phrases are compared: in lower case, on one line,
// with plain apostrophes.
func lowerPhrase(s string) string {
	if isTidy(s) {
		return strings.ToLower(s)
	}
	return strings.Join(strings.Fields(strings.ToLower(phraseSpelling.Replace(s))), " ")
}

// isTidy holds for a text of ASCII whose blanks are single, between words.
func isTidy(s string) bool {
	blank := true
	for i := range len(s) {
		if c := s[i]; (c <= ' ' || c >= 0x7f) && (c != ' ' || blank) {
			return false
		}
		blank = s[i] == ' '
	}
	return !blank || s == ""
}

// exactly is the first name that is one of some phrases and nothing more than
// punctuation, or "".
func exactly(names, phrases []string) string {
	for _, name := range names {
		if slices.Contains(phrases, strings.Trim(name, phraseMarks)) {
			return name
		}
	}
	return ""
}

// roughly is the first name of at most ten words that begins or ends with one of
// some phrases, or "". Phrases that are too short to say it alone do not count.
func roughly(names, phrases []string) string {
	for _, name := range names {
		trimmed := strings.Trim(name, phraseMarks)
		if page.CountWords(trimmed) > 10 {
			continue
		}
		for _, phrase := range phrases {
			if !beginsWord(trimmed, phrase) && !endsWord(trimmed, phrase) {
				continue
			}
			if n := page.CountWords(phrase); n >= 3 || n == 2 && strings.Contains(phrase, "404") {
				return name
			}
		}
	}
	return ""
}

func beginsWord(s, phrase string) bool {
	rest, found := strings.CutPrefix(s, phrase)
	return found && !beginsLetter(rest)
}

func endsWord(s, phrase string) bool {
	rest, found := strings.CutSuffix(s, phrase)
	return found && !endsLetter(rest)
}

// hasWords reports whether a text has a phrase in whole words.
func hasWords(text, phrase string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], phrase)
		if i < 0 {
			return false
		}
		if at += i; !endsLetter(text[:at]) && !beginsLetter(text[at+len(phrase):]) {
			return true
		}
		at += len(phrase)
	}
}
