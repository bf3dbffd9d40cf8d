package demo

// step is one scene of the story: what happens and why, then what a user would
// type.
type step struct {
	title   string
	text    string
	actions []action
}

// action is one line that a user would type; exactly one of args, copy and show
// is set.
type action struct {
	args   []string  // a command line of tidegate
	status int       // the exit status that it must end with
	copy   [2]string // a file, and the folder that it is copied into
	show   string    // a file whose text is shown
	after  string    // what to notice in the output
}

func tidegateLine(status int, after string, args ...string) action {
	return action{args: args, status: status, after: after}
}

const question = "Should the port replace two of its four tugs with electric ones?"

var story = []step{
	{
		title: "A question becomes a run",
		text: "A run is a folder: a manifest that says where the run stands, six gates of which none has passed yet, " +
			"and a log in which every line carries the digest of the line before it.",
		actions: []action{tidegateLine(0, "", "run", "init", question, "--id", "harbour")},
	},
	{
		title: "Six perspectives, six contracts",
		text: "Each perspective is one angle of the question, given to one agent, with a contract: which sections its output must have, " +
			"how many words and sources it may have. The contracts are checked before anyone works by them, then become part of the run.",
		actions: []action{
			tidegateLine(0, "", "perspectives", "check", "perspectives.json"),
			tidegateLine(0, "", "perspectives", "write", "harbour", "perspectives.json"),
		},
	},
	{
		title: "The prompts for the agents",
		text: "The plan holds one prompt per agent, with every rule that the output will be judged by. " +
			"With its perspectives in place the run may move to its first wave.",
		actions: []action{
			tidegateLine(0, "", "wave", "plan", "harbour"),
			tidegateLine(0, "", "run", "advance", "harbour"),
		},
	},
	{
		title: "The agents have written: judge the wave",
		text: "Here your agents would work; six sample outputs lie in drafts/. The review reads every output once and judges it by its contract. " +
			"Four break theirs, each in another way.",
		actions: []action{tidegateLine(1, "Exit status 1: judged, and not passed. A script or CI job stops here.",
			"wave", "review", "perspectives.json", "drafts")},
	},
	{
		title: "What an agent is told",
		text: "A review is only useful if the next attempt passes. The retry prompt names every fault with its numbers and lines, " +
			"and states every rule again, so that an agent that follows it passes.",
		actions: []action{tidegateLine(0, "", "wave", "retry-prompt", "perspectives.json", "drafts", "--only", "operations")},
	},
	{
		title: "Unfit outputs do not get in",
		text:  "Taking outputs into a run judges them again: all are written, or none. The drafts are refused.",
		actions: []action{
			tidegateLine(1, "", "wave", "ingest", "harbour", "drafts"),
		},
	},
	{
		title: "The mended outputs do",
		text:  "The agents have written again; their second attempts lie in mended/. They are taken in, and the review is kept with the run.",
		actions: []action{
			tidegateLine(0, "", "wave", "ingest", "harbour", "mended"),
			tidegateLine(0, "", "wave", "review", "runs/harbour/perspectives.json", "runs/harbour/wave-1", "--report", "runs/harbour/wave-review.json"),
		},
	},
	{
		title: "The gate",
		text: "Gate B says that the wave meets its contracts. It does not believe the report: the outputs are judged once more, " +
			"and the gate is bound to their bytes. Change one of them later, and the gate no longer counts.",
		actions: []action{
			tidegateLine(0, "", "gate", "b", "harbour"),
			tidegateLine(0, "", "run", "advance", "harbour"),
		},
	},
	{
		title: "Is a second wave needed?",
		text: "Each output ends with the gaps that it leaves, from P0 (stops the work) to P3 (good to know). A rubric of four rules decides, in order; " +
			"no model is asked. One P0 gap, or two P1 gaps, would have meant a second wave.",
		actions: []action{
			tidegateLine(0, "Four gaps, but only one of them is P1: no rule requires a second wave.", "pivot", "decide", "harbour"),
			tidegateLine(0, "", "run", "advance", "harbour"),
		},
	},
	{
		title: "Every source is fetched, once",
		text: "The outputs cite seventeen pages. Each is fetched into an archive in the run, a WARC file that other programs read too. " +
			"In this demo the pages are sample data, so that no connection is opened.",
		actions: []action{tidegateLine(0, "", "citations", "fetch", "harbour")},
	},
	{
		title: "Which of them can be cited?",
		text: "The pages are judged from the archive alone, by a table of rules. A status of 200 is not enough: one deep link ends at a home page, " +
			"and one page says politely that it is not there.",
		actions: []action{
			tidegateLine(0, "", "citations", "check", "harbour"),
			tidegateLine(1, "Nine in ten sources must be usable. Fifteen of seventeen are fewer.", "gate", "c", "harbour"),
		},
	},
	{
		title: "A person names another page",
		text: "The magazine has moved its article. A person names the new address; the record keeps the URL that was cited and says by which page it was replaced. " +
			"No tool of an agent can do that.",
		actions: []action{
			tidegateLine(0, "", "citations", "replace", "harbour", "cid_63c57bf9", "https://deckreview.example/317"),
			tidegateLine(0, "One source stays unusable, and sixteen of seventeen are enough.", "citations", "check", "harbour"),
			tidegateLine(0, "", "gate", "c", "harbour"),
			tidegateLine(0, "", "run", "advance", "harbour"),
		},
	},
	{
		title: "Does the page say so?",
		text: "That a source exists does not mean that it says what it is cited for. Quotations and numbers of claims.md are held against the archived text of the pages: " +
			"the last one is not there. The study says 210,000.",
		actions: []action{
			{show: "claims.md"},
			tidegateLine(1, "", "ground", "harbour", "claims.md"),
		},
	},
	{
		title: "The agents write the report",
		text: "The summary pack carries what the outputs found, with citations that were checked. From here tidegate goes on by itself: it asks agents for what a rule cannot do, " +
			"judges what they answer, and moves the run. The agents of this demo answer from a recording.",
		actions: []action{
			tidegateLine(0, "", "summary", "build", "harbour"),
			tidegateLine(0, "", "run", "continue", "harbour", "--agent", "recorded:agents"),
		},
	},
	{
		title: "What happened on the way",
		text: "The first report claimed a number without a source and was refused, with the line and what to change. The second was accepted, and a reviewer, another agent, " +
			"asked for one change: the saving of 310,000 euro that no page has. A review counts only for the report that it is about.",
		actions: []action{
			tidegateLine(0, "", "job", "show", "harbour", "synthesis"),
			{show: "runs/harbour/jobs/review/001/answer-1.json"},
		},
	},
	{
		title: "The report",
		text: "Every citation leads to the passage on its page, and the report says what was checked and what was not. As HTML it is one file " +
			"that you can send to anybody.",
		actions: []action{
			tidegateLine(0, "", "report", "harbour"),
			tidegateLine(0, "", "report", "harbour", "--format", "html", "--output", "report.html"),
		},
	},
	{
		title: "Can it be trusted?",
		text: "Verify holds every file against the log. Replay does everything again that was done by rule, from the kept answers and the archive, " +
			"and compares the bytes.",
		actions: []action{
			tidegateLine(0, "", "run", "verify", "harbour"),
			tidegateLine(0, "", "run", "replay", "harbour"),
		},
	},
	{
		title: "The same for code: a review with a verdict",
		text: "A second agent has reviewed a code change and hands in its review as JSON. It is checked, all violations at once, and becomes REVIEW.md, " +
			"which people read and programs read back without loss.",
		actions: []action{
			tidegateLine(0, "", "change", "start", "charge-planner"),
			tidegateLine(0, "", "review", "create", "review-1.json"),
			{show: "agentd/changes/charge-planner/REVIEW.md"},
		},
	},
	{
		title: "The verdict moves the change",
		text:  "NEEDS_FIX sends the change back for one more round and counts it. Rounds are limited: after two a person must look.",
		actions: []action{
			tidegateLine(1, "Exit status 1: not approved.", "change", "advance", "charge-planner"),
		},
	},
	{
		title: "Fixed, reviewed again, approved",
		text:  "The second review finds both issues gone. Reviews are kept and compared, and APPROVED completes the change.",
		actions: []action{
			tidegateLine(0, "", "review", "create", "review-2.json"),
			tidegateLine(0, "", "review", "diff", "charge-planner"),
			tidegateLine(0, "", "change", "advance", "charge-planner"),
		},
	},
}

const ending = `The question has its report, and everything that led to it is in the folder: what the
agents were asked, what they answered, what was refused and why, the archived
pages, and the log.

Try next, in {folder}:

  open report.html                      the report in a browser
  export TIDEGATE_HOME=$PWD
  tidegate run status harbour           the gates, and what they stand on
  tidegate run log harbour              everything that happened, in order
  tidegate citations list harbour       the sources, and what each is worth
  tidegate explain TOO_MANY_WORDS       any code or rule, with an example

Change a word in runs/harbour/wave-1/grid.md, then verify the run again.
`
