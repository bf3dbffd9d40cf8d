package driver

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestWhatAClientSaysOfItselfIsBounded: names come from an agent, and are kept.
func TestWhatAClientSaysOfItselfIsBounded(t *testing.T) {
	var calls ToolCalls
	for i := range 3 * maxTools {
		calls.Count("", fmt.Sprintf("%d %s", i, strings.Repeat("ü", MaxName)))
	}
	if len(calls.Counts) > maxTools+1 {
		t.Errorf("%d names are kept", len(calls.Counts))
	}
	total := 0
	for name, n := range calls.Counts {
		total += n
		if len(name) > MaxName || strings.ToValidUTF8(name, "") != name {
			t.Errorf("the name %q is kept", name)
		}
	}
	if total != 3*maxTools {
		t.Errorf("%d calls are counted of %d", total, 3*maxTools)
	}
}

// TestAConnectionIsRefusedByNoModel tells a server that is away from a model that will
// not do a task.
func TestAConnectionIsRefusedByNoModel(t *testing.T) {
	for words, want := range map[string]Kind{
		"error sending request for url (http://127.0.0.1:1/v1/responses): Connection refused (os error 111)": Unavailable,
		"connect ECONNREFUSED 127.0.0.1:11434": Unavailable,
		"The model refused to answer.":         Refused,
	} {
		if got := FailureIn("codex", words).Kind; got != want {
			t.Errorf("%s: got %s, want %s", words, got, want)
		}
	}
}

func TestADeadlineIsSaidInSeconds(t *testing.T) {
	for had, want := range map[time.Duration]string{20*time.Minute - 21214*time.Nanosecond: "20m0s", 400 * time.Millisecond: "400ms", 0: "0s"} {
		if got := (Limits{Deadline: had}).ShownDeadline().String(); got != want {
			t.Errorf("%v is said as %s", had, got)
		}
	}
}

// Some clients show nothing but the words of the provider.
func TestWordsOfProviders(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]Kind{
		`Internal error: invalid x-api-key {"service":"session","errorName":"APIError"}`:                            Auth,
		"Incorrect API key provided: k. You can find your API key at https://platform.openai.com/account/api-keys.": Auth,
		"API key not valid. Please pass a valid API key.":                                                           Auth,
		"Internal error: This request would exceed your account's rate limit. Please try again later.":              Rate,
		"Resource has been exhausted (e.g. check quota).":                                                           Rate,
		"Internal error: Internal server error":                                                                     Unavailable,
		"The server had an error while processing your request. Sorry about that!":                                  Unavailable,
		"Internal error: Overloaded":                                                                                Unavailable,
		"Internal error":                                                                                            Died,
	} {
		if got := FailureIn("x", words).Kind; got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
}

// A provider, or an agent in its name, cannot make a run wait for years.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]time.Duration{
		"status 429, try again in 7s":                     7 * time.Second,
		"status 429, try again in 90 h":                   LongestWait,
		"rate limit, retry after 99999999999999999999999": LongestWait,
		"status 429": 0,
	} {
		if got := FailureIn("x", words).Wait; got != want {
			t.Errorf("%s: waits %v, want %v", words, got, want)
		}
	}
}
