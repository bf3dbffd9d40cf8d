package source

import (
	"time"

	"github.com/tidegate/tidegate/internal/rule/policy"
)

// languageWords is how many words a page must have to show its language.
const languageWords = 50

// notAllowed is the rule for what the run's policy refuses. A file that a person
// attached is the person's own choice.
func notAllowed(s *subject) (string, bool) {
	if s.policy.IsZero() || s.page != nil && s.page.Attached {
		return "", false
	}
	url, ok := s.source.FetchURL()
	if !ok {
		return "", false
	}
	known := policy.Source{URL: url}
	if s.page != nil {
		known.URL = s.page.URL
	}
	if s.page != nil && s.page.Status >= 200 && s.page.Status <= 299 {
		known.Final, known.Date = s.page.final(), s.date()
		if s.content.Words >= languageWords {
			known.Language = s.language()
		}
	}
	return s.policy.Refuses(known)
}

// date is when the page was published, as it says itself or its registry says, or when
// its server says that it was last changed, or when a search found that it is of; ""
// where nobody says anything.
func (s *subject) date() string {
	switch {
	case s.content.Published != "":
		return s.content.Published
	case s.work != nil && s.work.Date != "":
		return s.work.Date
	}
	changed, err := time.Parse(time.RFC1123, s.page.header("Last-Modified"))
	if err != nil {
		return s.found
	}
	return changed.UTC().Format(time.DateOnly)
}
