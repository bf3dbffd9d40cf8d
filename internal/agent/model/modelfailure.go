package model

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// What endpoints say with many different statuses. Quota is money that is used up, which
// no waiting brings back.
var (
	tooLong = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)context.{0,20}(length|window|size)|too many tokens|maximum.{0,20}tokens|too long|too_large|exceeds.{0,40}tokens|exceed_context_size`)
	})
	noQuota = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)insufficient.?(quota|credits|funds|balance)|exceeded your current quota|credit balance|payment.?required|requires more credits`)
	})
	noModel = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)model_not_found|model.{0,120}(not found|not exist|not available|no access|not a valid|unsupported)|not a valid model|^model:|no models? (is )?loaded|no endpoints found`)
	})
	unnamedModel = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)model.{0,30}(required|not specified|missing)|must provide a model|missing.{0,30}model`)
	})
	noTools = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(not|n't) support.{0,20}(tools?|function)|support tool use`)
	})
)

// failure is what an answer with a status that is not 200 means: who has to wait, and
// what a person has to change. Help is a command, or a flag for the same command as
// before. Nothing in it is the key.
func (d *model) failure(response *http.Response, body []byte, model string) *driver.Error {
	said := saidIn(body)
	words := d.masked(said.Message)
	all := strings.TrimSpace(strings.Join([]string{said.Code, said.Type, words}, " "))
	wait := retryAfter(response.Header.Get("Retry-After"), d.host.Now())
	if wait == 0 {
		wait = driver.WaitIn(string(body))
	}
	status := response.StatusCode
	answers := d.masked(fmt.Sprintf("%s answers %s", d.endpoint.title, response.Status))
	if words != "" {
		answers += ": " + driver.Shown(words)
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusBadRequest && strings.Contains(strings.ToLower(all), "api key not valid"):
		return d.refusedKey(fmt.Sprintf("%s refuses the key", d.endpoint.title), status)
	case noQuota().MatchString(all) && wait == 0, status == http.StatusPaymentRequired && wait == 0:
		return &driver.Error{Kind: driver.Unavailable, Lasting: true, Message: fmt.Sprintf("%s wants to be paid (%d)%s", d.endpoint.title, status, d.paysAt()), Help: "--agent AGENT"}
	case unnamedModel().MatchString(all) && status < 500:
		return d.unnamed(nil)
	case noModel().MatchString(words) && status < 500, said.Code == "model_not_found":
		return d.unknown(model, nil)
	case noTools().MatchString(all) && status < 500:
		return d.modelFault("%s cannot call tools", driver.Shown(model))
	case status == http.StatusForbidden:
		return d.refusedKey(fmt.Sprintf("%s does not allow that (%s)", d.endpoint.title, driver.Shown(tidegate.Cut(words))), status)
	case status == http.StatusTooManyRequests:
		return &driver.Error{Kind: driver.Rate, Message: answers, Wait: wait}
	case status >= 300 && status < 400:
		return d.moved(response)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		failure := d.misplaced("nothing that speaks %s is at %s", d.endpoint.protocol.name, d.url+d.endpoint.protocol.ask)
		if d.endpoint.protocol == &responsesProtocol && d.url != d.endpoint.url {
			failure.Help = "--agent model:" + d.url // which speaks Chat Completions, as most do
		}
		return failure
	case status == http.StatusRequestEntityTooLarge, tooLong().MatchString(all):
		return d.tooSmall(model)
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		return &driver.Error{Kind: driver.Unavailable, Message: answers, Wait: wait}
	}
	return driver.Failf(driver.Died, "%s", answers)
}

// saidIn is the error in the body of an answer: an object, Google's list of one, or a
// text.
func saidIn(body []byte) spoken {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var answer struct {
		Error   *spoken `json:"error"`
		Message string  `json:"message"`
		Detail  any     `json:"detail"`
	}
	switch {
	case json.Unmarshal(body, &answer) != nil:
		return spoken{} // a page of some server on the way
	case answer.Error != nil:
		return *answer.Error
	case answer.Detail != nil:
		return spoken{Message: fmt.Sprint(answer.Detail)}
	}
	return spoken{Message: answer.Message}
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := time.ParseDuration(value + "s"); err == nil {
		return min(max(0, seconds), driver.LongestWait)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(0, date.Sub(now)), driver.LongestWait)
	}
	return 0
}

func (d *model) noKey() *driver.Error {
	return &driver.Error{Kind: driver.Auth, Message: d.settings.KeyEnv + " is not set" + d.keysAt(), Help: "export " + d.settings.KeyEnv + "=…"}
}

// keysAt is where a person gets a key, as the end of a sentence.
func (d *model) keysAt() string {
	if d.endpoint.keyEnv == "" || d.endpoint.help == "" {
		return ""
	}
	return "; keys are at " + d.endpoint.help
}

func (d *model) refusedKey(what string, status int) *driver.Error {
	if d.settings.KeyEnv == "" {
		return &driver.Error{Kind: driver.Auth, Message: fmt.Sprintf("%s wants a key (%d)", d.url, status), Help: "export " + modelKey + "=…"}
	}
	return &driver.Error{Kind: driver.Auth, Message: fmt.Sprintf("%s in %s (%d)%s", what, d.settings.KeyEnv, status, d.keysAt()), Help: "export " + d.settings.KeyEnv + "=…"}
}

// paysAt is where a person pays, as the end of a sentence.
func (d *model) paysAt() string {
	if d.endpoint.pays == "" {
		return ""
	}
	return " at " + d.endpoint.pays
}

// misplaced is the failure of an address at which there is no such endpoint.
func (d *model) misplaced(format string, args ...any) *driver.Error {
	return &driver.Error{Kind: driver.Unavailable, Lasting: true, Code: tidegate.EndpointInvalid, Message: fmt.Sprintf(format, args...), Help: d.addressHelp("")}
}

// addressHelp is what a person types to ask another address: the right one where it is
// known.
func (d *model) addressHelp(right string) string {
	switch name := d.endpoint.urlEnv; {
	case d.endpoint.name == "":
		return "--agent model:" + cmp.Or(right, "http://HOST:PORT/v1")
	case d.settings.URL != "":
		return "tidegate config"
	case name != "" && driver.Variable(d.host.Environ, name) != "" && right != "":
		return "export " + name + "=" + right
	case name != "" && driver.Variable(d.host.Environ, name) != "":
		return "unset " + name
	}
	return "tidegate agents check api:" + d.endpoint.name
}

// moved is the failure of an address that leads elsewhere. The key is not carried there.
func (d *model) moved(response *http.Response) *driver.Error {
	failure := d.misplaced("%s answers %s", d.url, response.Status)
	if to, err := response.Location(); err == nil {
		failure.Message += " and leads to " + driver.Shown(d.masked(to.Scheme+"://"+to.Host+to.Path)) + ": name that address"
	}
	return failure
}

// unreachable is the failure of a request that got no answer.
func (d *model) unreachable(err error) *driver.Error {
	var unknown x509.UnknownAuthorityError
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // it repeats the address
	}
	failure := driver.Failf(driver.Unavailable, "%s cannot be reached at %s: %s", d.endpoint.title, d.url, driver.Shown(err.Error()))
	switch {
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return d.schemeOf("http")
	case strings.Contains(err.Error(), "malformed HTTP response"):
		return d.schemeOf("https")
	case errors.As(err, &unknown):
		failure.Message += "; SSL_CERT_FILE names further certificates"
		failure.Help = "export SSL_CERT_FILE=…"
	case strings.Contains(err.Error(), "no such host"):
		failure.Help = d.addressHelp("")
	case strings.HasPrefix(err.Error(), "proxyconnect "):
		failure.Message = fmt.Sprintf("the proxy that the environment names does not lead to %s: %s", d.url, driver.Shown(err.Error()))
		failure.Help = "unset HTTPS_PROXY"
	case errors.Is(err, syscall.ECONNREFUSED) && d.endpoint.keyEnv == "" && d.endpoint.help != "":
		failure.Message, failure.Help = fmt.Sprintf("%s does not run at %s", d.endpoint.title, d.url), d.endpoint.help
	case errors.Is(err, syscall.ECONNREFUSED):
		failure.Message, failure.Help = fmt.Sprintf("nothing listens at %s", d.url), d.addressHelp("")
	}
	return failure
}

// schemeOf is the failure of an address that wants another scheme.
func (d *model) schemeOf(scheme string) *driver.Error {
	right := scheme + d.url[strings.Index(d.url, "://"):]
	failure := d.misplaced("%s wants %s://", d.url, scheme)
	failure.Help = d.addressHelp(right)
	return failure
}

func (d *model) modelFault(format string, args ...any) *driver.Error {
	return &driver.Error{Kind: driver.Unavailable, Lasting: true, Code: tidegate.ModelRequired, Message: fmt.Sprintf(format, args...), Help: "--model NAME"}
}

// unnamed is the failure of an endpoint that cannot be asked without the name of a
// model.
func (d *model) unnamed(offered []offeredModel) *driver.Error {
	failure := d.modelFault("no model is named, and %s does not choose one", d.endpoint.title)
	failure.Choices = namesOf(offered)
	switch {
	case d.endpoint.name == "ollama" && offered != nil && len(offered) == 0:
		failure.Message, failure.Help = "Ollama has no model", "ollama pull qwen3"
	case offered != nil && len(offered) == 0:
		failure.Message = d.endpoint.title + " has no model at " + d.url
	}
	return failure
}

// unknown is the failure of a model that the endpoint does not have.
func (d *model) unknown(name string, offered []offeredModel) *driver.Error {
	failure := d.modelFault("%s has no model %q", d.endpoint.title, driver.Shown(name))
	failure.Choices = namesOf(offered)
	if near := codec.Nearest(name, failure.Choices); near != "" {
		failure.Message += "; did you mean " + near + "?"
		failure.Help = "--model " + near
	} else if d.endpoint.name == "ollama" && driver.IsModel(name) {
		failure.Help = "ollama pull " + name
	}
	return failure
}

// tooSmall is the failure of a model that cannot take what the job has to say.
func (d *model) tooSmall(name string) *driver.Error {
	return d.modelFault("the prompt does not fit into the context of %s: name a model with a larger one", driver.Shown(name))
}

// mostChoices is how many models a person is shown.
const mostChoices = 60

func namesOf(offered []offeredModel) []string {
	var names []string
	for _, m := range offered {
		if len(names) == mostChoices {
			names = append(names, fmt.Sprintf("… and %d more", len(offered)-mostChoices))
			break
		}
		names = append(names, driver.Shown(m.name))
	}
	return names
}
