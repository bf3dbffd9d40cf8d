package proof_test

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/test/reader"
)

// obeyWord makes the test binary an agent of the driver exec. It does what its
// prompt says, and cites the URL that follows the word.
const obeyWord = "obey"

func init() {
	if len(os.Args) != 3 || os.Args[1] != obeyWord {
		return
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(answerTo(os.Getenv("TIDEGATE_JOB"), os.Getenv("TIDEGATE_KIND"), string(prompt), os.Args[2]))
	os.Exit(0)
}

var (
	askedHeadings = regexp.MustCompile(`(?m)^ {3,7}(## .*)$`)
	listedSources = regexp.MustCompile(`(?m)^- (s[0-9]+): (.*), \S+ \([a-z]+\)`)
	askedDrop     = regexp.MustCompile(`DROP_REQUIRED\b.*?: sentence (c[0-9]+)`)
	exampleBlock  = regexp.MustCompile("(?s)## Example\n.*?```\n(.*?)```\n")
)

// saidBy are sentences of the page with that title, the first of which every page of its
// kind has.
func saidBy(title string) []string {
	if title == "Port statistics" {
		return []string{"The port handled some 4,200 calls in that year, and tugs were part of most of them."}
	}
	if title == "The port" {
		title = "the port"
	}
	said := []string{"It pulls at the water, and the water follows it twice a day around the earth."}
	if strings.Contains(title, "<") { // reports have no HTML
		return said
	}
	return append(said, "This page is about "+title+".")
}

// answerTo is the answer of an agent that does what the prompt of its job says and
// reads nothing else. An output cites url.
func answerTo(job, kind, prompt, url string) string {
	sources := listedSources.FindAllStringSubmatch(prompt, -1)
	// cited is what a source says; each round of a report has other words of it.
	cited := func(source []string) string {
		said := saidBy(source[2])
		round, _ := strconv.Atoi(strings.TrimPrefix(job, "synthesis."))
		return said[max(round-1, 0)%len(said)] + " [@" + source[1] + "]"
	}
	var b strings.Builder
	switch {
	case kind == "perspectives", kind == "review":
		if example := exampleBlock.FindStringSubmatch(prompt); example != nil {
			return example[1]
		}
	case kind == "wave1", kind == "wave2":
		for _, m := range askedHeadings.FindAllStringSubmatch(prompt, -1) {
			b.WriteString(m[1] + "\n\n")
			switch m[1] {
			case "## Gaps":
			case "## Sources":
				fmt.Fprintf(&b, "- %s\n\n", url)
			default:
				b.WriteString("Nothing else.\n\n")
			}
		}
	case kind == "summary" && len(sources) == 0:
		return "- It pulls.\n"
	case kind == "summary":
		return "- " + cited(sources[0]) + "\n"
	case kind == "synthesis" && askedDrop.MatchString(prompt):
		var drops []string
		for _, m := range askedDrop.FindAllStringSubmatch(prompt, -1) {
			drops = append(drops, fmt.Sprintf(`{"sentence":%q,"with":""}`, m[1]))
		}
		return `{"replace":[` + strings.Join(drops, ",") + `]}`
	case kind == "synthesis" && strings.Contains(prompt, "⟦c1⟧ "):
		return fmt.Sprintf(`{"replace":[{"sentence":"c1","with":%q}]}`, cited(sources[0]))
	case kind == "synthesis":
		for _, m := range askedHeadings.FindAllStringSubmatch(prompt, -1) {
			b.WriteString(m[1] + "\n\n")
			for _, source := range sources {
				b.WriteString(cited(source) + "\n\n")
			}
			if len(sources) == 0 {
				fmt.Fprintf(&b, "It pulls, says %s.\n\n", job)
			}
		}
	case kind == "verify":
		return reader.Faithful(prompt)
	}
	return b.String()
}
