package office

import (
	"slices"
	"strings"
)

// readSlides reads a file of PowerPoint: the slides that are shown, each with its notes.
func readSlides(p *pack, w *writer) error {
	const main = "ppt/presentation.xml"
	p.properties("docProps/core.xml", &w.doc)
	targets := p.relations(main)
	var slides []string
	err := p.walk(main, visitor{start: func(n node) bool {
		if n.name == "sldId" {
			for _, a := range n.attrs {
				if a.Name.Local == "id" && a.Name.Space != "" {
					slides = append(slides, targets[a.Value])
				}
			}
		}
		return true
	}})
	for _, slide := range slides {
		if err != nil {
			return err
		}
		f := newFlow(w, nil)
		shown := true
		v := f.visitor()
		v.start = func(n node) bool {
			if n.name == "sld" {
				shown = n.attr("show") != "0" && n.attr("show") != "false"
			}
			return shown && f.start(n)
		}
		if err = p.walk(slide, v); err != nil || !shown {
			continue
		}
		var notes []string
		for _, target := range p.relations(slide) {
			if strings.Contains(target, "notesSlides/") && p.files[target] != nil {
				notes = append(notes, target)
			}
		}
		slices.Sort(notes)
		for _, name := range slices.Compact(notes) {
			err = p.walk(name, newFlow(w, nil).visitor())
		}
	}
	return err
}
