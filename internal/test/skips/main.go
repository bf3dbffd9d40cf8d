// Command skips reads what go test -json prints, shows it as go test does, and then which
// tests were left out: package, count and reason. It fails for a reason that the file of
// its argument does not list (.ci/skips without one), and for a test that is never left
// out. With -v it shows all that tests say, else what those say that fail.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	verbose := flag.Bool("v", false, "show what every test says")
	flag.Parse()
	list, err := os.ReadFile(cmp.Or(flag.Arg(0), ".ci/skips"))
	if err == nil {
		err = count(os.Stdin, os.Stdout, string(list), *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	}
}

// event is what go test -json prints of a test, of a package and of a build.
type event struct{ Action, Package, Test, Output string }

// test is a test of a package.
type test struct{ pkg, name string }

// skip is a reason for which tests of a package were left out.
type skip struct{ pkg, reason string }

// count reads events and writes what they tell. It fails where a test was left out that
// the list does not allow to be.
func count(from io.Reader, to io.Writer, list string, verbose bool) error {
	reasons, never, err := read(list)
	if err != nil {
		return err
	}
	said := map[test]string{} // until the test has ended
	skipped := map[skip]int{}
	var faults []string
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(to, lines.Text()) // go test says it itself
			continue
		}
		if verbose || e.Test == "" {
			io.WriteString(to, e.Output)
		}
		if e.Test == "" {
			continue
		}
		each := test{e.Package, e.Test}
		said[each] += e.Output
		switch e.Action {
		case "skip":
			reason := reasonIn(said[each])
			skipped[skip{e.Package, reason}]++
			if never.MatchString(e.Test) || !reasons.MatchString(reason) {
				faults = append(faults, fmt.Sprintf("%s %s must not be left out: %s", e.Package, e.Test, reason))
			}
			delete(said, each)
		case "fail":
			if !verbose {
				io.WriteString(to, said[each])
			}
			delete(said, each)
		case "pass":
			delete(said, each)
		}
	}
	for each := range said { // it began and did not end
		faults = append(faults, fmt.Sprintf("%s %s has no end:\n%s", each.pkg, each.name, said[each]))
	}
	for _, each := range slices.SortedFunc(maps.Keys(skipped), func(a, b skip) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.reason, b.reason))
	}) {
		fmt.Fprintf(to, "left out\t%s\t%d\t%s\n", each.pkg, skipped[each], each.reason)
	}
	if err := lines.Err(); err != nil || len(faults) == 0 {
		return err
	}
	slices.Sort(faults)
	return errors.New(strings.Join(faults, "\n"))
}

// told is the first line of what a test says, and what a script gives as its reason.
var told = regexp.MustCompile(`(?m)^ +\w+\.go:\d+: (.*)$|^ +> .*\bskip '(.*)'$`)

// reasonIn is what a test said last.
func reasonIn(said string) string {
	all := told.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return "without a reason"
	}
	last := all[len(all)-1]
	return cmp.Or(last[1], last[2])
}

// read reads a list of reasons, one on a line, each a regular expression for the whole of
// a reason. A line that begins with "never" has one for the whole of a test's name.
func read(list string) (reasons, never *regexp.Regexp, err error) {
	var may, mustNot []string
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		name, isTest := strings.CutPrefix(line, "never ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isTest:
			mustNot = append(mustNot, name)
		default:
			may = append(may, line)
		}
	}
	if reasons, err = anyOf(may); err == nil {
		never, err = anyOf(mustNot)
	}
	return reasons, never, err
}

// anyOf matches what one of the expressions matches as a whole; none matches nothing.
func anyOf(list []string) (*regexp.Regexp, error) {
	if len(list) == 0 {
		return regexp.Compile(`[^\s\S]`)
	}
	return regexp.Compile(`^(` + strings.Join(list, "|") + `)$`)
}
