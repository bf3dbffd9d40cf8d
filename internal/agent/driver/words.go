package driver

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Some clients say what went wrong only in words. The HTTP status of the
// model's provider is nearly always among them.
var (
	statusInWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:status(?: code)?:? |"code": ?|\[|\berror:? )([45]\d\d)\b`)
	})
	waitInWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:(?:try again|retry) (?:in|after)|retryDelay":) ?"?(\d+(?:\.\d+)?) ?(ms|s|m|h)?`)
	})
)

// phrases are how failures without a status are recognized; the first match counts.
var phrases = []struct {
	kind  Kind
	words []string
}{
	{Unavailable, []string{"connection refused", "econnrefused"}}, // not what a model refuses
	{Auth, []string{"not logged in", "please run /login", "missing environment variable", "api key not valid", "invalid api key", "invalid x-api-key", "incorrect api key", "invalid bearer token", "invalid authentication", "log in again", "sign in again"}},
	{Rate, []string{"usage limit", "rate limit", "hit your limit", "quota", "too many requests"}},
	{Refused, []string{"refus", "safeguards flagged", "content policy", "content_filter", "content filter", "flagged as", "blocked due to safety"}},
	{Unavailable, []string{"internal server error", "server had an error", "internal error has occurred", "high demand", "overloaded", "stream disconnected", "stream closed", "stream ended", "network error", "connection", "terminated", "timed out", "fetch failed", "econn", "malformed response"}},
}

// LongestWait is how long a provider may let an agent wait: limits of an account
// end after some hours, and a person decides about a longer wait.
const LongestWait = 6 * time.Hour

// FailureIn is the failure that a client described.
func FailureIn(name, words string) *Error {
	failure := &Error{Kind: Died, Message: name + ": " + Shown(words)}
	if match := statusInWords().FindStringSubmatch(words); match != nil {
		status, _ := strconv.Atoi(match[1])
		failure.Kind = KindOf(status)
	} else {
		lower := strings.ToLower(words)
	search:
		for _, row := range phrases {
			for _, phrase := range row.words {
				if strings.Contains(lower, phrase) {
					failure.Kind = row.kind
					break search
				}
			}
		}
	}
	if failure.Kind == Rate {
		failure.Wait = WaitIn(words)
	}
	return failure
}

// WaitIn is how long a text says that one has to wait; 0 where it does not say so.
func WaitIn(words string) time.Duration {
	match := waitInWords().FindStringSubmatch(words)
	if match == nil {
		return 0
	}
	number, _ := strconv.ParseFloat(match[1], 64)
	unit := map[string]time.Duration{"ms": time.Millisecond, "": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour}[strings.ToLower(match[2])]
	return time.Duration(min(number*float64(unit), float64(LongestWait)))
}

// KindOf is the kind of failure that an HTTP status of a model's provider
// stands for.
func KindOf(status int) Kind {
	switch {
	case status == 401, status == 403:
		return Auth
	case status == 402, status == 429:
		return Rate
	case status == 404, status == 408, status >= 500:
		return Unavailable
	}
	return Died
}
