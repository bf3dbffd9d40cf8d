package demo

import "github.com/tidegate/tidegate/internal/rule/evidence"

// step is one scene of the story: what happens and why, then what a user would
// type.
type step struct {
	title   string
	text    string
	actions []action
}

// action is one line that a user would type; either args or show is set.
type action struct {
	args   []string // a command line of tidegate
	status int      // the exit status that it must end with
	show   string   // a file whose text is shown
	after  string   // what to notice in the output
}

func tidegateLine(status int, after string, args ...string) action {
	return action{args: args, status: status, after: after}
}

// Question is what the recorded agents were asked.
const Question = "Harbour: should the port replace two of its four tugs with electric ones?"

// Further is what recorded agents were asked about the finished run.
const Further = "How much bollard pull does the electric tug have?"

// Shape is what the report was to be.
var Shape = evidence.Shape{Template: "decision", Audience: "the board of the port"}

// runName is the run that research makes from it: the words before the colon.
const runName = "harbour"

var story = []step{
	{
		title: "A question goes in",
		text: "Agents plan six perspectives on the question, research them, summarize, write the report, read it against its sources and review it. " +
			"Each answer is judged by a contract, each source is fetched and checked before it counts, and each sentence of the report is held against the pages that it cites. The agents and the pages of this demo are recorded, so that nothing is sent anywhere; " +
			"with an agent of yours installed, leave out --agent. --parallel 1 lets one agent work after the other, so that you can read along.",
		actions: []action{tidegateLine(0, "Completed: six gates passed, and each is a rule that anybody can run again. What went wrong on the way was put right on the way:",
			"research", Question, "--template", Shape.Template, "--for", Shape.Audience, "--agent", "recorded:demo", "--parallel", "1", "--yes")},
	},
	{
		title:   "An answer that broke its contract",
		text:    "The researcher of the grid listed a source that no program could have read. It got the line back with what to change, and corrected it in the same session.",
		actions: []action{tidegateLine(0, "", "job", "show", runName, "wave1.grid")},
	},
	{
		title: "A link that leads nowhere",
		text: "Sources are fetched while their author is still there. The researcher of the daily work cited an interview that has moved: its address ends at the home page of the magazine. " +
			"The second attempt cites the page itself.",
		actions: []action{tidegateLine(0, "", "job", "show", runName, "wave1.operations")},
	},
	{
		title: "A gap that stops the work",
		text: "Each output names the gaps that it leaves, from P0 (stops the work) to P3 (good to know). Four rules decide whether they need a second wave; no model is asked. " +
			"One P0 gap does.",
		actions: []action{
			tidegateLine(0, "", "pivot", "rules"),
			{show: "runs/" + runName + "/wave-2/gap_grid_1.md"},
		},
	},
	{
		title: "What the sources are worth",
		text: "The pages lie in an archive in the run, a WARC file that other programs read too, and are judged from it by a table of rules. One is behind a paywall: " +
			"it may be cited for what it shows, and the report says so.",
		actions: []action{tidegateLine(0, "", "citations", "list", runName)},
	},
	{
		title: "Numbers that no page has",
		text: "That a source exists does not mean that it says what it is cited for. Every sentence of the report cites its sources or says that it is inferred, " +
			"and its numbers, dates, quotations and names are looked for in the archived text: the first draft saved 310,000 euro a year, and the study says 210,000. What a report calculates is computed again: its total of 700,000 should be 600,000.",
		actions: []action{tidegateLine(0, "", "job", "show", runName, "synthesis")},
	},
	{
		title: "A reader that is tested while it reads",
		text: "Rules find numbers, not meaning. So a second reader judges each sentence by passages that a rule found, and sees nothing else: no report, no author. " +
			"Some sentences are sent once as they are and once turned into their opposite. The first reading supported both of a pair, so all of it counts for nothing; the second, with other pairs, supported none.",
		actions: []action{tidegateLine(0, "", "job", "show", runName, "verify.1")},
	},
	{
		title: "A lie in the words of its page",
		text:  "“The saving follows the price of power more than the price of fuel”: every word of it stands on the page, so no rule can refuse it. The page says the opposite, and the second reader noticed.",
		actions: []action{
			{show: "runs/" + runName + "/jobs/verify.1/002/answer-1.json", after: "The report went back to its writer, who changes what is asked for and leaves every other byte as it was:"},
			{show: "runs/" + runName + "/jobs/synthesis.2/001/answer-1.json", after: "Only what changed was read again. Now it stands:"},
			tidegateLine(0, "", "claim", "show", runName, "c27"),
		},
	},
	{
		title:   "A reviewer who wants more",
		text:    "Then the report is reviewed as a whole. The reviewer asked for one change, and the next report had to make it: a passage that stands as it did is refused.",
		actions: []action{{show: "runs/" + runName + "/jobs/review.2/001/answer-1.json"}},
	},
	{
		title: "The report",
		text: "It is one for a board: options, what they cost in all, a recommendation, and what would change it. Every citation leads to the passage on its page, every total to its numbers, and the report says what was checked, how, and by whom: here by a recording. As HTML it is one file " +
			"that you can send to anybody.",
		actions: []action{
			tidegateLine(0, "", "report", runName),
			tidegateLine(0, "", "report", runName, "--format", "html", "--output", "report.html"),
		},
	},
	{
		title: "Can it be trusted?",
		text: "Everything that was done by rule is done again, from the kept answers and the archive, and the bytes are compared. " +
			"Nothing of it needs a model or a connection.",
		actions: []action{tidegateLine(0, "", "run", "replay", runName)},
	},
	{
		title: "The same for code: a review with a verdict",
		text: "A second agent has reviewed a code change and hands in its review as JSON. It is checked, all violations at once, and becomes REVIEW.md, " +
			"which people read and programs read back without loss.",
		actions: []action{
			tidegateLine(0, "", "change", "start", "charge-planner"),
			tidegateLine(0, "", "review", "create", "review-1.json"),
		},
	},
	{
		title: "The verdict moves the change",
		text: "NEEDS_FIX sends the change back for one more round; after two a person must look. The second review finds both issues gone, " +
			"and APPROVED completes the change.",
		actions: []action{
			tidegateLine(1, "Exit status 1: not approved.", "change", "advance", "charge-planner"),
			tidegateLine(0, "", "review", "create", "review-2.json"),
			tidegateLine(0, "", "change", "advance", "charge-planner"),
		},
	},
}

const ending = `The question has its report, and everything that led to it is in the folder: what the
agents were asked, what they answered, what was refused and why, the archived
pages, and the log.

Try next:

  cd {folder}
  export TIDEGATE_HOME=$PWD
  report.html                    the report, for a browser
  tidegate report harbour        the report here
  tidegate ask harbour "How much bollard pull does the electric tug have?"
                                 a further question, answered from its pages
  tidegate run update harbour    do its sentences still stand today?
  tidegate claim list harbour    its sentences, and how each stands
  tidegate run log harbour       everything that happened, in order
  tidegate serve                 all of it as pages, in a browser
  tidegate run status harbour    the gates, and what they stand on
  tidegate run verify harbour    every file, compared with the log
  tidegate job list harbour      what agents were asked for
  tidegate wave review perspectives.json drafts
                                 outputs judged by hand: four fail
  tidegate explain NUMBER_NOT_FOUND
                                 any code or rule, with an example

Change a word in runs/harbour/wave-1/grid.md, then verify the run again.
`
