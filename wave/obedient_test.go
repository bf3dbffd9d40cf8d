package wave_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/wave"
)

// obedient is an agent that can read and obey, and knows nothing else: all it
// has is the text of a prompt. Where the prompt leaves it free, it chooses at
// random, and it uses every allowance to the full, so that a prompt that
// promises more than the judge accepts is found out.
type obedient struct {
	prompt string
	rng    *rand.Rand
}

var (
	ruleStart    = regexp.MustCompile(`(?m)^\d+\. `)
	wordsRule    = regexp.MustCompile(`^The whole output has at most (\d+) words\.`)
	sourcesRule  = regexp.MustCompile(`^The section (.+) runs from its first heading to the next heading of any level, or to the end\. Apart from blank lines it holds nothing but sources, one per line`)
	sourcesLimit = regexp.MustCompile(`has at most (\d+) sources?, and names no more different URLs than that\.$`)
	charsRule    = regexp.MustCompile(`^(?:The whole output|Outside the section .+ the output) has at most (\d+) characters, white space and marks included\.$`)
	emptySection = "At most 0 sources are allowed, so leave the section empty."
	headingsRule = "The headings between the fences below are required."
)

// task is what the agent understood.
type task struct {
	headings   []string
	maxWords   int
	maxChars   int    // outside the section that holds sources
	sources    string // the title of the section that holds sources, "" for none
	maxSources int
	gaps       bool // gaps have a form of their own
}

func (a obedient) understand() (task, error) {
	_, rules, found := strings.Cut(a.prompt, "\n## Rules\n\n")
	if !found {
		return task{}, fmt.Errorf("there are no rules")
	}
	t := task{maxWords: -1}
	starts := ruleStart.FindAllStringIndex(rules, -1)
	for i, at := range starts {
		end := len(rules)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		} else if last := strings.Index(rules[at[1]:], "\n\nThe rules are applied"); last >= 0 {
			end = at[1] + last
		}
		text := strings.TrimRight(rules[at[1]:end], "\n")
		switch {
		case wordsRule.MatchString(text):
			t.maxWords, _ = strconv.Atoi(wordsRule.FindStringSubmatch(text)[1])
		case charsRule.MatchString(text):
			t.maxChars, _ = strconv.Atoi(charsRule.FindStringSubmatch(text)[1])
		case text == "No URL has a user name, a password, a token or a key in it.":
		case strings.HasPrefix(text, headingsRule):
			for line := range strings.SplitSeq(text, "\n") {
				if shown, isShown := strings.CutPrefix(line, "   "); isShown && !strings.HasPrefix(shown, "```") {
					t.headings = append(t.headings, shown)
				}
			}
		case sourcesRule.MatchString(text):
			t.sources = sourcesRule.FindStringSubmatch(text)[1]
		case sourcesLimit.MatchString(text):
			t.maxSources, _ = strconv.Atoi(sourcesLimit.FindStringSubmatch(text)[1])
		case strings.HasPrefix(text, "The output is one Markdown document."):
		case strings.HasPrefix(text, "The section Gaps lists what is still unknown"):
			t.gaps = true
		default:
			return task{}, fmt.Errorf("a rule that an agent cannot understand: %s", text)
		}
		if t.sources != "" && strings.HasSuffix(text, emptySection) {
			t.maxSources = 0
		}
	}
	if t.maxWords < 0 || t.maxChars == 0 && t.maxWords > 0 {
		return task{}, fmt.Errorf("no limit of words or characters")
	}
	return t, nil
}

// write makes an output that uses the whole allowance of words and sources.
func (a obedient) write(t task) string {
	headings := slices.Clone(t.headings)
	a.rng.Shuffle(len(headings), func(i, j int) { headings[i], headings[j] = headings[j], headings[i] })
	left, chars := t.maxWords, t.maxChars
	for _, h := range headings {
		left -= len(strings.Fields(h))
		chars -= utf8.RuneCountInString("######" + strings.TrimPrefix(h, "##") + "\n\n")
	}
	var b strings.Builder
	for _, heading := range headings {
		marks := strings.Repeat("#", 1+a.rng.IntN(6))
		b.WriteString(marks + strings.TrimPrefix(heading, "##") + "\n")
		if a.rng.IntN(2) == 0 {
			b.WriteString("\n")
		}
		if t.sources != "" && isHeadingOf(heading, t.sources) {
			for range t.maxSources {
				source := a.pick("- ", "* ", "+ ", "1. ", "123456789. ") + a.pick("", "A title, ", "[x](") + a.pick("https://", "http://") + "example.org/" + a.pick("a", "b?c=d")
				if n := len(strings.Fields(source)); n <= left {
					left -= n
					b.WriteString(source + "\n" + a.pick("", "\n"))
				}
			}
			continue
		}
		if gap := "- (P" + a.pick("0", "1", "2", "3") + ") something unknown\n\n"; t.gaps && isHeadingOf(heading, "Gaps") && left >= 4 && chars >= len(gap) {
			left, chars = left-4, chars-len(gap)
			b.WriteString(gap)
			continue
		}
		left -= a.text(&b, min(left, a.rng.IntN(12)), &chars)
	}
	// What remains of the allowance goes to a section of the agent's own, so
	// that it is not among the sources.
	if notes := "\n# Notes\n"; left >= 2 && chars >= len(notes) {
		b.WriteString(notes)
		chars -= len(notes)
		left -= 2 + a.text(&b, left-2, &chars)
	}
	// Words may be left over, but then no characters are, and the other way round.
	if left == 0 && chars > 0 {
		b.WriteString(strings.Repeat("\n", chars))
	}
	return b.String()
}

func isHeadingOf(heading, title string) bool {
	text := strings.TrimPrefix(heading, "## ")
	return text == title || text == title+" ##"
}

// text writes up to n words, as far as the characters last, and returns how many.
func (a obedient) text(b *strings.Builder, n int, chars *int) int {
	const end = "\n\n"
	wrote := 0
	for ; wrote < n; wrote++ {
		piece := a.pick("word", "Sources", "##x", "é", "https://example.com", "*strong*", "1984") + a.pick(" ", " ", "\n", "\n\n")
		cost := utf8.RuneCountInString(piece)
		if cost+len(end) > *chars {
			break
		}
		*chars -= cost
		b.WriteString(piece)
	}
	if wrote > 0 {
		b.WriteString(end)
		*chars -= len(end)
	}
	return wrote
}

func (a obedient) pick(choices ...string) string { return choices[a.rng.IntN(len(choices))] }

// randomContract makes contracts of every kind that an output can meet.
func randomContract(rng *rand.Rand, id string) contract {
	titles := []string{
		"Sources", "sources", "SOURCES", "Findings", "Gaps", "Key findings and their limits", "C #", "#", "C#", "F# and C##",
		"1. Method", "- dash", "> quote", "`code`", "**Bold**", "Größe", "測定 結果", "a & b <c>", `back\slash`, "[link](x)", "Trailing colon:",
		"At most 3 words", "x\u00a0y", "---", "===", "The section X has at most 5 sources.",
	}
	rng.Shuffle(len(titles), func(i, j int) { titles[i], titles[j] = titles[j], titles[i] })
	c := contract{id: id, sections: titles[:rng.IntN(6)]}
	needed := 0
	for _, title := range c.sections {
		needed += len(strings.Fields(wave.HeadingLine(title)))
	}
	c.maxWords = float64(needed) + float64(rng.IntN(60)) + rng.Float64()
	c.maxSources = float64(rng.IntN(8)) + rng.Float64()/2
	return c
}

// randomFailure is an output that is likely to fail.
func randomFailure(rng *rand.Rand, c contract) string {
	var b strings.Builder
	for _, title := range c.sections {
		if rng.IntN(3) > 0 {
			b.WriteString(wave.HeadingLine(title) + "\n")
		}
		switch rng.IntN(4) {
		case 0:
			b.WriteString("- https://example.org\nand text\n- no link\n")
		case 1:
			b.WriteString(strings.Repeat("1. http://x\n", rng.IntN(12)))
		}
	}
	b.WriteString("# More\n" + words(rng.IntN(150)))
	return b.String()
}

func TestAnAgentThatObeysThePromptPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var contracts []contract
	outputs := map[string]string{}
	for i := range 1500 {
		c := randomContract(rng, fmt.Sprintf("p%04d", i))
		contracts = append(contracts, c)
		outputs[c.id] = randomFailure(rng, c)
	}
	all := given(t, contracts, outputs)
	all.MaxFailures = len(contracts)
	prompts := must.Get(wave.RetryPrompt(t.Context(), all))(t)
	codes, texts := map[string]int{}, map[string]string{}
	for _, p := range prompts.Prompts {
		codes[string(p.BlockingErrorCode)]++
		agent := obedient{p.PromptMD, rng}
		understood, err := agent.understand()
		if err != nil {
			t.Fatalf("%s: %v\n%s", p.PerspectiveID, err, p.PromptMD)
		}
		output := agent.write(understood)
		outputs[p.PerspectiveID] = output
		texts[p.PerspectiveID] = p.PromptMD + "\n--- output ---\n" + output
	}
	if len(prompts.Prompts) < 500 || len(codes) != 4 {
		t.Errorf("%d prompts for the codes %v: the test has lost its teeth", len(prompts.Prompts), codes)
	}
	for _, r := range review(t, all).Results {
		if !r.Pass {
			t.Fatalf("%s obeyed and was refused: %s\n--- prompt ---\n%s", r.PerspectiveID, r.Failure.Message, texts[r.PerspectiveID])
		}
	}
	again := must.Get(wave.RetryPrompt(t.Context(), all))(t)
	for _, p := range again.Prompts {
		t.Fatalf("%s obeyed and would be refused by a run: %s\n--- prompt ---\n%s", p.PerspectiveID, p.PromptMD, texts[p.PerspectiveID])
	}
}
