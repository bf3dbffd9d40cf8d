package source

import (
	"regexp"
	"strings"
	"sync"
)

// Citable is a source that answers may cite, as prompts name it.
type Citable struct {
	ID     string // short: models cannot copy 64 hex digits
	CID    string
	Title  string
	URL    string
	Status string
	Quotes []string // what outputs quote from it
	Silent bool     // nothing can be read on its page
}

// Citables are the sources that answers may cite.
type Citables []Citable

// Table maps short ids to cids.
func (c Citables) Table() map[string]string {
	out := map[string]string{}
	for _, each := range c {
		out[each.ID] = each.CID
	}
	return out
}

// Among are the sources whose cids are listed.
func (c Citables) Among(cids map[string]bool) Citables {
	var out Citables
	for _, each := range c {
		if cids[each.CID] {
			out = append(out, each)
		}
	}
	return out
}

// Shorten shows short ids in place of cids.
func (c Citables) Shorten(text string) string {
	var pairs []string
	for _, each := range c {
		pairs = append(pairs, "@"+each.CID, "@"+each.ID)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Expand writes cids in place of the short ids of a prompt.
func Expand(text string, table map[string]string) string {
	return marked().ReplaceAllStringFunc(text, func(mark string) string {
		return mentioned().ReplaceAllStringFunc(mark, func(mention string) string {
			if cid := table[mention[1:]]; cid != "" {
				return "@" + cid
			}
			return mention
		})
	})
}

// marked finds citations and inferences, mentioned the short ids in them.
var (
	marked    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(?:@s[0-9]+|inferred from [^\[\]]*)\]`) })
	mentioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`@s[0-9]+\b`) })
)
