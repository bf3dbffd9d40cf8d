package model

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

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
	Local   bool   // the model runs on this machine, and costs nothing
	Reports bool   // the endpoint says what each answer cost
	Price   *Price // of the model, by the table that comes with the program; nil where it has none
	Day     string // of that table
}

// Price is what tokens cost, in USD per million.
type Price struct{ Input, Output float64 }

// PlaceOf is where d asks for a model; false for an agent that is not an endpoint.
func PlaceOf(d driver.Driver, name string) (Place, bool) {
	m, ok := d.(*model)
	if !ok {
		return Place{}, false
	}
	place := Place{Title: m.endpoint.title, URL: m.url, Local: m.free(), Reports: m.endpoint.name == "openrouter", Day: modelsKnown().day}
	if p, known := priceOf(m.endpoint.name, name); known {
		place.Price = &Price{p.input, p.output}
	}
	return place, true
}
