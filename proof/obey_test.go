package proof_test

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
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

// obedient is the agent that cites url, for --agent.
func obedient(url string) string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return "exec:'" + self + "' " + obeyWord + " " + url
}

var (
	askedHeadings = regexp.MustCompile(`(?m)^ {3,7}(## .*)$`)
	listedSources = regexp.MustCompile(`(?m)^- (s[0-9]+): `)
	exampleBlock  = regexp.MustCompile("(?s)## Example\n.*?```\n(.*?)```\n")
)

// answerTo is the answer of an agent that does what the prompt of its job says and
// reads nothing else. An output cites url.
func answerTo(job, kind, prompt, url string) string {
	cite := ""
	if id := listedSources.FindStringSubmatch(prompt); id != nil {
		cite = " [@" + id[1] + "]"
	}
	var b strings.Builder
	switch kind {
	case "perspectives", "review":
		if example := exampleBlock.FindStringSubmatch(prompt); example != nil {
			return example[1]
		}
	case "wave1", "wave2":
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
	case "summary":
		return "- It pulls, says " + job + "." + cite + "\n"
	case "synthesis":
		for _, m := range askedHeadings.FindAllStringSubmatch(prompt, -1) {
			fmt.Fprintf(&b, "%s\n\nIt pulls, says %s.%s\n\n", m[1], job, cite)
		}
	}
	return b.String()
}
