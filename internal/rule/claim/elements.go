package claim

// elements are the HTML elements that are open at a place of a page. What is in
// one can be hidden in more ways than a program of reasonable size knows, so
// that nothing in any of them is sure to be seen.
type elements struct {
	names  []string
	styled bool // a style sheet or a script decides what is seen
}

func (e *elements) start(name string) {
	switch name {
	case "style", "script", "link":
		e.styled = true
	}
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return // has no content
	}
	e.names = append(e.names, name)
}

// end closes the innermost element, if it has that name. A tag that closes
// another one closes nothing: what a browser does with it is not followed.
func (e *elements) end(name string) {
	if n := len(e.names); n > 0 && e.names[n-1] == name {
		e.names = e.names[:n-1]
	}
}

// never opens an element that nothing closes.
func (e *elements) never() { e.names = append(e.names, "") }

func (e *elements) any() bool { return len(e.names) > 0 }
