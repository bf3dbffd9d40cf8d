package main

import (
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
)

// word is a word with its meaning here.
type word struct {
	name    string
	meaning string
	see     string // a command that shows it
}

// words has the words that tidegate uses in a sense of its own, in the order in which they come up in a run.
var words = []word{
	{"run", "One question on its way to a report: a folder with the question, what agents wrote, what was judged, and a log of all of it.", "tidegate run list"},
	{"perspective", "One angle from which a question is researched. Each perspective has one agent, one contract and one output.", "tidegate perspectives new \"QUESTION\""},
	{"contract", "What an output must meet: required sections, most words, most sources, most calls of tools. Outputs are judged by it and by nothing else.", "tidegate perspectives check perspectives.json"},
	{"wave", "A round of research in which every perspective is worked on at once. The first wave covers all perspectives; a second one closes gaps that the first left.", "tidegate wave plan RUN"},
	{"output", "The Markdown document that an agent writes for a perspective.", "tidegate wave validate PERSPECTIVES ID OUTPUT"},
	{"ingest", "To judge outputs and copy them into a run. All of them are taken, or none.", "tidegate wave ingest RUN FOLDER"},
	{"job", "A piece of work that a run gives to an agent: a prompt, a judge for the answer, and a number of tries.", "tidegate job list RUN"},
	{"gate", "A judgement that a run needs before it moves to the next stage, from A (the perspectives) to F (the finished run). Rules judge it, not agents.", "tidegate gate list RUN"},
	{"bound", "A gate is bound to the exact bytes that it judged. When one of them changes, the gate is open again until it is judged anew.", "tidegate gate list RUN"},
	{"gap", "What an output says is still unknown, with a priority from P0, the most urgent, to P3.", "tidegate pivot decide RUN"},
	{"pivot", "The decision, by the gaps of the first wave, whether there is a second one.", "tidegate pivot rules"},
	{"source", "A page or document that an output cites. It is fetched once and judged by its archived copy.", "tidegate citations list RUN"},
	{"cid", "The id of a source: a digest of its normalised URL. Reports and summaries cite a source as [@cid].", "tidegate citations list RUN"},
	{"pool", "All sources of a run that can be cited.", "tidegate citations list RUN"},
	{"grounding", "Holding the numbers and quotations of a text against the archived pages that it cites for them.", "tidegate ground RUN"},
	{"audit", "A finished report, whoever wrote it, held against the sources that it cites: a folder with the report, the archive, the log and what was found.", "tidegate audit --demo"},
	{"update", "The sources of a finished report fetched again, with which of its sentences still stand: a folder of its own, bound to the run or audit.", "tidegate run update RUN"},
	{"answer", "A further question about finished reports, answered from their archived pages alone, or with the one sentence that they do not answer it.", "tidegate ask RUN \"…\""},
	{"summary", "A short version of an output that cites only sources of the pool.", "tidegate summary build RUN"},
	{"pack", "All summaries of a run in one document, bounded in size. The report is written from it.", "tidegate summary build RUN"},
	{"synthesis", "The report as an agent drafts it from the pack. Reviewers read it, and gate E judges it.", "tidegate gate e RUN"},
	{"claim", "A sentence of a report. It cites its sources, is inferred or calculated from them, says something of the run itself, or introduces what follows. Rules hold it against the archived pages.", "tidegate claim list RUN"},
	{"window", "A passage of an archived page that a rule found for a claim. The second reader judges the claim by its windows alone.", "tidegate claim show RUN"},
	{"reader", "The second reader: another agent than the writer, which reads each claim against its windows and says whether they support it.", "tidegate claim list RUN"},
	{"control", "A false sentence planted among the claims that a second reader is given. A reader that calls one supported has its answer refused.", "tidegate explain READER_UNFIT"},
	{"READER_UNFIT", "What the log says of a second reader whose answers were refused too often because they called a control supported. It gets no more claims to read.", "tidegate run log RUN"},
	{"cell", "What an agent works in: a folder of its own, the files it may read, and a door to its model. Everything else is refused by the operating system, where that is possible.", "tidegate agents"},
	{"seal", "One signed file with a finished run, which a stranger can check without asking anybody.", "tidegate run seal RUN"},
	{"change", "A code change on its way through implementation and review.", "tidegate change list"},
	{"verdict", "What a review says of a change: APPROVED, NEEDS_FIX or MAJOR_ISSUES.", "tidegate change status ID"},
	{"NEEDS_CHANGES", "What Agentd calls the verdict NEEDS_FIX. REVIEW.md has both words, because Agentd reads it too; they mean the same.", "tidegate review show ID"},
	{"canary", "A test of the judges themselves: every fault that they must find is planted, and each must be found. With --agents it tests your own agents, by pages that tell them what to do.", "tidegate canary"},
}

// findWord is the word of that name, in any letter case, in the plural too.
func findWord(name string) (word, bool) {
	for _, w := range words {
		if strings.EqualFold(w.name, name) || strings.EqualFold(w.name+"s", name) {
			return w, true
		}
	}
	return word{}, false
}

// report shows a word to a person.
func (w word) report() report.Report {
	out := report.Report{Name: "explain", Title: w.name}
	out.Add(report.Paragraph(w.meaning), report.Heading("To see it"), report.Preformatted(w.see))
	return out
}
