package source

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/page"
)

// The rules that need no look at a page's text.

func malformedURL(s *subject) (string, bool) {
	if s.source.fault != nil {
		return tidegate.AsError(s.source.fault).Message, true
	}
	return "", s.page != nil && !s.page.response() && s.page.Fault == BadURL
}

func withCredentials(s *subject) (string, bool) { return "", s.source.credentials }

func notChecked(s *subject) (string, bool) { return "", s.page == nil }

// fault is the rule for fetches that failed in one of these ways.
func fault(faults ...Fault) func(*subject) (string, bool) {
	return func(s *subject) (string, bool) {
		return "", !s.page.response() && slices.Contains(faults, s.page.Fault)
	}
}

func noResponse(s *subject) (string, bool) { return "", !s.page.response() }

// httpStatus is the rule for responses with one of these statuses.
func httpStatus(statuses ...int) func(*subject) (string, bool) {
	return func(s *subject) (string, bool) {
		return "HTTP " + strconv.Itoa(s.page.Status), !s.page.Attached && slices.Contains(statuses, s.page.Status)
	}
}

func serverError(s *subject) (string, bool) {
	return "HTTP " + strconv.Itoa(s.page.Status), !s.page.Attached && s.page.Status >= 500 && s.page.Status <= 599
}

func notSuccess(s *subject) (string, bool) {
	return "HTTP " + strconv.Itoa(s.page.Status), !s.page.Attached && (s.page.Status < 200 || s.page.Status > 299)
}

func tooLarge(s *subject) (string, bool) { return "", s.page.Truncated }

// leadingWords is a number of words: a page that only leads elsewhere has fewer.
const leadingWords = 30

func noText(s *subject) (string, bool) {
	switch s.content.Media {
	case page.None:
		return "the response is empty", true
	case page.HTML:
		refresh := s.content.Signals.Refresh || strings.Contains(strings.ToLower(s.page.header("Refresh")), "url=")
		if refresh && s.content.Words < leadingWords {
			return "it leads to another page by itself", true
		}
		return "", s.content.Words == 0
	}
	return "", false
}
