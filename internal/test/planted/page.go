package planted

import "slices"

// Page is a source as an agent would name it, and how it must be judged.
type Page struct {
	URL       string
	Title     string   // the title that the agent gave it
	Kind      string   // the kind of fault, [Honest] for none
	Variant   string   // what is special about it
	Verdict   string   // valid, paywalled, blocked, mismatch or invalid
	Rule      string   // the rule that finds it, as `citations rules` names it
	Sentences []string // the sentences on the page, for honest ones
}

// The verdicts.
const (
	valid     = "valid"
	paywalled = "paywalled"
	blocked   = "blocked"
	mismatch  = "mismatch"
	invalid   = "invalid"
)

// Honest is the kind of a page without a fault.
const Honest = "honest"

// kinds are the kinds of fault, how they must be judged, and by which rule.
var kinds = map[string]struct{ verdict, rule string }{
	Honest: {valid, "valid"},

	"malformed":           {invalid, "malformed"},       // what looks like a URL but is not one
	"too_long":            {invalid, "malformed"},       // a URL of more than 2,048 bytes
	"credentials":         {invalid, "credentials"},     // in the URL
	"address_literal":     {invalid, "refused-address"}, // a private or reserved address in the URL, in any spelling
	"private_address":     {invalid, "refused-address"}, // a name that resolves to one
	"redirect_to_private": {invalid, "refused-address"},
	"port":                {invalid, "refused-address"}, // other than 80 and 443
	"no_such_name":        {invalid, "no-such-name"},
	"loop":                {invalid, "redirect-loop"}, // more redirects than are followed
	"status_404":          {invalid, "gone"},
	"status_410":          {invalid, "gone"},
	"status_451":          {invalid, "gone"},
	"soft_404":            {invalid, "soft-404"},
	"parked":              {invalid, "parked"},

	"unreachable":  {blocked, "no-connection"},
	"timeout":      {blocked, "timed-out"},
	"tls":          {blocked, "bad-tls"},
	"broken":       {blocked, "no-connection"}, // not HTTP, or not all of it
	"too_large":    {blocked, "too-large"},     // after decompression
	"no_text":      {blocked, "no-text"},       // status 200, and nothing to read without a browser
	"status_401":   {blocked, "refused"},
	"status_403":   {blocked, "refused"},
	"status_429":   {blocked, "refused"},
	"status_5xx":   {blocked, "server-error"},
	"status_other": {blocked, "no-page"},
	"bot_wall":     {blocked, "bot-wall"}, // whatever its status

	"status_402": {paywalled, "payment"},
	"paywall":    {paywalled, "paywall"},

	"login":      {mismatch, "login"},
	"consent":    {mismatch, "consent"},
	"home_page":  {mismatch, "home-page"}, // where a deep link ends
	"other_site": {mismatch, "other-site"},
	"title":      {mismatch, "other-title"}, // a title that has nothing to do with the page
}

// Pages are all planted pages, in a stable order.
func Pages() []Page { return slices.Clone(built().pages) }

// Examples are one page for each rule by which some page must be found.
func Examples() []Page {
	var examples []Page
	for _, page := range Pages() {
		if !slices.ContainsFunc(examples, func(p Page) bool { return p.Rule == page.Rule }) {
			examples = append(examples, page)
		}
	}
	return examples
}
