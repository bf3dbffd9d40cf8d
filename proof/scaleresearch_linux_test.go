package proof_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/fakemodel"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/reader"
)

// The size of a large research for each of its perspectives.
const (
	sourcesEach   = 10
	sentencesEach = 5 // of each source
)

// The memory bounds of a large research: what every command may use, and what it may use
// on top of that for each sentence of the report, with a fifth of a page.
const (
	researchMemory         = 96 << 20
	researchMemorySentence = 96 << 10
)

// TestALargeResearchIsTakenToItsSeal takes a question with 100 perspectives, 1,000 sources
// and a report of 5,000 sentences to the sealed report, and one with a tenth of it: models and
// sources are on loopback, and everything else is the program. Then it types every command
// that shows or judges the run. Memory is bounded; the times are printed, so that the reader
// sees how they grow.
func TestALargeResearchIsTakenToItsSeal(t *testing.T) {
	if !full.Asked() {
		t.Skip("a research with ten perspectives takes seconds; engine/long_test.go has small ones")
	}
	for _, perspectives := range []int{10, 100} {
		r := newResearch(t, perspectives)
		sentences := perspectives * sourcesEach * sentencesEach
		bound := int64(researchMemory + sentences*researchMemorySentence)
		t.Logf("%d perspectives, %d sources, %d sentences; at most %d MiB", perspectives, perspectives*sourcesEach, sentences, bound>>20)
		for _, words := range r.commands() {
			spent := r.types(t, words...)
			name := strings.ReplaceAll(strings.Join(words, " "), r.model.URL, "URL")
			t.Logf("%-50.50s %8.1f s, of processors %8.3f s, %5d MiB", name, spent.Took.Seconds(), spent.Processors.Seconds(), spent.Memory>>20)
			if spent.Memory > bound {
				t.Errorf("%s took %d MiB, at most %d are allowed", name, spent.Memory>>20, bound>>20)
			}
			if words[1] == "continue" {
				r.mustHave(t, sentences)
			}
		}
	}
}

// research is a home, with models and sources on loopback.
type research struct {
	dir          string
	perspectives int
	model        *fakemodel.Server
	hosts        []string // of the sources: one each, because the program is polite
}

func newResearch(t *testing.T, perspectives int) *research {
	t.Helper()
	dir, _ := withKeys(t)
	r := &research{dir: dir, perspectives: perspectives}
	r.model = fakemodel.Start(r.script)
	t.Cleanup(r.model.Close)
	listener := must.Get(net.Listen("tcp4", "0.0.0.0:0"))(t)
	port := listener.Addr().(*net.TCPAddr).Port
	for page := range perspectives * sourcesEach {
		r.hosts = append(r.hosts, fmt.Sprintf("127.1.%d.%d:%d", page/250, page%250+1, port))
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		page, err := strconv.Atoi(path.Base(asked.URL.Path))
		if err != nil {
			http.NotFound(w, asked)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, reader.Page(page))
	})}
	go web.Serve(listener)
	t.Cleanup(func() { web.Close() })
	return r
}

// commands are those of the research, and then everything that shows or judges it.
func (r *research) commands() [][]string {
	agent := "model:" + r.model.URL + "/v1"
	key, signers := filepath.Join(r.dir, "person"), filepath.Join(r.dir, "person.signers")
	return [][]string{
		{"research", "Large: what do the ports do?", "--perspectives", fmt.Sprint(r.perspectives), "--plan-only", "--one-agent", "--yes", "--agent", agent, "--model", "fake-1"},
		{"run", "limit", "large", "max_total_summary_kb", "10000"},
		{"run", "limit", "large", "max_answer_kb", "4096"},
		{"run", "continue", "large", "--agent", agent, "--model", "fake-1"},
		{"run", "status", "large"}, {"run", "log", "large"}, {"run", "verify", "large"}, {"run", "replay", "large"},
		{"job", "list", "large"}, {"job", "show", "large", "synthesis"}, {"job", "prompt", "large", "synthesis"},
		{"gate", "list", "large"},
		{"citations", "list", "large"},
		{"claim", "list", "large"}, {"claim", "show", "large", "c1"},
		{"report", "large", "--output", "report.md"}, {"report", "large", "--format", "html"}, {"report", "large", "--format", "docx", "--output", "report.docx"},
		{"report", "large", "--format", "csl-json"}, {"report", "large", "--format", "bibtex"}, {"report", "large", "--format", "ris"},
		{"run", "seal", "large", "--sign", key, "--output", "large.sealed"}, {"verify", "large.sealed", "--signers", signers},
		{"run", "export", "large", "--html", "pages"}, {"run", "export", "large", "--bundle", "large.bundle"},
		{"run", "compare", "large", "large"}, {"run", "update", "large"},
		{"audit", "report.md"},
		{"ask", "large", "What did the dredging contract of Karholm do in 1950?", "--agent", agent, "--model", "fake-1"}, {"find", "dredging", "contract"},
	}
}

// types types a command.
func (r *research) types(t *testing.T, words ...string) cost {
	t.Helper()
	var said bytes.Buffer
	command := exec.Command(binary, words...)
	command.Dir, command.Stdout, command.Stderr = r.dir, &said, &said
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+r.dir, "XDG_CONFIG_HOME="+r.dir, "TIDEGATE_FETCH_ALLOW="+strings.Join(r.hosts, ","))
	spent, err := measured(command)
	if err != nil {
		t.Fatalf("tidegate %q: %v\n%s", words, err, said.Bytes()[max(0, said.Len()-2000):])
	}
	return spent
}

// mustHave ends the test unless every source of the run can be cited, and the report has so
// many sentences.
func (r *research) mustHave(t *testing.T, sentences int) {
	t.Helper()
	for list, want := range map[string]int{"citations": len(r.hosts), "claim": sentences} {
		said, err := exec.Command(binary, list, "list", filepath.Join(r.dir, "runs", "large"), "--format", "json").Output()
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(string(said), map[string]string{"citations": `"status": "valid"`, "claim": `"form": "cited"`}[list])
		if n != want {
			t.Fatalf("%s list has %d, not %d: %.300s", list, n, want, said)
		}
	}
}

var (
	placeOf   = regexp.MustCompile(`Place ([0-9]+)\b`)
	firstPort = regexp.MustCompile(`(?m)^(\S+):\n\n\W*Port statistics 0\n`)
	portPages = regexp.MustCompile(`(?m)^- (s[0-9]+): .*Port statistics ([0-9]+)\b`)
)

// script is a model that does what the prompts of a research say.
func (r *research) script(asked fakemodel.Request) fakemodel.Reply {
	prompt, _, _ := strings.Cut(asked.Prompt, "\n## Example\n")
	kind, _, _ := strings.Cut(prompt, "\n")
	sources := portPages.FindAllStringSubmatch(prompt, -1)
	said := func(source []string, k int) string {
		page, _ := strconv.Atoi(source[2])
		return reader.Sentence(page, k) + " [@" + source[1] + "]"
	}
	var b strings.Builder
	switch kind {
	case "# Planning task":
		return fakemodel.Reply{Text: r.plan()}
	case "# Research task":
		place, _ := strconv.Atoi(placeOf.FindStringSubmatch(prompt)[1])
		b.WriteString("## Findings\n\n")
		for i := range sourcesEach {
			fmt.Fprintf(&b, "%s\n\n", reader.Sentence(place*sourcesEach+i, 0))
		}
		b.WriteString("## Gaps\n\nNothing is open.\n\n## Sources\n\n")
		for i := range sourcesEach {
			page := place*sourcesEach + i
			fmt.Fprintf(&b, "- http://%s/%d\n", r.hosts[page], page)
		}
	case "# Summary task":
		for _, source := range sources {
			fmt.Fprintf(&b, "- %s\n", said(source, 0))
		}
	case "# Writing task":
		titles := askedHeadings.FindAllStringSubmatch(prompt, -1)
		for i, title := range titles {
			fmt.Fprintf(&b, "%s\n\n", title[1])
			for n := i; n < len(sources)*sentencesEach; n += len(titles) {
				fmt.Fprintf(&b, "%s\n\n", said(sources[n/sentencesEach], n%sentencesEach))
			}
		}
	case "# Review task":
		return fakemodel.Reply{Text: exampleBlock.FindStringSubmatch(asked.Prompt)[1]}
	case "# A further question":
		return fakemodel.Reply{Text: reader.Sentence(0, 0) + " [@" + firstPort.FindStringSubmatch(prompt)[1] + "]"}
	default:
		return fakemodel.Reply{Text: reader.Faithful(asked.Prompt)}
	}
	return fakemodel.Reply{Text: b.String()}
}

// plan are the perspectives of the research.
func (r *research) plan() string {
	var list []tidegate.Details
	for i := range r.perspectives {
		track := []string{"standard", "independent", "contrarian"}[i%3]
		list = append(list, tidegate.Pairs("id", fmt.Sprintf("p%d", i), "title", fmt.Sprintf("Place %d", i), "track", track, "agent_type", "researcher",
			"prompt_contract", tidegate.Pairs("max_words", 400, "max_sources", sourcesEach, "tool_budget", tidegate.Pairs(), "must_include_sections", []string{"Findings", "Gaps", "Sources"})))
	}
	text, err := codec.MarshalLine(tidegate.Pairs("schema_version", "perspectives.v1", "run_id", "large", "created_at", "2026-03-04T00:00:00Z", "perspectives", list))
	if err != nil {
		panic(err)
	}
	return string(text)
}
