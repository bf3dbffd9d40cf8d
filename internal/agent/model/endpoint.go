package model

import (
	"cmp"
	_ "embed"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/config"
)

// endpoint is a service whose models are asked without a client.
type endpoint struct {
	name     string // after "api:"; "" for an address that a person named
	title    string
	url      string
	urlEnv   string // the variable that names another address
	keyEnv   string // the variable that holds the key; "" for a service on this machine
	help     string // where a person gets a key, or what starts the service
	pays     string // where a person pays
	probe    string // a path that only the owner of a key can read, where everybody can read the list of models
	protocol *protocol
}

// endpoints are those that have a name, in the order in which they are looked for.
var endpoints = []*endpoint{
	{
		name: "anthropic", title: "Anthropic", url: "https://api.anthropic.com", urlEnv: "ANTHROPIC_BASE_URL", keyEnv: "ANTHROPIC_API_KEY",
		help: "https://platform.claude.com/settings/keys", pays: "https://platform.claude.com/settings/billing", protocol: &messagesProtocol,
	},
	{
		name: "openai", title: "OpenAI", url: "https://api.openai.com/v1", urlEnv: "OPENAI_BASE_URL", keyEnv: "OPENAI_API_KEY",
		help: "https://platform.openai.com/api-keys", pays: "https://platform.openai.com/settings/organization/billing", protocol: &responsesProtocol,
	},
	{
		name: "openrouter", title: "OpenRouter", url: "https://openrouter.ai/api/v1", urlEnv: "OPENROUTER_BASE_URL", keyEnv: "OPENROUTER_API_KEY",
		help: "https://openrouter.ai/settings/keys", pays: "https://openrouter.ai/settings/credits", probe: "/key", protocol: &chatProtocol,
	},
	{
		name: "gemini", title: "Google", url: "https://generativelanguage.googleapis.com/v1beta/openai", urlEnv: "GEMINI_BASE_URL", keyEnv: "GEMINI_API_KEY",
		help: "https://aistudio.google.com/apikey", pays: "https://aistudio.google.com/usage", protocol: &chatProtocol,
	},
	{name: "ollama", title: "Ollama", url: "http://127.0.0.1:11434/v1", urlEnv: "OLLAMA_HOST", help: "ollama serve", protocol: &chatProtocol},
	{name: "lmstudio", title: "LM Studio", url: "http://127.0.0.1:1234/v1", urlEnv: "LMSTUDIO_BASE_URL", help: "lms server start", protocol: &chatProtocol},
}

// Endpoint is a service whose models can be asked by name, without a client.
type Endpoint struct {
	Driver string // "api:" and its name
	Title  string
	KeyEnv string // the variable that holds its key; "" for a service on this machine
	Help   string // where a person gets a key, or what starts the service
}

// Endpoints are the services with a name, in the order in which they are looked for.
func Endpoints() []Endpoint {
	list := make([]Endpoint, len(endpoints))
	for i, e := range endpoints {
		list[i] = Endpoint{"api:" + e.name, e.title, e.keyEnv, e.help}
	}
	return list
}

// modelKey is the variable that holds the key of model:URL where the configuration
// names none.
const modelKey = "TIDEGATE_MODEL_KEY"

// endpointOf is the endpoint that settings name, with its address. It returns
// INVALID_ARGS for a name that no service has, with near at its end, and
// ENDPOINT_INVALID for an address that cannot be one.
func endpointOf(settings driver.Settings, host driver.Host, near string) (*endpoint, string, error) {
	if address, ok := strings.CutPrefix(settings.Driver, "model:"); ok {
		e := &endpoint{title: "the model", protocol: &chatProtocol}
		if driver.Variable(host.Environ, modelKey) != "" {
			e.keyEnv = modelKey
		}
		address, err := e.address(settings, address)
		return e, address, err
	}
	name := strings.TrimPrefix(settings.Driver, "api:")
	i := slices.IndexFunc(endpoints, func(e *endpoint) bool { return e.name == name })
	if i < 0 {
		return nil, "", driver.Invalid(settings, "%q names no service; expected api: with anthropic, openai, openrouter, gemini, ollama or lmstudio%s", settings.Driver, near)
	}
	e := endpoints[i]
	address := settings.URL
	if address == "" && e.urlEnv != "" {
		address = driver.Variable(host.Environ, e.urlEnv)
		if e.name == "ollama" && address != "" {
			address = ollamaHost(address)
		}
	}
	if address == "" {
		return e, e.url, nil
	}
	address, err := e.address(settings, address)
	return e, address, err
}

// pasted are the ends of addresses that people copy together with the address.
var pasted = []string{"/chat/completions", "/responses", "/messages", "/models"}

// address is an address that a person wrote as the paths of the protocol follow it.
// It returns ENDPOINT_INVALID for what is not an address, and for one with a key in it.
func (e *endpoint) address(settings driver.Settings, written string) (string, error) {
	bad := func(why string) error {
		return tidegate.Errorf(tidegate.EndpointInvalid, tidegate.Pairs("driver", tidegate.Cut(settings.Driver)), "%q is not the address of a model: %s", driver.Shown(written), why)
	}
	parsed, err := url.Parse(written)
	scheme, _, split := strings.Cut(written, "://")
	switch {
	case written == "":
		return "", bad("it is empty; write one such as http://127.0.0.1:11434/v1")
	case strings.Contains(written, "@") || strings.Contains(written, "?"):
		return "", tidegate.Errorf(tidegate.EndpointInvalid, tidegate.Pairs("driver", "model:…"), "an address must not have a key in it: leave it out, and export %s=…", cmp.Or(e.keyEnv, modelKey))
	case !split:
		return "", bad("it has no scheme; write http://" + driver.Shown(written))
	case scheme != "http" && scheme != "https":
		return "", bad("its scheme must be http or https")
	case err != nil || parsed.Hostname() == "":
		return "", bad("it names no host; write one such as http://127.0.0.1:11434/v1")
	}
	path := strings.TrimRight(parsed.Path, "/")
	for _, end := range pasted {
		path = strings.TrimSuffix(path, end)
	}
	if e.protocol == &messagesProtocol {
		path = strings.TrimSuffix(path, "/v1") // its own clients write it without
	} else if path == "" {
		path = "/v1"
	}
	return parsed.Scheme + "://" + parsed.Host + path, nil
}

// ollamaHost is the address in OLLAMA_HOST, which Ollama reads with every part left
// out, and which its server takes as the address to listen on.
func ollamaHost(written string) string {
	if !strings.Contains(written, "://") {
		written = "http://" + written
	}
	parsed, err := url.Parse(written)
	if err != nil {
		return written
	}
	name, port := parsed.Hostname(), cmp.Or(parsed.Port(), "11434")
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return parsed.Scheme + "://" + name + ":" + port + parsed.Path
}

// onThisMachine reports whether an address leads to this machine.
func onThisMachine(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(parsed.Hostname()), ".")
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}

// serviceAt is the host and port of an address.
func serviceAt(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return address
	}
	host, port := strings.TrimSuffix(strings.ToLower(parsed.Hostname()), "."), "80"
	if onThisMachine(address) {
		host = "localhost"
	}
	if parsed.Scheme == "https" {
		port = "443"
	}
	return host + ":" + cmp.Or(parsed.Port(), port)
}

//go:embed models.txt
var modelsText string

// price is what tokens of a model cost, in USD per million.
type price struct{ input, cached, written, output float64 }

// modelTable is what models.txt says.
type modelTable struct {
	day       string
	prices    map[string]price    // by service and model
	preferred map[string][]string // by service
}

var modelsKnown = sync.OnceValue(func() modelTable {
	t := modelTable{prices: map[string]price{}, preferred: map[string][]string{}}
	service := ""
	for line := range strings.Lines(modelsText) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == "day":
			t.day = words[1]
			continue
		case strings.HasPrefix(words[0], "["):
			service = strings.Trim(words[0], "[]")
			continue
		}
		name, preferred := strings.CutPrefix(words[0], "*")
		if preferred {
			t.preferred[service] = append(t.preferred[service], name)
		}
		if len(words) == 1 {
			continue
		}
		var figures [4]float64
		for i, word := range words[1:] {
			figures[i], _ = strconv.ParseFloat(word, 64) // a test reads every line
		}
		t.prices[service+" "+name] = price{figures[0], figures[1], figures[2], figures[3]}
	}
	return t
})

// preferredModels are those of a service that are asked for where nobody names one.
func preferredModels(service string) []string { return modelsKnown().preferred[service] }

// dated is the end of a name that stands for a model on a certain day.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$`) })

func priceOf(service, model string) (price, bool) {
	p, known := modelsKnown().prices[service+" "+model]
	if !known {
		p, known = modelsKnown().prices[service+" "+dated().ReplaceAllString(model, "")]
	}
	return p, known
}

func (p price) of(t tokens) float64 {
	fresh := max(0, t.input-t.cached-t.written)
	return (float64(fresh)*p.input + float64(t.cached)*p.cached + float64(t.written)*p.written + float64(t.output)*p.output) / 1e6
}

// free reports whether the model runs on this machine. What wants a key there is a
// gateway to models elsewhere.
func (d *model) free() bool { return d.settings.KeyEnv == "" && onThisMachine(d.url) }

// cost is what one reply of a model cost, and whether that is known. A person's own price
// goes before the table.
func (d *model) cost(model string, t tokens) (float64, bool) {
	if d.settings.Priced {
		return 0, false
	}
	if d.free() {
		return 0, true
	}
	p, known := priceOf(d.endpoint.name, model)
	return p.of(t), known
}

// Place is where an endpoint is, and what its answers cost, as far as that is known
// beforehand.
type Place struct {
	Title   string
	URL     string
	Service string        // its host and port, the same however they are written
	Local   bool          // the model runs on this machine, and costs nothing
	Reports bool          // the endpoint says what each answer cost
	Price   *config.Price // of the model, by the table that comes with the program; nil where it has none
	Day     string        // of that table
}

// PlaceOf is where d asks for a model; false for an agent that is not an endpoint.
func PlaceOf(d driver.Driver, name string) (Place, bool) {
	m, ok := d.(*model)
	if !ok {
		return Place{}, false
	}
	place := Place{Title: m.endpoint.title, URL: m.url, Service: serviceAt(m.url), Local: m.free(), Reports: m.endpoint.name == "openrouter", Day: modelsKnown().day}
	if p, known := priceOf(m.endpoint.name, name); known {
		place.Price = &config.Price{Input: p.input, Output: p.output}
	}
	return place, true
}
