package wave

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
)

// The functions below make the change notes of faults: what the agent has to
// change, one imperative sentence with the numbers it needs.

func addSections(missing []string) string {
	switch {
	case len(missing) == 1 && missing[0] == "Sources":
		return "Add missing required section 'Sources' and include only bullet URL entries."
	case len(missing) == 1:
		return fmt.Sprintf("Add missing required section '%s' under a heading with exactly that text.", missing[0])
	}
	return fmt.Sprintf("Add these missing required sections, each under a heading with exactly that text: %s.", joinTitles(missing))
}

func removeWords(words int, contract Contract) string {
	allowed := most(contract.MaxWords)
	return fmt.Sprintf("Shorten the output by at least %s: it has %d and may have at most %d, markup and URLs included.",
		report.Counted(words-allowed, "word"), words, allowed)
}

func rewriteSources(sources *sourceLines) string {
	return fmt.Sprintf("Rewrite %s in the Sources section as a list item with an http(s):// URL, such as '- Title https://example.org/page', or remove it.",
		theLines(sources.lines, sources.malformed))
}

func removeSources(sources int, contract Contract) string {
	allowed := most(contract.MaxSources)
	return fmt.Sprintf("Remove at least %s from the Sources section: it lists %d and may list at most %d.",
		report.Counted(sources-allowed, "source"), sources, allowed)
}

// theLines names lines, of which only the first are known by number: "line 12",
// "each of the lines 12, 14 and 5 more".
func theLines(first []int, count int) string {
	if count == 1 {
		return "line " + strconv.Itoa(first[0])
	}
	numbers := make([]string, len(first))
	for i, n := range first {
		numbers[i] = strconv.Itoa(n)
	}
	list := strings.Join(numbers, ", ")
	if unlisted := count - len(numbers); unlisted > 0 {
		list += " and " + strconv.Itoa(unlisted) + " more"
	}
	return "each of the lines " + list
}

func joinTitles(titles []string) string { return "'" + strings.Join(titles, "', '") + "'" }
