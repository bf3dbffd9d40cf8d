package foreign_test

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/foreign"
)

// told is a sentence of a made report, with the sources that it cites, counted from 1.
type told struct {
	text  string
	cites []int
}

// story is what the reports of a language say: paragraphs of sentences, and sources.
type story struct {
	language, title, list string
	paragraphs            [][]told
	sources               []cited
}

type cited struct{ title, author, year, url string }

// stories have what misleads a reader of citations: raised digits that are none, years
// in brackets, numbers behind full stops, sentences that cite nothing.
var stories = []story{
	{"en", "Electric ferries", "References", [][]told{
		{{"The first large electric ferry entered service in 2015 and carries 120 cars.", []int{1}}, {"Its battery holds 1.04 MWh.", []int{2}}, {"Two sister ships followed.", nil}},
		{{"Operators report energy costs that are 60 % lower than with diesel.", []int{3, 5}}, {"A deck of 800 m² leaves room for lorries, and about 10³ passengers fit aboard.", []int{4}}},
		{{"Emissions of CO₂ fell by 95 percent over the first year.", []int{6}}, {"Analysts expect 40 more ships by 2030 (see the table).", []int{1, 2, 3}}},
		{{"Chargers on the quay draw 1,250 kW for nine minutes.", []int{7}}, {"The grid was too weak, so that buffers were built.", []int{8}}},
	}, []cited{{"Ampere enters service", "Nilsen", "2015", "https://ferries.example/ampere"}, {"Battery data sheet", "Corvus", "2016", "https://batteries.example/sheets/ampere.html"},
		{"Costs of electric operation", "Haugen", "2019", "https://costs.example/2019/electric?id=7"}, {"Deck plans", "Berg", "2014", "https://yards.example/plans/deck_1"},
		{"Energy use of ferries", "Solberg", "2020", "https://energy.example/a/b/c"}, {"Emission inventory", "Dahl", "2021", "https://air.example/inventory-2021"},
		{"Charging on the quay", "Moen", "2017", "https://quay.example/charging"}, {"Grids and buffers", "Lie", "2018", "https://grid.example/buffers/"}}},
	{"de", "Wärmepumpen im Bestand", "Quellen", [][]told{
		{{"Im Jahr 2023 wurden 356.000 Wärmepumpen verkauft.", []int{1}}, {"Das ist ein Zuwachs von 51 Prozent gegenüber dem Vorjahr.", []int{1, 2}}, {"Viele Häuser sind ungedämmt.", nil}},
		{{"Die mittlere Jahresarbeitszahl lag bei 3,1 im Feldtest.", []int{3}}, {"Auf 120 m² Wohnfläche entfallen etwa 9 kW Heizlast.", []int{4}}},
		{{"Der Staat übernimmt bis zu 70 Prozent der Kosten.", []int{5}}, {"Strom kostet im Schnitt 29 Cent je Kilowattstunde.", []int{6, 7, 8}}},
		{{"Fachleute rechnen mit sinkenden Preisen.", []int{7}}, {"Größere Heizkörper genügen oft.", []int{8}}},
	}, []cited{{"Absatzzahlen 2023", "Müller", "2024", "https://verband.example/absatz/2023"}, {"Jahresbericht", "Schäfer", "2024", "https://statistik.example/bericht?jahr=2023"},
		{"Feldtest Bestand", "Günther", "2020", "https://institut.example/feldtest"}, {"Heizlast im Altbau", "Weiß", "2021", "https://bau.example/heizlast_altbau"},
		{"Förderung im Überblick", "Krämer", "2024", "https://foerderung.example/ueberblick"}, {"Strompreise", "Vogel", "2024", "https://preise.example/strom/"},
		{"Marktausblick", "Jäger", "2023", "https://markt.example/ausblick-2030"}, {"Heizkörper prüfen", "Lang", "2022", "https://handwerk.example/hk/pruefen"}}},
	{"zh", "固态电池的进展", "参考文献", [][]told{
		{{"2024年全球固态电池出货量达到3.3吉瓦时。", []int{1}}, {"其中中国企业占比超过80%。", []int{1, 2}}, {"成本仍然很高。", nil}},
		{{"实验室样品的能量密度已达到500瓦时每千克。", []int{3}}, {"每平方米（m²）电极的负载量为5毫克。", []int{4}}},
		{{"多家车企计划在2027年装车。", []int{5}}, {"专家认为量产还需要三到五年。", []int{6, 7, 8}}},
		{{"硫化物电解质对水分敏感。", []int{7}}, {"干法工艺可以降低能耗约30%。", []int{8}}},
	}, []cited{{"固态电池出货量统计", "王伟", "2025", "https://dianchi.example/tongji/2024"}, {"产业年度报告", "李娜", "2025", "https://baogao.example/nian?id=3"},
		{"能量密度研究", "张敏", "2023", "https://yanjiu.example/midu"}, {"电极设计", "刘洋", "2022", "https://sheji.example/dianji_1"},
		{"车企规划汇总", "陈静", "2024", "https://qiche.example/guihua"}, {"专家访谈", "杨帆", "2024", "https://fangtan.example/zhuanjia/"},
		{"硫化物电解质", "赵磊", "2021", "https://cailiao.example/liuhuawu"}, {"干法工艺", "黄杰", "2023", "https://gongyi.example/ganfa"}}},
	{"ar", "تحلية المياه بالطاقة الشمسية", "المراجع", [][]told{
		{{"بلغت القدرة المركبة 1200 ميغاواط في عام 2023.", []int{1}}, {"وانخفضت التكلفة بنسبة 40 في المئة.", []int{1, 2}}, {"ما زالت الشبكات ضعيفة.", nil}},
		{{"تنتج المحطة 600 ألف متر مكعب من المياه يوميا.", []int{3}}, {"تغطي الألواح مساحة 500 كيلومتر مربع.", []int{4}}},
		{{"أعلنت الحكومة عن ثلاثة مشاريع جديدة.", []int{5}}, {"يتوقع الخبراء نموا سريعا حتى عام 2030.", []int{6, 7, 8}}},
		{{"تحتاج الأغشية إلى صيانة مستمرة.", []int{7}}, {"تقل الملوحة بعد المعالجة.", []int{8}}},
	}, []cited{{"تقرير القدرة المركبة", "الحربي", "2024", "https://taqa.example/qudra"}, {"دراسة التكلفة", "العتيبي", "2024", "https://kulfa.example/dirasa?y=2024"},
		{"بيانات المحطة", "الزهراني", "2022", "https://mahatta.example/bayanat"}, {"مساحة الألواح", "القحطاني", "2021", "https://alwah.example/misaha"},
		{"المشاريع الجديدة", "الشمري", "2023", "https://mashari.example/jadida"}, {"توقعات السوق", "الغامدي", "2023", "https://suq.example/tawaqquat/"},
		{"صيانة الأغشية", "الدوسري", "2020", "https://aghshiya.example/siyana"}, {"معالجة المياه", "المطيري", "2019", "https://miyah.example/mualaja"}}},
}

// style writes a story as a system does.
type style struct {
	name  string
	file  string
	write func(s story) []byte // nil where the format has no such script
}

// body writes the paragraphs, with what mark makes of the sources of each sentence: put
// before its full stop, or behind it.
func (s story) body(behind bool, mark func(s story, cites []int) string) string {
	var out strings.Builder
	out.WriteString("# " + s.title + "\n\n")
	for i, p := range s.paragraphs {
		fmt.Fprintf(&out, "## %s %d\n\n", s.title, i+1)
		for k, t := range p {
			if k > 0 && s.language != "zh" {
				out.WriteByte(' ')
			}
			out.WriteString(s.marked(t, behind, mark))
		}
		out.WriteString("\n\n")
	}
	return out.String()
}

func (s story) marked(t told, behind bool, mark func(s story, cites []int) string) string {
	if len(t.cites) == 0 {
		return t.text
	}
	if behind {
		return t.text + mark(s, t.cites)
	}
	runes := []rune(t.text)
	gap := " "
	if s.language == "zh" {
		gap = ""
	}
	return string(runes[:len(runes)-1]) + gap + mark(s, t.cites) + string(runes[len(runes)-1:])
}

func each(join string, one func(s story, n int) string) func(story, []int) string {
	return func(s story, cites []int) string {
		var marks []string
		for _, n := range cites {
			marks = append(marks, one(s, n))
		}
		return strings.Join(marks, join)
	}
}

func joined(left, join, right string) func(story, []int) string {
	return func(_ story, cites []int) string {
		var ids []string
		for _, n := range cites {
			ids = append(ids, strconv.Itoa(n))
		}
		return left + strings.Join(ids, join) + right
	}
}

// ranged writes 1–3 for neighbours.
func ranged(left, dash, right string) func(story, []int) string {
	return func(s story, cites []int) string {
		if len(cites) == 3 {
			return fmt.Sprintf("%s%d%s%d%s", left, cites[0], dash, cites[2], right)
		}
		return joined(left, ", ", right)(s, cites)
	}
}

func (s story) entries(format func(n int, c cited) string) string {
	var out strings.Builder
	for i, c := range s.sources {
		out.WriteString(format(i+1, c))
	}
	return out.String()
}

func (s story) heading() string { return "## " + s.list + "\n\n" }

var numbered = each("", func(_ story, n int) string { return fmt.Sprintf("[%d]", n) })

var styles = []style{
	{name: "ChatGPT deep research: links in round brackets", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(true, each("", func(s story, n int) string {
			return fmt.Sprintf(" ([%s](%s#:~:text=a%%20b))", s.sources[n-1].title, s.sources[n-1].url)
		})))
	}},
	{name: "ChatGPT assistants: 【n†lines】 with a list", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, each("", func(_ story, n int) string { return fmt.Sprintf("【%d†L%d-L%d】", n, n*3, n*9) })) +
			s.heading() + s.entries(func(n int, c cited) string { return fmt.Sprintf("[%d] %s: %s\n", n, c.title, c.url) }))
	}},
	{name: "Perplexity: [1][2] and a list of URLs", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, numbered) + "Citations:\n" + s.entries(func(n int, c cited) string { return fmt.Sprintf("[%d] %s\n", n, c.url) }))
	}},
	{name: "Gemini: numbers behind the full stop, works cited", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(true, joined("", ",", "")) + "#### **Works cited**\n\n" + s.entries(func(n int, c cited) string {
			return fmt.Sprintf("%d. %s, accessed on May %d, 2025, [%s](%s)\n", n, c.title, n, c.url, c.url)
		}))
	}},
	{name: "Claude: links in the sentence", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, each(", ", func(s story, n int) string { return fmt.Sprintf("[%s](%s)", s.sources[n-1].title, s.sources[n-1].url) })))
	}},
	{name: "Grok: links without text", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(true, each("", func(s story, n int) string { return fmt.Sprintf("[](%s)", s.sources[n-1].url) })))
	}},
	{name: "Kimi: [^1^] with a list of URL and title", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, each("", func(_ story, n int) string { return fmt.Sprintf("[^%d^]", n) })) + s.heading() +
			s.entries(func(n int, c cited) string { return fmt.Sprintf("[%d] %s - %s\n\n", n, c.url, c.title) }))
	}},
	{name: "DeepSeek: 【1,5】 and a list whose URLs stand on the next line", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, joined("【", ",", "】")) + s.heading() + s.entries(func(n int, c cited) string { return fmt.Sprintf("[%d] %s\n%s\n\n", n, c.title, c.url) }))
	}},
	{name: "open deep research: [1-3] and a table", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, ranged("[", "–", "]")) + s.heading() + "| # | Title | URL |\n|---|---|---|\n" +
			s.entries(func(n int, c cited) string { return fmt.Sprintf("| %d | %s | <%s> |\n", n, c.title, c.url) }))
	}},
	{name: "footnotes", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(true, each("", func(_ story, n int) string { return fmt.Sprintf("[^%d]", n) })) +
			s.entries(func(n int, c cited) string { return fmt.Sprintf("[^%d]: %s, %s. <%s>\n", n, c.author, c.title, c.url) }))
	}},
	{name: "STORM: [1](url)", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, each(" ", func(s story, n int) string { return fmt.Sprintf("[%d](%s)", n, s.sources[n-1].url) })))
	}},
	{name: "gpt-researcher: (Author, year) and a bibliography", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, func(s story, cites []int) string {
			var parts []string
			for _, n := range cites {
				parts = append(parts, s.sources[n-1].author+", "+s.sources[n-1].year)
			}
			return "(" + strings.Join(parts, "; ") + ")"
		}) + s.heading() + s.entries(func(_ int, c cited) string {
			return fmt.Sprintf("- %s, A. (%s). *%s*. [%s](%s)\n", c.author, c.year, c.title, c.url, c.url)
		}))
	}},
	{name: "a saved page: raised numbers, navigation, pictures", file: "page.html", write: func(s story) []byte { return []byte(s.html()) }},
	{name: "a saved chat of ChatGPT: pills", file: "page.html", write: func(s story) []byte {
		return s.chat(`<article data-testid="conversation-turn-1"><h5 class="sr-only">You said:</h5><div data-message-author-role="user"><p>Why [1]?</p></div></article><article data-testid="conversation-turn-2"><h6 class="sr-only">It said:</h6><div data-message-author-role="assistant">`,
			each("", func(s story, n int) string {
				return fmt.Sprintf(` <span data-testid="webpage-citation-pill"><a href="%s">Site<span>+1</span></a></span>`, html.EscapeString(s.sources[n-1].url))
			}), "</div></article>")
	}},
	{name: "a saved chat of Gemini: numbers that styles draw, and its sources", file: "page.html", write: func(s story) []byte {
		return s.chat(`<user-query><p>Why?</p></user-query><div id="extended-response-markdown-content">`, each("", func(_ story, n int) string {
			return fmt.Sprintf(`<source-footnote><sup class="superscript" data-turn-source-index="%d"></sup></source-footnote>`, n)
		}), "</div><deep-research-source-lists><button>Sources</button><div>"+s.entries(func(_ int, c cited) string {
			return fmt.Sprintf(`<browse-web-item><a data-test-id="browse-web-item-link" href="%s"><span>site.example</span> <span>%s</span></a></browse-web-item>`, html.EscapeString(c.url), html.EscapeString(c.title))
		})+"</div></deep-research-source-lists>")
	}},
	{name: "a saved chat of Claude: links with the names of sites", file: "page.html", write: func(s story) []byte {
		return s.chat(`<div data-testid="user-message"><p>Why?</p></div><div class="font-claude-response">`, each("", func(s story, n int) string {
			return fmt.Sprintf(` <span class="inline-flex"><a href="%s" target="_blank"><span>%s</span></a></span>`, html.EscapeString(s.sources[n-1].url), strings.Split(s.sources[n-1].url, "/")[2])
		}), "</div>")
	}},
	{name: "a saved chat of Perplexity: links of the class citation", file: "page.html", write: func(s story) []byte {
		return s.chat(`<div class="prose">`, each("", func(s story, n int) string {
			return fmt.Sprintf(`<span><a class="citation ml-xs inline" href="%s"><span>%s</span></a></span>`, html.EscapeString(s.sources[n-1].url), html.EscapeString(s.sources[n-1].author))
		}), "</div>")
	}},
	{name: "Word: raised numbers, a numbered list with links", file: "report.docx", write: func(s story) []byte { return s.docx() }},
	{name: "plain text: plain URLs and several ids on a line", file: "report.txt", write: func(s story) []byte {
		body := strings.ReplaceAll(s.body(false, numbered), "#", "")
		return []byte(body + s.list + "\n\n" + s.entries(func(n int, c cited) string {
			if n%2 == 1 {
				return fmt.Sprintf("[%d] %s ", n, c.url)
			}
			return fmt.Sprintf("[%d] %s\n", n, c.url)
		}))
	}},
	{name: "PDF: [1] and a list", file: "report.pdf", write: func(s story) []byte {
		if s.language != "en" && s.language != "de" {
			return nil
		}
		var lines []string
		for _, p := range s.paragraphs {
			for _, t := range p {
				lines = append(lines, s.marked(t, false, numbered))
			}
		}
		lines = append(lines, s.list)
		for i, c := range s.sources {
			lines = append(lines, fmt.Sprintf("[%d] %s: %s", i+1, c.title, c.url))
		}
		return pdf(lines)
	}},
	{name: "Claude with search: the title of the list begins its paragraph, [1] URL - title", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(true, each("", func(_ story, n int) string { return fmt.Sprintf(" [%d]", n) })) + s.list + "：\n" +
			s.entries(func(n int, c cited) string { return fmt.Sprintf("[%d] %s - %s\n", n, c.url, c.title) }))
	}},
	{name: "OpenAI in a file: several ids, URLs twice, no title, and a table head that is none", file: "report.md", write: func(s story) []byte {
		return []byte("Intro.\n\nNotes\n\n" + s.body(true, each("", func(_ story, n int) string { return fmt.Sprintf(" [%d]", 10+n) })) +
			s.entries(func(n int, c cited) string { return fmt.Sprintf("[%d] [%d] %s\n\n%s\n\n", 10+n, 70+n, c.url, c.url) }))
	}},
	{name: "Gemini: works cited under a title in no language", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(true, joined("", ",", "")) + "#### **Zqxv wrtz**\n\n" + s.entries(func(n int, c cited) string {
			return fmt.Sprintf("%d. %s \\- Site, 檢索日期：4月 %d, 2025， [%s](%s)\n", n, c.title, n, strings.ReplaceAll(c.url, "_", "\\_"), c.url)
		}))
	}},
	{name: "Perplexity in a file: [^1_2] in a row", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, each("", func(_ story, n int) string { return fmt.Sprintf("[^1_%d]", n) })) + "<div>⁂</div>\n\n" +
			s.entries(func(n int, c cited) string { return fmt.Sprintf("[^1_%d]: %s\n\n", n, c.url) }))
	}},
	{name: "Qwen: elements that hold what the source says", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(false, each("", func(_ story, n int) string { return fmt.Sprintf(`<qwen:cite id="id_%d">It says so.</qwen:cite>`, n) })) +
			"References:\n" + s.entries(func(n int, c cited) string { return fmt.Sprintf("[%d]. %s\n\n", n, c.url) }))
	}},
	{name: "a dossier: an appendix without links follows the list", file: "report.txt", write: func(s story) []byte {
		return []byte(strings.ReplaceAll(s.body(false, numbered), "#", "") + s.list + "\n\n" + s.entries(func(n int, c cited) string {
			return fmt.Sprintf("%d. %s (%s): %s. %s\n", n, c.author, c.year, c.title, c.url)
		}))
	}},
	{name: "plain URLs behind the sentence", file: "report.md", write: func(s story) []byte {
		return []byte(s.body(true, each(" ", func(s story, n int) string { return " (" + s.sources[n-1].url + ")" })))
	}},
}

// chat is a saved page of a chat.
func (s story) chat(before string, mark func(story, []int) string, after string) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "<!doctype html><html lang=%q><head><title>x</title></head><body><nav><a href=https://chat.example/new>New</a></nav>%s<h1>%s</h1>", s.language, before, html.EscapeString(s.title))
	for _, p := range s.paragraphs {
		out.WriteString("<p>")
		for _, t := range p {
			out.WriteString(html.EscapeString(t.text))
			if len(t.cites) > 0 {
				out.WriteString(mark(s, t.cites))
			}
			out.WriteString(" ")
		}
		out.WriteString("</p>")
	}
	return []byte(out.String() + after + "<footer><a href=https://chat.example/terms>Terms</a></footer></body></html>")
}

func (s story) html() string {
	var out strings.Builder
	fmt.Fprintf(&out, "<!doctype html>\n<html lang=%q><head><meta charset=utf-8><title>x</title></head><body>\n<nav><a href=https://chat.example/new>1</a> <a href=https://chat.example/2>2</a></nav>\n"+
		"<div data-message-author-role=user><p>Please research https://question.example/ [1].</p></div>\n<main><h1>%s</h1>\n<a href=https://pictures.example/><img src=x alt='[1]'></a>\n", s.language, html.EscapeString(s.title))
	for _, p := range s.paragraphs {
		out.WriteString("<p>")
		for i, t := range p {
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(html.EscapeString(t.text))
			for _, n := range t.cites {
				if n%2 == 0 {
					fmt.Fprintf(&out, "<sup>%d</sup>", n)
				} else {
					fmt.Fprintf(&out, "<sup><a href=\"%s\">[%d]</a></sup>", html.EscapeString(s.sources[n-1].url), n)
				}
			}
		}
		out.WriteString("</p>\n")
	}
	fmt.Fprintf(&out, "<h2>%s</h2>\n<ol>\n", s.list)
	for _, c := range s.sources {
		fmt.Fprintf(&out, "<li><p>%s. <a href=\"%s\">%s</a></p></li>\n", html.EscapeString(c.author), html.EscapeString(c.url), html.EscapeString(c.title))
	}
	out.WriteString("</ol></main><footer><a href=https://chat.example/terms>Terms</a></footer></body></html>\n")
	return out.String()
}

// pdf is a one-page document with these lines, in Latin-1.
func pdf(lines []string) []byte {
	var text bytes.Buffer
	text.WriteString("BT /F1 10 Tf 14 TL 40 800 Td\n")
	for _, line := range lines {
		text.WriteByte('(')
		for _, r := range strings.NewReplacer("₂", "2", "³", "3", "²", "2").Replace(line) {
			if strings.ContainsRune(`\()`, r) {
				text.WriteByte('\\')
			}
			text.WriteByte(byte(r))
		}
		text.WriteString(") Tj T*\n")
	}
	text.WriteString("ET")
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"+
		"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>\nendobj\n"+
		"4 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n5 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>\nendobj\ntrailer\n<< /Size 6 /Root 1 0 R >>\n%%%%EOF\n",
		text.Len(), text.Bytes())
}

func (s story) docx() []byte {
	escape := func(t string) string {
		var b bytes.Buffer
		_ = xml.EscapeText(&b, []byte(t))
		return b.String()
	}
	run := func(t string) string { return `<w:r><w:t xml:space="preserve">` + escape(t) + `</w:t></w:r>` }
	var doc, rels strings.Builder
	doc.WriteString(`<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><w:body>`)
	doc.WriteString(`<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>` + run(s.title) + `</w:p>`)
	for _, p := range s.paragraphs {
		doc.WriteString("<w:p>")
		for _, t := range p {
			doc.WriteString(run(t.text))
			if len(t.cites) > 0 {
				doc.WriteString(`<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>` + joined("", ",", "")(s, t.cites) + `</w:t></w:r>`)
			}
			if s.language != "zh" {
				doc.WriteString(run(" "))
			}
		}
		doc.WriteString("</w:p>")
	}
	doc.WriteString(`<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>` + run(s.list) + `</w:p>`)
	for i, c := range s.sources {
		fmt.Fprintf(&rels, `<Relationship Id="rId%d" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="%s" TargetMode="External"/>`, i, escape(c.url))
		doc.WriteString(`<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr></w:pPr>` + run(c.author+". ") + fmt.Sprintf(`<w:hyperlink r:id="rId%d">`, i) + run(c.title) + `</w:hyperlink></w:p>`)
	}
	doc.WriteString(`</w:body></w:document>`)
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range [][2]string{{"[Content_Types].xml", "<Types/>"}, {"word/document.xml", doc.String()}, {"word/_rels/document.xml.rels", "<Relationships>" + rels.String() + "</Relationships>"}} {
		w, _ := z.Create(f[0])
		_, _ = w.Write([]byte(f[1]))
	}
	_ = z.Close()
	return out.Bytes()
}

// TestStyles reads more than sixty reports whose every citation is known, and counts
// the pairs of sentence and source that were read: at least 98 % of what is there, and
// at least 99 % of what was read is right.
func TestStyles(t *testing.T) {
	reports, all, read, right := 0, 0, 0, 0
	for _, st := range styles {
		for _, s := range stories {
			data := st.write(s)
			if data == nil {
				continue
			}
			reports++
			name := st.name + ", " + s.language
			d, err := foreign.Read(st.file, data)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			want := map[string]bool{}
			for _, p := range s.paragraphs {
				for _, sentence := range p {
					for _, n := range sentence.cites {
						want[key(sentence.text)+" "+bareURL(s.sources[n-1].url)] = true
					}
				}
			}
			got := map[string]bool{}
			for _, sentence := range d.Sentences {
				if sentence.Form == evidence.Cited {
					for _, url := range sentence.URLs {
						got[key(sentence.Text)+" "+bareURL(url)] = true
					}
				}
			}
			all, read = all+len(want), read+len(got)
			var lost, wrong []string
			for pair := range want {
				if got[pair] {
					right++
				} else {
					lost = append(lost, pair)
				}
			}
			for pair := range got {
				if !want[pair] {
					wrong = append(wrong, pair)
				}
			}
			if len(lost)+len(wrong) > 0 {
				slices.Sort(lost)
				slices.Sort(wrong)
				t.Logf("%s: not read:\n  %s\nread and not there:\n  %s", name, strings.Join(lost, "\n  "), strings.Join(wrong, "\n  "))
			}
			if d.Language != s.language {
				t.Errorf("%s: the language is %q", name, d.Language)
			}
		}
	}
	recall, precision := float64(right)/float64(all), float64(right)/float64(read)
	t.Logf("%d reports, %d citations: recall %.3f, precision %.3f", reports, all, recall, precision)
	if reports < 60 || recall < 0.98 || precision < 0.99 {
		t.Errorf("%d reports, recall %.3f, precision %.3f; want 60, 0.98 and 0.99", reports, recall, precision)
	}
}

// key is the beginning of a sentence, without what a style adds at its end.
func key(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 10)])
}

func bareURL(url string) string {
	url, _, _ = strings.Cut(url, "#")
	return url
}
