package page

import (
	"slices"

	"golang.org/x/net/html/atom"

	"github.com/tidegate/tidegate/internal/text/style"
)

// element is an open element.
type element struct {
	name   atom.Atom
	menu   int // of navigation: where it begins in out, plus 1
	from   int // where it begins in out
	effect style.Effect
	place  style.Place
	sight  style.Sight // of the text in it
	shown  bool        // what sight says of that

	shadow   bool            // it is a template whose content is drawn in the place of what is around it
	slots    map[string]bool // of what is in it, these names are drawn; nil for all
	children int             // of an element that shows the first alone
}

// now says what a reader sees of text that stands here.
func (w *walker) now() style.Sight {
	if n := len(w.open); n > 0 {
		return w.open[n-1].sight
	}
	return style.Sight{}
}

// isShown reports whether a reader sees text that stands here.
func (w *walker) isShown() bool { return len(w.open) == 0 || w.open[len(w.open)-1].shown }

// stand lets an element stand in text with a sight.
func (e *element) stand(outer style.Sight) {
	e.sight = e.effect.On(outer)
	e.shown = e.sight.Text()
}

// push opens an element. Beyond the limit only the number of elements is kept, and
// what one of those hides is never shown again.
func (w *walker) push(e element) {
	if len(w.open) == maxOpen {
		w.deep[e.name]++
		e.stand(w.now())
		w.lost = w.lost || e.shown != w.isShown()
		return
	}
	e.stand(w.now())
	w.open = append(w.open, e)
	w.count[e.name]++
	if endImplied(e.name) {
		w.implied++
	}
}

// close ends the innermost element of a name, as a browser does: not across the
// elements that keep an end tag inside, and without those that end by themselves.
func (w *walker) close(name atom.Atom) {
	if w.deep[name] > 0 {
		w.deep[name]--
		return
	}
	if w.count[name] == 0 || name == atom.Html || name == atom.Body {
		return
	}
	at, block := len(w.open)-1, false
	for ; w.open[at].name != name; at-- {
		if keeps(w.open[at].name, name) {
			return
		}
		block = block || isBlock(w.open[at].name)
	}
	if block && isFormatting(name) { // the block goes on without it
		w.leave(w.open[at])
		w.open = slices.Delete(w.open, at, at+1)
		w.redraw(at)
		return
	}
	w.cutTo(at)
}

// cutTo ends the elements from an index on. Formatting goes on after the element
// around it has ended.
func (w *walker) cutTo(at int) {
	var going []element
	for len(w.open) > at {
		e := w.pop()
		if len(w.open) > at && e.effect.Matters() && isFormatting(e.name) {
			going = append(going, e)
		}
	}
	for _, e := range slices.Backward(going) {
		w.push(element{name: e.name, effect: e.effect, place: e.place, from: w.out.Len()})
	}
}

func (w *walker) redraw(from int) {
	var outer style.Sight
	if from > 0 {
		outer = w.open[from-1].sight
	}
	for i := from; i < len(w.open); i++ {
		w.open[i].stand(outer)
		outer = w.open[i].sight
	}
}

// implyRoot opens the elements that a page may leave out, which selectors name.
func (w *walker) implyRoot(name atom.Atom) {
	open := func(name atom.Atom) {
		e := element{name: name}
		e.effect, e.place = w.effectOf(name, &attributes{})
		w.push(e)
	}
	if w.count[atom.Html] == 0 && name != atom.Html {
		open(atom.Html)
	}
	if w.count[atom.Body] == 0 && name != atom.Html && name != atom.Head && name != atom.Body && !inHead(name) {
		open(atom.Body)
	}
}

// imply ends what the start of an element ends: the paragraph, the item, the cell
// or the row before it. Only those that hide something are kept open at all.
func (w *walker) imply(name atom.Atom) {
	for at := len(w.open) - 1; at >= 0; at-- {
		switch open := w.open[at].name; {
		case ends(name, open):
			w.cutTo(at)
		case open == atom.Template || open == atom.Table:
			return
		case isTablePart(name):
		case open == atom.Td || open == atom.Th || open == atom.Caption || open == atom.Object || open == atom.Marquee || open == atom.Button,
			(name == atom.Li || name == atom.Dt || name == atom.Dd) && isBlock(open) && open != atom.Address && open != atom.Div:
			return
		}
	}
}

// ends reports whether the start of an element ends an open one.
func ends(name, open atom.Atom) bool {
	switch open {
	case atom.P:
		return isBlock(name) && !isTablePart(name) && name != 0 && name != atom.Button && name != atom.Noscript && name != atom.Legend && name != atom.Option && name != atom.Optgroup
	case atom.Li:
		return name == atom.Li
	case atom.Dt, atom.Dd:
		return name == atom.Dt || name == atom.Dd
	case atom.Rp:
		return name == atom.Rp || name == atom.Rt
	case atom.Td, atom.Th:
		return isTablePart(name)
	case atom.Tr:
		return isTablePart(name) && name != atom.Td && name != atom.Th
	case atom.Tbody, atom.Thead, atom.Tfoot:
		return name == atom.Tbody || name == atom.Thead || name == atom.Tfoot
	}
	return false
}

// keeps reports whether an open element keeps an end tag from what is around it.
func keeps(open, name atom.Atom) bool {
	switch open {
	case atom.Template:
		return true
	case atom.Table, atom.Object, atom.Marquee:
		return name != atom.Template
	case atom.Td, atom.Th, atom.Caption:
		return !isTablePart(name) && name != atom.Table
	case atom.Ul, atom.Ol:
		return name == atom.Li
	case atom.Button:
		return name == atom.P
	}
	return isBlock(open) && !isBlock(name) && !isFormatting(name) && name < firstNotDrawn
}

func isTablePart(name atom.Atom) bool {
	switch name {
	case atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot:
		return true
	}
	return false
}

// endImplied holds for elements whose end is often left out.
func endImplied(name atom.Atom) bool {
	switch name {
	case atom.P, atom.Li, atom.Dt, atom.Dd, atom.Rp:
		return true
	}
	return isTablePart(name)
}

// isFormatting holds for elements that go on after the end of the one around them.
func isFormatting(name atom.Atom) bool {
	switch name {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}
