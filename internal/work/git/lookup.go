package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/review"
)

// What may be looked up in a diff.
const (
	MostLookups   = 40
	mostLookedUp  = 400 << 10 // bytes of all answers
	mostLines     = 400       // of a file, where no end is named
	mostListed    = 500       // files
	mostMatches   = 100
	searchedBytes = 64 << 20
)

// Lookup answers what a reviewer asks about the two versions of a diff: from objects of
// the repository and the snapshot of what is not committed, never from the disk. Links,
// submodules, what settings let nobody see and files with credentials are refused.
type Lookup struct {
	d *Diff

	mu    sync.Mutex
	calls int
	said  int // bytes
}

// Lookup is for one job: what it may ask is counted.
func (d *Diff) Lookup() *Lookup { return &Lookup{d: d} }

// LookupTools are the names of the tools, what they are for, and their arguments.
var LookupTools = []struct {
	Name, About string
	Arguments   [][2]string
}{
	{"read_file", "Read lines of a file of the repository. Returns them with their numbers.", [][2]string{
		{"path", "the file, as the repository names it"}, {"tree",
			"change: as it is after the change; base: as it was before"},
		{"from", "the first line; empty for 1"}, {"to", "the last line; empty for 400 lines"}}},
	{"list_files", "List the files of a folder of the repository, with those in folders below.", [][2]string{
		{"tree", "change or base"}, {"path", "the folder; empty for all"}}},
	{"find_text", "Find a literal text in the files of the repository. Returns places and lines.", [][2]string{
		{"text", "what to find, letter for letter, within a line"}, {"tree", "change or base"}, {"path",
			"only below this folder or file; empty for all"}}},
}

// Answer answers a call by its name. What is wrong with a call, or refused, is part of the
// answer.
func (l *Lookup) Answer(ctx context.Context, tool string, arguments map[string]string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls++; l.calls > MostLookups || l.said >= mostLookedUp {
		return fmt.Sprintf("error: the %d calls and %d KB of this job are used up; answer from what you have", MostLookups,
			mostLookedUp>>10), nil
	}
	v := l.d.later
	switch arguments["tree"] {
	case "base":
		v = l.d.earlier
	case "change":
	default:
		return "error: tree must be change or base", nil
	}
	name := path.Clean("/" + strings.ReplaceAll(arguments["path"], `\`, "/"))[1:]
	var text string
	var err error
	switch tool {
	case "read_file":
		text, err = l.read(ctx, v, name, arguments["from"], arguments["to"])
	case "list_files":
		text = list(v, name)
	default:
		text, err = l.find(ctx, v, name, arguments["text"])
	}
	if room := mostLookedUp - l.said; len(text) > room {
		text = strings.ToValidUTF8(text[:room], "") + "\n(cut: the 400 KB of this job are used up)"
	}
	l.said += len(text)
	return text, err
}

// contents reads files of a version: those that are as they were from the objects of the
// base, others from the version itself.
func (l *Lookup) contents(ctx context.Context, v version, names []string) (map[string][]byte, error) {
	stored, own := []string{}, []string{}
	for _, name := range names {
		if l.d.earlier.files[name].id == v.files[name].id {
			stored = append(stored, name)
		} else {
			own = append(own, name)
		}
	}
	texts, err := l.d.earlier.read(ctx, stored)
	if err != nil {
		return nil, Unread(ctx, err)
	}
	more, err := v.read(ctx, own)
	if err != nil {
		return nil, Unread(ctx, err)
	}
	for name, text := range more {
		texts[name] = text
	}
	return texts, nil
}

// closed says why nobody may look at a file, "" where anybody may.
func (l *Lookup) closed(v version, name string) string {
	o, there := v.files[name]
	switch {
	case !there:
		return "there is no such file"
	case o.kind != "":
		return "it is " + o.kind
	case o.size > maxShown:
		return "it is larger than 1 MiB"
	}
	if glob, ignored := named(l.d.ignore, name); ignored {
		return fmt.Sprintf("[review] ignore of tidegate.toml names it (%s)", glob)
	}
	return ""
}

// secretText matches what keys and tokens look like.
var secretText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}` +
		`|\bglpat-[A-Za-z0-9_-]{20,}|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{24,}|\bAIza[0-9A-Za-z_-]{35}\b` +
		`|(?i:(?:password|passwd|secret|token|api_?key)["']?[ \t]*[:=][ \t]*["'][A-Za-z0-9+/_=-]{24,}["'])`)
})

// closedText says why the text of a file is shown to nobody.
func closedText(text []byte) string {
	switch {
	case bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text):
		return "it is no text"
	case secretText().Match(text) || link.ShowsCredentials(string(text)):
		return "there are credentials in it"
	}
	return ""
}

func (l *Lookup) read(ctx context.Context, v version, name, from, to string) (string, error) {
	if why := l.closed(v, name); why != "" {
		return refusedFile(name, why), nil
	}
	texts, err := l.contents(ctx, v, []string{name})
	if err != nil {
		return "", err
	}
	text := texts[name]
	if why := closedText(text); why != "" {
		return refusedFile(name, why), nil
	}
	n := review.CountLines(text)
	first, last := lineNumber(from, 1), 0
	if last = lineNumber(to, first+mostLines-1); first < 1 || last < first {
		return "error: from and to must be numbers of lines, from 1", nil
	}
	last = min(last, n)
	return fmt.Sprintf("%s, lines %d to %d of %d\n%s", name, min(first, n), last, n, review.Numbered(text, first,
		last)), nil
}

func refusedFile(name, why string) string {
	return fmt.Sprintf("error: %s cannot be read: %s", name, why)
}

// lineNumber reads a number; 0 for what is none.
func lineNumber(text string, none int) int {
	if text = strings.TrimSpace(text); text == "" {
		return none
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// within are the files of a version in a folder, or the one that a path names, in order.
func within(v version, folder string) []string {
	return slices.DeleteFunc(v.names(), func(name string) bool {
		return folder != "" && name != folder && !strings.HasPrefix(name, folder+"/")
	})
}

// list are the files of a folder, and folders with how many they hold where there are
// very many.
func list(v version, folder string) string {
	names := within(v, folder)
	if len(names) == 0 {
		return fmt.Sprintf("error: there is no folder %q", folder)
	}
	if len(names) <= mostListed {
		return strings.Join(names, "\n") + "\n"
	}
	var lines []string
	counts := map[string]int{}
	for _, name := range names {
		rest := strings.TrimPrefix(strings.TrimPrefix(name, folder), "/")
		if first, _, below := strings.Cut(rest, "/"); below {
			if counts[first]++; counts[first] == 1 {
				lines = append(lines, first+"/")
			}
			continue
		}
		lines = append(lines, rest)
	}
	for i, line := range lines {
		if below, isFolder := strings.CutSuffix(line, "/"); isFolder {
			lines[i] += " (" + report.Counted(counts[below], "file") + ")"
		}
	}
	more := ""
	if len(lines) > mostListed {
		more = fmt.Sprintf("(%d more)\n", len(lines)-mostListed)
		lines = lines[:mostListed]
	}
	return strings.Join(lines, "\n") + "\n" + more
}

// find are the lines of a version with a text.
func (l *Lookup) find(ctx context.Context, v version, folder, text string) (string, error) {
	if text == "" || strings.Contains(text, "\n") {
		return "error: text must be a part of a line", nil
	}
	names := slices.DeleteFunc(within(v, folder), func(name string) bool { return l.closed(v, name) != "" })
	var b strings.Builder
	found, size := 0, int64(0)
	for some := range slices.Chunk(names, 500) {
		for _, name := range some {
			size += v.files[name].size
		}
		if size > searchedBytes {
			b.WriteString("(the search ends here: name a folder)\n")
			break
		}
		texts, err := l.contents(ctx, v, some)
		if err != nil {
			return "", err
		}
		for _, name := range some {
			if !bytes.Contains(texts[name], []byte(text)) {
				continue
			}
			if why := closedText(texts[name]); why != "" {
				fmt.Fprintf(&b, "%s: not shown: %s\n", name, why)
				continue
			}
			for n, line := range strings.Split(string(texts[name]), "\n") {
				if !strings.Contains(line, text) {
					continue
				}
				if found++; found > mostMatches {
					return b.String() + fmt.Sprintf("(only the first %d are shown)\n", mostMatches), nil
				}
				fmt.Fprintf(&b, "%s:%d: %s\n", name, n+1, markdown.Code(strings.TrimSuffix(line[:min(len(line), 500)], "\r")))
			}
		}
	}
	return cmp.Or(b.String(), "nothing\n"), nil
}
