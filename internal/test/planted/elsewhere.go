package planted

import (
	"fmt"
	"net/http"
	"strings"
)

// elsewhere plants links that lead to an honest page that is not the cited one.
func (b *builder) elsewhere() {
	homes := []struct {
		variant string
		target  func(s *site) string
	}{
		{"to the root", func(*site) string { return "/" }},
		{"to the root, absolute", func(s *site) string { return "https://" + s.host + "/" }},
		{"to the index", func(s *site) string { return s.alias("/index.html") }},
		{"with a note why", func(s *site) string { return s.alias("/?error=404") }},
		{"in a language", func(s *site) string { return s.alias("/en/") }},
		{"to the start page", func(s *site) string { return s.alias("/home") }},
	}
	for i := range 3 * len(homes) {
		c := homes[i%len(homes)]
		status := []int{301, 302, 307}[i%3]
		b.stand("home_page", fmt.Sprintf("%s, %d", c.variant, status), i, func(s *site, _ tongue) answer { return redirect(status, c.target(s)) })
	}
	others := []string{"https://%s/portal/overview", "https://%s/offers/spring", "https://%s/search?q=old", "http://%s/landing.html"}
	for i := range 16 {
		other := b.newSite("www.")
		target := fmt.Sprintf(others[i%len(others)], other.host)
		_, rest, _ := strings.Cut(target, other.host)
		a := articleOf(i + 5)
		other.at("https", rest, page(http.StatusOK, english.html(i, a.title, paragraphs(filled(a.sentences, i))...)))
		b.stand("other_site", "to "+rest, i, func(*site, tongue) answer { return redirect([]int{301, 302}[i%2], target) })
	}
	for i, title := range elsewhere {
		a := articleOf(i)
		s := b.newSite("www.")
		b.plant("title", "English", s.at("https", path(i, title), page(http.StatusOK, english.html(i, a.title, paragraphs(filled(a.sentences, i))...))), title)
	}
	for i, c := range []struct{ code, title string }{
		{"de", "Halbleiterexporte: Quartalsausblick"}, {"fr", "Réseaux neuronaux, apprentissage profond"}, {"es", "Bonos soberanos: perspectivas trimestrales"},
		{"ru", "Квантовые вычисления, обзор алгоритмов"}, {"el", "Κβαντικοί υπολογιστές"}, {"zh", "量子计算研究进展"}, {"ja", "量子コンピュータ開発動向"}, {"ko", "양자컴퓨터 연구"}, {"ar", "حوسبة كمومية"}, {"tr", "Kuantum bilgisayarlar"},
	} {
		t := tongueOf(c.code)
		s := b.newSite("www.")
		b.plant("title", t.name, s.at("https", path(i, ""), page(http.StatusOK, t.html(i, t.title, paragraphs(filled(t.article, i))...))), c.title)
	}
}

// alias offers the home page under another path, which it returns.
func (s *site) alias(path string) string {
	s.at("https", path, s.homePage)
	return path
}

func tongueOf(code string) tongue {
	for _, t := range append(tongues, english) {
		if t.code == code {
			return t
		}
	}
	panic("planted: no tongue " + code)
}
