package planted

import (
	"fmt"
	"html"
	"strings"
)

// filled are the sentences of an article with numbers in their places, different
// for every n.
func filled(sentences []string, n int) []string {
	out := make([]string, len(sentences))
	for i, sentence := range sentences {
		for k := 0; strings.Contains(sentence, "%d"); k++ {
			sentence = strings.Replace(sentence, "%d", fmt.Sprint(1801+(n*37+i*61+k*17)%190), 1)
		}
		out[i] = sentence
	}
	return out
}

// html is a page in this tongue: paragraphs under a title, in one of several usual
// forms.
func (t tongue) html(form int, title string, paragraphs ...string) string {
	return t.document(form, title, "", t.body(form, title, paragraphs))
}

// body is a page without its head.
func (t tongue) body(form int, title string, paragraphs []string) string {
	heading := html.EscapeString(title)
	var text strings.Builder
	for i, p := range paragraphs {
		switch p = html.EscapeString(p); {
		case form%5 == 2:
			fmt.Fprintf(&text, "<FONT SIZE=2>%s<BR><BR>\n", p)
		case form%5 == 4 && i == 2:
			fmt.Fprintf(&text, "<blockquote><p>%s</p></blockquote>\n", p)
		default:
			fmt.Fprintf(&text, "<p>%s</p>\n", p)
		}
	}
	menu := fmt.Sprintf(`<nav><ul><li><a href="/">%s</a></li><li><a href="/about">%s</a></li></ul></nav>`, t.home, t.about)
	switch form % 5 {
	case 0:
		return fmt.Sprintf("<h1>%s</h1>\n%s", heading, text.String())
	case 1:
		return fmt.Sprintf("<header>%s<a href=\"/login\">%s</a></header>\n<main><article><h1>%s</h1>\n%s</article></main>\n<footer><p>© 2026</p></footer>", menu, t.signIn, heading, text.String())
	case 2:
		return fmt.Sprintf("<TABLE WIDTH=100%%><TR><TD VALIGN=top><A HREF=\"/\">%s</A></TD><TD><H2>%s</H2>\n%s</TD></TR></TABLE>", t.home, heading, text.String())
	case 3:
		return fmt.Sprintf("<div id=\"root\"><div class=\"css-1x2y3z\">%s<h1>%s</h1><div>%s</div></div></div>\n<script>window.__STATE__={\"user\":null,\"flags\":{\"paywall\":true,\"captcha\":true}}</script>", menu, heading, text.String())
	}
	return fmt.Sprintf("%s<article class=\"post\"><h1>%s</h1>\n<figure><img src=\"/a.jpg\" alt=\"\"><figcaption>%s</figcaption></figure>\n%s</article>\n<section id=\"comments\"></section>", menu, heading, heading, text.String())
}

// document is a whole page.
func (t tongue) document(form int, title, head, body string) string {
	if form%5 == 2 {
		return fmt.Sprintf("<HTML><HEAD><TITLE>%s</TITLE>%s</HEAD><BODY BGCOLOR=white>\n%s\n</BODY></HTML>\n", html.EscapeString(title), head, body)
	}
	if form%5 == 3 {
		head += `<script type="application/ld+json">{"@context":"https://schema.org","@type":"WebPage"}</script><style>.css-1x2y3z{margin:0}</style>`
	}
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\"><title>%s</title>%s</head>\n<body>\n%s\n</body></html>\n", t.code, html.EscapeString(title), head, body)
}

// paragraphs groups sentences as people do.
func paragraphs(sentences []string) []string {
	var out []string
	for i := 0; i < len(sentences); i += 3 {
		out = append(out, strings.Join(sentences[i:min(i+3, len(sentences))], " "))
	}
	return out
}

// put fills the host into the text of a wall.
func put(text, host string) string { return strings.ReplaceAll(text, "{host}", host) }
