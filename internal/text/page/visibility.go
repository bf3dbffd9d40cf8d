package page

import (
	"bytes"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/tidegate/tidegate/internal/text/style"
)

// effectOf is what an element does to the text in it: by its kind, by the attributes
// hidden, aria-hidden, popover and style, by the sheets of the page, or because it is a
// dialog that is not open. What is struck out counts as not there: the page takes it back.
// A whole page that hides itself waits for a script, and is read. So is what a
// reader opens in place: details, and what is hidden until it is found.
func (w *walker) effectOf(name atom.Atom, a *attributes) (style.Effect, style.Place) {
	at := &w.top
	if n := len(w.open); n > 0 {
		at = &w.open[n-1].place
	}
	hints := a.hints
	if w.count[atom.Svg] > 0 || name == atom.Svg {
		hints = a.drawing
	}
	switch {
	case name == atom.Body && a.link != "":
		w.link = legacyColour([]byte(a.link))
	case name == atom.Body && (strings.HasPrefix(a.hints, "color:") || strings.Contains(a.hints, ";color:")):
		w.link = "-webkit-link"
	case name == atom.A && a.leads != "" && w.link != "":
		hints = "color:" + w.link + ";" + hints
	case name == atom.Mark:
		hints = "background-color:yellow;color:black;"
	case name == atom.Svg: // what is beyond its edges is not drawn, and of what is inserted nothing without a size
		hints = "fill:black;overflow:hidden;" + hints
	case name == insertedName():
		hints = "fill:currentcolor;overflow:hidden;width:0;" + hints
	}
	var e style.Effect
	var place style.Place
	if hints != "" || a.style != "" || w.sheet != nil {
		asked := style.Element{ID: a.id, Class: a.class, Attributes: a.all, Root: name == atom.Html, Language: a.lang, Drawn: w.count[atom.Svg] > 0 || name == atom.Svg}
		if w.sheet != nil {
			asked.Name = w.tagName(name)
		}
		e, place = w.sheet.Effect(at, asked, hints, a.style, w.now())
	}
	if name == atom.Html || name == atom.Body {
		return e.WithoutHiding(), place
	}
	closed := a.popover != "" || name == atom.Dialog && a.open == "" || a.hidden != "" && !strings.EqualFold(a.hidden, "until-found")
	closed = closed || a.language != "" && w.count[atom.Svg] > 0 // drawn for readers of that language
	unknown := isCustom(name) && w.count[atom.Svg] > 0 && w.count[insertedName()] == 0 && !isShape(name) && !drawnNames()[name]
	if isNeverDrawn(name) || name == phantomName() || unknown || closed && !e.Shows || strings.EqualFold(strings.TrimSpace(a.ariaHidden), "true") {
		e.Hides = true
	}
	return e, place
}

// isSlotted reports whether what stands in the innermost element, in the slot of a name, is
// drawn: in a host of a shadow tree only what that has a slot for.
func (w *walker) isSlotted(slot string) bool {
	if len(w.open) == 0 {
		return true
	}
	e := &w.open[len(w.open)-1]
	return e.slots == nil || e.slots[slot]
}

// slot notes a slot of a shadow tree, if what is put there is seen. What style elements of the
// tree say is not known.
func (w *walker) slot(e element, a *attributes) {
	at := len(w.open) - 1
	for ; at > 0 && w.open[at].name != atom.Template; at-- {
	}
	if at < 1 || !w.open[at].shadow {
		return
	}
	var sight style.Sight
	for _, inner := range append(slices.Clone(w.open[at+1:]), e) {
		sight = inner.effect.On(sight)
	}
	if sight.Text() {
		w.open[at-1].slots[a.name] = true
	}
}

// isHost holds for the elements that can have a shadow tree.
func isHost(name atom.Atom) bool {
	switch name {
	case atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Div, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Main, atom.Nav, atom.P, atom.Section, atom.Span:
		return true
	}
	return isCustom(name)
}

// alternative hides what stands in a formula or drawing behind the first of several forms.
func (w *walker) alternative(e *element) {
	if n := len(w.open); n > 0 && alternatives()[w.open[n-1].name] {
		w.open[n-1].children++
		e.effect.Hides = e.effect.Hides || w.open[n-1].children > 1
	}
}

// forget takes back the text of the innermost element of a name, and of what follows in it.
func (w *walker) forget(name atom.Atom) {
	for at := len(w.open) - 1; at >= 0; at-- {
		if w.open[at].name == name {
			w.out.cut(w.open[at].from)
			w.open[at].effect.Hides = true
			w.redraw(at)
			return
		}
	}
}

// isNeverDrawn holds for elements whose content is for programs or for browsers that cannot
// show them, and for those by which a page takes something back.
func isNeverDrawn(name atom.Atom) bool {
	switch name {
	case atom.Template, atom.Desc, atom.Annotation, atom.AnnotationXml, atom.Rp,
		atom.Video, atom.Audio, atom.Canvas, atom.Object, atom.Progress, atom.Meter, atom.Datalist,
		atom.Del, atom.S, atom.Strike:
		return true
	}
	return name >= firstNotDrawn
}

// sheetOf reads the sheets that count for a page and that it brings along: those in its
// style elements, and those in addresses of links. None counts that is in a template or for
// readers without scripts.
func sheetOf(body []byte, contentType string) *style.Sheet {
	if !containsFold(body, "<style") && !containsFold(body, "<\x00s\x00t\x00y\x00l\x00e") && !containsFold(body, "data:") {
		return nil
	}
	var sheets []style.Text
	z := tokensOf(body, contentType)
	for apart, drawings, formulas := 0, 0, 0; ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return style.Read(sheets)
		}
		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag, more := z.TagName()
		change := 1
		if kind == html.EndTagToken {
			change = -1
		}
		switch name := atom.Lookup(tag); {
		case name == atom.Template:
			apart = max(0, apart+change)
		case name == atom.Svg && kind != html.SelfClosingTagToken:
			drawings = max(0, drawings+change)
		case name == atom.Math && kind != html.SelfClosingTagToken:
			formulas = max(0, formulas+change)
		case name == atom.Title && drawings > 0: // what stands in it is HTML
			z.NextIsNotRawText()
		case change > 0 && (name == atom.Style || name == atom.Link):
			of := map[string]string{}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if _, twice := of[string(key)]; !twice {
					of[string(key)] = string(value)
				}
			}
			_, off := of["disabled"]
			// Of sheets with titles one is chosen, and in a formula none is read.
			one, counts := style.Text{Media: of["media"], Doubtful: off || of["title"] != "" || formulas > 0}, apart == 0
			if name == atom.Link {
				one.Rules, _ = style.Contained(strings.TrimSpace(of["href"]))
				counts = counts && hasToken(of["rel"], "stylesheet") && !hasToken(of["rel"], "alternate")
			}
			counts = counts && (of["type"] == "" || strings.EqualFold(of["type"], "text/css"))
			if name == atom.Style && kind == html.StartTagToken && z.Next() == html.TextToken {
				if one.Rules = string(z.Raw()); drawings > 0 { // there it is text like any other
					one.Rules = html.UnescapeString(strings.NewReplacer("<![CDATA[", "", "]]>", "").Replace(one.Rules))
				}
			}
			if counts {
				sheets = append(sheets, one)
			}
		}
	}
}

// containsFold reports whether a text has a word of ASCII letters, in whatever case.
func containsFold(text []byte, word string) bool {
	for {
		at := bytes.IndexByte(text, word[0])
		if at < 0 || len(text)-at < len(word) {
			return false
		}
		if strings.EqualFold(string(text[at:at+len(word)]), word) {
			return true
		}
		text = text[at+1:]
	}
}

// firstNotDrawn is the first of the names that stand for elements of SVG which are
// not drawn where they stand. Package atom does not know them.
const firstNotDrawn atom.Atom = 1 << 31

var notDrawnNames = []string{"defs", "metadata", "symbol", "clippath", "mask", "pattern", "marker", "filter", "lineargradient", "radialgradient"}

// Names that package atom does not know: those of what is drawn in a drawing, besides the
// shapes, of what HTML inserts there, and of what takes its room in a formula and is not seen.
var (
	drawnNames   = sync.OnceValue(func() map[atom.Atom]bool { return namesOf("g text tspan switch") })
	insertedName = sync.OnceValue(func() atom.Atom {
		if known := atom.Lookup([]byte("foreignobject")); known != 0 {
			return known
		}
		return customName([]byte("foreignobject"))
	})
	alternatives = sync.OnceValue(func() map[atom.Atom]bool { return namesOf("maction semantics switch") })
	// animates are the elements that change a drawing while it is seen. What remains to be
	// seen of its text is not known.
	animates    = sync.OnceValue(func() map[atom.Atom]bool { return namesOf("set animate animatetransform animatemotion animatecolor") })
	phantomName = sync.OnceValue(func() atom.Atom { return customName([]byte("mphantom")) })
)

func namesOf(words string) map[atom.Atom]bool {
	all := map[atom.Atom]bool{}
	for word := range strings.FieldsSeq(words) {
		all[customName([]byte(word))] = true
		if known := atom.Lookup([]byte(word)); known != 0 {
			all[known] = true
		}
	}
	return all
}

// foreignName is the name of an element that package atom does not know, 0 for one
// that does not matter.
func foreignName(name []byte) atom.Atom {
	if i := slices.IndexFunc(notDrawnNames, func(known string) bool { return strings.EqualFold(known, string(name)) }); i >= 0 {
		return firstNotDrawn + atom.Atom(i)
	}
	return 0
}

// customName stands for an element that HTML does not have, by a digest of its name.
func customName(name []byte) atom.Atom {
	sum := fnv.New32a()
	_, _ = sum.Write(bytes.ToLower(name))
	return firstCustom | atom.Atom(sum.Sum32())&(firstCustom-1)
}

const firstCustom atom.Atom = 1 << 30

func isCustom(name atom.Atom) bool { return name >= firstCustom && name < firstNotDrawn }

// tagName is the name of the present tag, for selectors.
func (w *walker) tagName(name atom.Atom) string {
	if name >= firstCustom {
		return w.custom
	}
	return name.String()
}
