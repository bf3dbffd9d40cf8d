// Command reports audits published reports of other systems, and prints how they cite:
//
//	go run ./bench/reports FOLDER                 fetch what they cite
//	go run ./bench/reports -no-fetch FOLDER       look only at how they cite
//	go run ./bench/reports -pages PAGES FOLDER    use saved pages, as tidegate audit --pages does
//
// You bring the reports. Each file of lines
// in FOLDER is one system, in the format that DeepResearch Bench takes and
// open_deep_research writes: {"id", "prompt", "article"}. Each folder in it is one system,
// too, with a Markdown, HTML, docx, PDF or text file for each report.
//
// The table has counts over all reports of a system, and no rank.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/tool"
)

type options struct {
	noFetch bool
	pages   string
	folder  string
	auditor func(home string) *tool.Tool // which keeps its audits there
}

func main() {
	var o options
	flag.BoolVar(&o.noFetch, "no-fetch", false, "fetch nothing, and look only at how the reports cite")
	flag.StringVar(&o.pages, "pages", "", "a folder of saved pages to use instead of the web; its index.json maps each URL to a file")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "reports: name one folder of reports")
		os.Exit(2)
	}
	o.folder = flag.Arg(0)
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "reports:", err)
		os.Exit(1)
	}
}

func (o options) run(out io.Writer) error {
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return err
	}
	systems, err := read(folder)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "tidegate-reports")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	env, err := dispatch.ProcessEnv("tidegate bench")
	if err != nil {
		return err
	}
	o.auditor = func(home string) *tool.Tool {
		env.Home = filepath.Join(home, "runs")
		tools := catalog.Tools(env)
		return tools[slices.IndexFunc(tools, func(t *tool.Tool) bool { return t.Name == "report_audit" })]
	}
	if o.pages != "" {
		if o.pages, err = filepath.Abs(o.pages); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "| system | reports | not read | sentences | cited | citations for each sentence | sources | home pages among them | citations that lead nowhere | sources looked at | dead | cited sentences held against a page | a number is not there |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, s := range systems {
		var t tally
		for i, r := range s.reports {
			if err := o.audit(filepath.Join(scratch, "audits", fmt.Sprint(i)), r, &t); err != nil {
				return fmt.Errorf("%s, report %s: %w", s.name, r.name, err)
			}
		}
		fmt.Fprintln(out, t.row(s.name))
	}
	return nil
}

// system is whoever wrote reports.
type system struct {
	name    string
	reports []published
}

// published is one report, as a file or as text.
type published struct {
	name, path string
	text       string
}

// read finds the systems of a folder, in the order of their names.
func read(folder string) ([]system, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var systems []system
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		s := system{name: strings.TrimSuffix(e.Name(), ".jsonl")}
		switch {
		case e.IsDir():
			files, err := os.ReadDir(path)
			if err != nil {
				return nil, err
			}
			for _, f := range files {
				if slices.Contains([]string{".md", ".markdown", ".html", ".htm", ".docx", ".pdf", ".txt"}, strings.ToLower(filepath.Ext(f.Name()))) {
					s.reports = append(s.reports, published{name: f.Name(), path: filepath.Join(path, f.Name())})
				}
			}
		case filepath.Ext(e.Name()) == ".jsonl":
			if s.reports, err = readLines(path); err != nil {
				return nil, err
			}
		}
		if len(s.reports) > 0 {
			systems = append(systems, s)
		}
	}
	if len(systems) == 0 {
		return nil, fmt.Errorf("%s has neither files of lines (.jsonl) nor folders of reports", folder)
	}
	return systems, nil
}

// readLines reads a file of results. The id of a task is a number or a text.
func readLines(path string) ([]published, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []published
	for lines := json.NewDecoder(f); ; {
		var line struct {
			ID      any    `json:"id"`
			Article string `json:"article"`
		}
		if err := lines.Decode(&line); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: after %d reports: %w", path, len(all), err)
		}
		if line.Article == "" {
			return nil, fmt.Errorf("%s: report %v has no article", path, line.ID)
		}
		all = append(all, published{name: fmt.Sprint(line.ID), text: line.Article})
	}
}

// audited is what is taken of the result of tidegate audit.
type audited struct {
	Summary struct {
		Sentences, Cited, Carried, Structural, Citations int
		Found, Weak, Missing                             int
		Sources                                          struct{ Total, Unchecked, Invalid int }
	}
	Citations []struct{ URLs []string }
	Sentences []struct {
		Standing string
		Findings []struct{ Rule, Level string }
	}
	Sources []struct{ URL string }
}

// tally are the counts of one system.
type tally struct {
	reports, unread              int
	sentences, cited, citations  int
	sources, home, lost          int
	looked, dead, held, numbered int
}

// audit audits one report. A report whose style of citation is not known is counted, and
// is no error.
func (o options) audit(home string, r published, t *tally) error {
	path := r.path
	if path == "" {
		if err := os.MkdirAll(home, 0o700); err != nil {
			return err
		}
		path = filepath.Join(home, "report.md")
		if err := os.WriteFile(path, []byte(r.text), 0o600); err != nil {
			return err
		}
	}
	asked := map[string]any{"report_path": path, "no_fetch": o.noFetch}
	if o.pages != "" {
		asked["pages"] = o.pages
	}
	person := tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	args, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	said := o.auditor(home).Call(person, args, tool.Caller{})
	if said.Err != nil && strings.Contains(said.Err.Message, "no style of citation is recognised") {
		t.reports++
		t.unread++
		return nil
	}
	if said.Err != nil {
		return said.Err
	}
	var result audited
	if err := json.Unmarshal(said.Envelope, &result); err != nil {
		return err
	}
	t.add(result)
	return os.RemoveAll(home)
}

func (t *tally) add(r audited) {
	t.reports++
	s := r.Summary
	t.sentences += s.Sentences - s.Structural
	t.cited += s.Cited + s.Carried
	t.citations += s.Citations
	for _, c := range r.Citations {
		if len(c.URLs) == 0 {
			t.lost++
		}
	}
	for _, source := range r.Sources {
		if isHome(source.URL) {
			t.home++
		}
	}
	t.sources += s.Sources.Total
	t.looked += s.Sources.Total - s.Sources.Unchecked
	t.dead += s.Sources.Invalid
	t.held += s.Found + s.Weak + s.Missing
	for _, sentence := range r.Sentences {
		missed := func(f struct{ Rule, Level string }) bool { return f.Rule == "numbers" && f.Level == "fault" }
		if sentence.Standing != "" && slices.ContainsFunc(sentence.Findings, missed) {
			t.numbered++
		}
	}
}

// isHome reports whether an address is that of a site and not of a page in it.
func isHome(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}

func (t *tally) row(name string) string {
	share := func(n, of int) string {
		if of == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3f", float64(n)/float64(of))
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %s | %s | %d | %s | %s | %d | %s | %d | %s |", strings.ReplaceAll(name, "|", "/"), t.reports, t.unread, t.sentences, share(t.cited, t.sentences), share(t.citations, t.sentences),
		t.sources, share(t.home, t.sources), share(t.lost, t.citations), t.looked, share(t.dead, t.looked), t.held, share(t.numbered, t.held))
}
