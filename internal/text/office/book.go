package office

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// markupRatio is how many bytes of markup are read for each of text.
const markupRatio = 3

// readBook reads the pages of an EPUB book in the order in which they are read.
func readBook(p *pack, doc *Document, limit int) error {
	root := ""
	err := p.walk("META-INF/container.xml", visitor{start: func(n node) bool {
		if n.name == "rootfile" && root == "" {
			root = n.attr("full-path")
		}
		return true
	}})
	if err != nil {
		return err
	}
	p.properties(root, doc)
	parts, seen := map[string]string{}, map[string]bool{}
	var order []string
	err = p.walk(root, visitor{start: func(n node) bool {
		switch n.name {
		case "item":
			if name, err := url.PathUnescape(n.attr("href")); err == nil && strings.Contains(n.attr("media-type"), "html") {
				parts[n.attr("id")] = path.Join(path.Dir(root), name)
			}
		case "itemref":
			if name := parts[n.attr("idref")]; name != "" && !seen[name] {
				seen[name] = true
				order = append(order, name)
			}
		}
		return true
	}})
	if err != nil {
		return err
	}
	most := markupRatio * limit
	for _, name := range order {
		page, err := p.read(name, int64(min(maxToken, most)))
		if err != nil {
			return err
		}
		most -= len(page)
		doc.Pages = append(doc.Pages, page)
	}
	if len(order) == 0 {
		return errors.New("a book without pages")
	}
	return nil
}
