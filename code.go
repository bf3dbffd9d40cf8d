package tidegate

// Code names one kind of failure. Codes are part of the wire format: they are
// never renamed and never reused.
type Code string

// Class groups the codes by what a caller can do about them. Each face maps
// classes, never codes.
type Class int

// The classes.
const (
	NotMet   Class = iota + 1 // the judged thing does not meet its contract
	Invalid                   // the call or a document it reads is wrong
	NotFound                  // something that the call names is not there
	Conflict                  // the state of the run or change forbids it
	Denied                    // a path leaves the folders it must stay in
	Failed                    // the machine or the program failed
	Stopped                   // the caller gave up
)

func (c Class) String() string {
	switch c {
	case NotMet:
		return "not met"
	case Invalid:
		return "invalid"
	case NotFound:
		return "not found"
	case Conflict:
		return "conflict"
	case Denied:
		return "denied"
	case Failed:
		return "internal"
	case Stopped:
		return "cancelled"
	}
	return "unknown"
}

// The codes, in the order of [Explanations].
const (
	MissingRequiredSection Code = "MISSING_REQUIRED_SECTION"
	TooManyWords           Code = "TOO_MANY_WORDS"
	MalformedSources       Code = "MALFORMED_SOURCES"
	TooManySources         Code = "TOO_MANY_SOURCES"
	HTMLNotAllowed         Code = "HTML_NOT_ALLOWED"
	LinkNotAllowed         Code = "LINK_NOT_ALLOWED"
	InvisibleText          Code = "INVISIBLE_TEXT"
	TooLong                Code = "TOO_LONG"
	CredentialsNotAllowed  Code = "CREDENTIALS_NOT_ALLOWED"
	SecretInAnswer         Code = "SECRET_IN_ANSWER"
	ToolBudgetExceeded     Code = "TOOL_BUDGET_EXCEEDED"
	Wave1NotValidated      Code = "WAVE1_NOT_VALIDATED"
	Wave1ContractNotMet    Code = "WAVE1_CONTRACT_NOT_MET"
	GapsSectionNotFound    Code = "GAPS_SECTION_NOT_FOUND"
	GapsParseFailed        Code = "GAPS_PARSE_FAILED"
	RawURLNotAllowed       Code = "RAW_URL_NOT_ALLOWED"
	UnknownCID             Code = "UNKNOWN_CID"
	SizeCapExceeded        Code = "SIZE_CAP_EXCEEDED"
	QuotationNotFound      Code = "QUOTATION_NOT_FOUND"
	NumberNotFound         Code = "NUMBER_NOT_FOUND"
	DateNotFound           Code = "DATE_NOT_FOUND"
	NotWhatThePageSays     Code = "NOT_WHAT_THE_PAGE_SAYS"
	ClaimNotChecked        Code = "CLAIM_NOT_CHECKED"
	ReservedHeading        Code = "RESERVED_HEADING"
	OriginUnknown          Code = "ORIGIN_UNKNOWN"
	SourceNotAllowed       Code = "SOURCE_NOT_ALLOWED"
	SourceNotUsable        Code = "SOURCE_NOT_USABLE"
	NoCitation             Code = "NO_CITATION"
	Unchanged              Code = "UNCHANGED"
	LineNotFound           Code = "LINE_NOT_FOUND"
	QuoteNotFound          Code = "QUOTE_NOT_FOUND"
	PerspectiveCount       Code = "PERSPECTIVE_COUNT"
	UncitedSentence        Code = "UNCITED_SENTENCE"
	WeakSentence           Code = "WEAK_SENTENCE"
	ContradictionIgnored   Code = "CONTRADICTION_IGNORED"
	FormMixed              Code = "FORM_MIXED"
	HeadingClaims          Code = "HEADING_CLAIMS"
	TooLittle              Code = "TOO_LITTLE"
	TooMuchInferred        Code = "TOO_MUCH_INFERRED"
	TooManyCitations       Code = "TOO_MANY_CITATIONS"
	CalculationWrong       Code = "CALCULATION_WRONG"
	OperandNotFound        Code = "OPERAND_NOT_FOUND"
	DropRequired           Code = "DROP_REQUIRED"
	VerdictMissing         Code = "VERDICT_MISSING"
	WordsNotFound          Code = "WORDS_NOT_FOUND"
	ControlFailed          Code = "CONTROL_FAILED"

	InvalidArgs             Code = "INVALID_ARGS"
	InvalidJSON             Code = "INVALID_JSON"
	SchemaValidationFailed  Code = "SCHEMA_VALIDATION_FAILED"
	MismatchedPerspectiveID Code = "MISMATCHED_PERSPECTIVE_ID"
	DuplicatePerspectiveID  Code = "DUPLICATE_PERSPECTIVE_ID"
	DuplicateGapID          Code = "DUPLICATE_GAP_ID"
	InvalidGapPriority      Code = "INVALID_GAP_PRIORITY"
	InvalidToolBudget       Code = "INVALID_TOOL_BUDGET"
	InvalidToolUsage        Code = "INVALID_TOOL_USAGE"
	InvalidWaveDir          Code = "INVALID_WAVE_DIR"
	ModelRequired           Code = "MODEL_REQUIRED"
	EndpointInvalid         Code = "ENDPOINT_INVALID"

	FileNotFound        Code = "NOT_FOUND"
	OutputNotFound      Code = "OUTPUT_NOT_FOUND"
	PerspectiveNotFound Code = "PERSPECTIVE_NOT_FOUND"
	JobNotFound         Code = "JOB_NOT_FOUND"

	RevisionMismatch        Code = "REVISION_MISMATCH"
	GateBlocked             Code = "GATE_BLOCKED"
	MissingArtifact         Code = "MISSING_ARTIFACT"
	InvalidState            Code = "INVALID_STATE"
	StageMismatch           Code = "STAGE_MISMATCH"
	WaveCapExceeded         Code = "WAVE_CAP_EXCEEDED"
	ReviewCapExceeded       Code = "REVIEW_CAP_EXCEEDED"
	AlreadyExistsConflict   Code = "ALREADY_EXISTS_CONFLICT"
	RequestedNextNotAllowed Code = "REQUESTED_NEXT_NOT_ALLOWED"
	LockHeld                Code = "LOCK_HELD"
	Disabled                Code = "DISABLED"
	ContractFrozen          Code = "CONTRACT_FROZEN"
	Tampered                Code = "TAMPERED"
	JobNotOpen              Code = "JOB_NOT_OPEN"
	LeaseLost               Code = "LEASE_LOST"
	BudgetExhausted         Code = "BUDGET_EXHAUSTED"
	NotConfined             Code = "NOT_CONFINED"
	SameHolder              Code = "SAME_HOLDER"
	RecordingDiffers        Code = "RECORDING_DIFFERS"
	SearchUnavailable       Code = "SEARCH_UNAVAILABLE"

	PathNotAllowed Code = "PATH_NOT_ALLOWED"
	PathTraversal  Code = "PATH_TRAVERSAL"
	WaveDirSymlink Code = "WAVE_DIR_SYMLINK"
	NotAPerson     Code = "NOT_A_PERSON"
	// NotAuthenticated is said over HTTP alone.
	NotAuthenticated Code = "NOT_AUTHENTICATED"

	ReadFailed  Code = "READ_FAILED"
	WriteFailed Code = "WRITE_FAILED"
	Internal    Code = "INTERNAL"

	Cancelled Code = "CANCELLED"
)

// Explanation says what a code means and what to do about it.
type Explanation struct {
	Code    Code
	Class   Class
	Meaning string // one sentence
	Fix     string // one sentence, an instruction
}

// Explanations is the table of all codes, grouped by class. `tidegate explain`
// prints it.
var Explanations = []Explanation{
	{MissingRequiredSection, NotMet, "A section that the contract or the template requires has no heading, or text of a report stands in no section.", "Add a top-level heading (# to ######) whose text is exactly the title; take out what stands before the first section or behind the last."},
	{TooManyWords, NotMet, "The output has more words than the contract allows.", "Shorten the output; every token between white space counts, markup included."},
	{MalformedSources, NotMet, "A line of the Sources section is not a list item, or has no http(s) URL.", "Rewrite the line as one list item with its URL, or remove it."},
	{TooManySources, NotMet, "The Sources section lists more sources than the contract allows, or, where a run takes the output, names more different URLs.", "Remove sources until no more than allowed remain."},
	{HTMLNotAllowed, NotMet, "An output that a run is to take has an HTML tag or comment, of which a reader sees nothing; or a synthesis has one.", "Remove the HTML; write what looks like a tag as code between back-ticks."},
	{LinkNotAllowed, NotMet, "A synthesis has a link, an image, or the definition of one. A citation is its only link.", "Write the text without the link; cite with [@cid]."},
	{InvisibleText, NotMet, "An output or a synthesis that a run is to take has a character that a reader cannot see, or that turns the text around; or a synthesis strikes text out with tildes.", "Remove the character, or what is struck out; the joiners that scripts and emoji need may stay between two characters."},
	{TooLong, NotMet, "An output that a run is to take has more than 12 characters for each word that the contract allows, outside its Sources section; or a sentence of a report has more than 60 words, or a row of a table more than 100; or the section of a report that answers the question has more than five sentences.", "Shorten the output (a text without whitespace between its words counts by its characters), make two sentences, or move what is no answer to another section."},
	{CredentialsNotAllowed, NotMet, "An output that a run is to take has a URL with a user name, a password, a token or a key in it.", "Replace the URL by one that everyone can open, or remove it."},
	{SecretInAnswer, NotMet, "An answer has the token or key that its agent works with in it, word for word.", "Give the job to another try; where it happens again, look at what the agent was asked to read."},
	{ToolBudgetExceeded, NotMet, "The recorded use of a tool is above the contract's budget.", "Run the agent again, and within its budget."},
	{Wave1NotValidated, NotMet, "A validation report says that its output did not pass.", "Correct and validate the output first; pass only reports with ok true."},
	{Wave1ContractNotMet, NotMet, "A validation report lists missing sections.", "Correct the output until its report has an empty missing_sections."},
	{GapsSectionNotFound, NotMet, "An output has no top-level heading Gaps, and no explicit gaps were given.", "Add a Gaps section to the output, or pass explicit_gaps."},
	{GapsParseFailed, NotMet, "A bullet under Gaps, or a line there that begins with a priority, does not have the required form.", "Write the line as `- (P0) text`, with P0, P1, P2 or P3. Where there are no gaps, say so in a sentence that is not a list item."},
	{RawURLNotAllowed, NotMet, "A summary or a synthesis contains a raw URL.", "Replace the URL with a citation [@cid]."},
	{UnknownCID, NotMet, "A summary cites an id that is not among the validated citations.", "Cite an id whose status in citations.jsonl is valid or paywalled, or remove the citation."},
	{SizeCapExceeded, NotMet, "A summary, or all summaries together, are larger than the manifest allows.", "Shorten the summary, or raise the limit in the manifest."},
	{QuotationNotFound, NotMet, "A quotation is not on the page that it is cited from.", "Quote the page word for word, cite the page that has the words, or take the quotation out."},
	{NumberNotFound, NotMet, "A number is not on the page that it is cited from.", "Use the number that the page has, cite the page that has this one, or take it out."},
	{DateNotFound, NotMet, "A date is not on the page that it is cited from, which has another one in its place.", "Use the date that the page has, cite the page that has this one, or take it out."},
	{NotWhatThePageSays, NotMet, "A sentence follows one of its page nearly word for word, and says something else in one place: another number or name, the opposite, or another bound.", "Say what the page says, cite the page that says this, or take it out."},
	{ClaimNotChecked, NotMet, "A claim has a quotation or a number, and none of the pages that it cites has a text to look for it.", "Cite a page that can be read and has it, or take it out. A person can put a text in the place of the page: citations attach."},
	{ReservedHeading, NotMet, "A synthesis has a heading that the report writes itself, such as References.", "Give the section another title, or leave it out: the report adds its own."},
	{OriginUnknown, NotMet, "Nothing shows where a source comes from, in a run that requires it: no search of the run found it, no page with a known origin links to it, and the person did not name it.", "Find the source by a search, name a page that was found and says the same, or take out the source and what rests on it."},
	{SourceNotAllowed, NotMet, "A source of an output is not allowed in this run: by its domain, its date, its language or its class.", "Name a source that the run allows, or take out the source and what rests on it."},
	{SourceNotUsable, NotMet, "A source of an output cannot be used: its page is not there, is another one, or cannot be opened.", "Name another source that says the same, or take out the source and what rests on it."},
	{NoCitation, NotMet, "A summary cites no source of its output, and there is one.", "Cite a source of the output, by the id that the prompt gives it."},
	{Unchanged, NotMet, "A passage that the last review asked to change stands as it did.", "Make the change that the review asks for."},
	{LineNotFound, NotMet, "A review names a line that the reviewed draft does not have.", "Use the line numbers of the draft as it was shown."},
	{QuoteNotFound, NotMet, "A finding of a code review quotes lines that the file does not have where it says.", "Quote whole lines of the file as it is after the change, beginning at the line that is named."},
	{PerspectiveCount, NotMet, "The planner names more or fewer perspectives than the person asked for.", "List exactly as many perspectives as the prompt says."},
	{UncitedSentence, NotMet, "A sentence of a report has no source: it is neither cited nor inferred, no citation of its paragraph reaches it, and it does not only introduce what follows.", "Cite its page behind it, [@id]; write [inferred from @id …] where you conclude it; or take it out."},
	{WeakSentence, NotMet, "Something of a sentence is not on the pages that it cites, or in other words; it is a warning, and the second reader decides.", "Say it in the words of the page, or cite the page that says it."},
	{ContradictionIgnored, NotMet, "A report gives one number for something for which another source of the run gives another.", "Say that the sources disagree, with both numbers and both citations, or leave the number out. It is told to the author, and the reviewer decides."},
	{FormMixed, NotMet, "A sentence of a report is cited and inferred at once, or has a bracket that begins like a mark and is none, or asks for a chart of a table that cannot be drawn.", "Write exactly one of [@id], [inferred from @id …], and, beside either, [calculated: EXPRESSION = RESULT]; draw tables with labels in the first column and numbers of one unit in the others."},
	{HeadingClaims, NotMet, "A heading of a report that the template does not have claims something, is longer than eight words, introduces nothing, or stands above the third level.", "Let the heading name its subject, begin it with ###, and say the rest in a cited sentence below it."},
	{TooLittle, NotMet, "A report says too little: a section without a statement, too few cited findings, too few perspectives or sources.", "Write what the message names, from the sources that you were given."},
	{TooMuchInferred, NotMet, "More than one sentence in four is inferred outside the sections of judgement.", "Cite pages that say it, or move what is your judgement to a section for it."},
	{TooManyCitations, NotMet, "A sentence cites more than three sources, a row of a table more than six, or more than five sentences name @run.", "Keep the sources that say it best, or make two sentences."},
	{CalculationWrong, NotMet, "The result of a calculation is not what its formula gives, or the formula divides by zero.", "Write the value that the message names, or correct the formula."},
	{OperandNotFound, NotMet, "A number of a calculation stands in no passage that its sentence is held against, is no result calculated before and no constant; or nothing but constants is calculated.", "Calculate with numbers that stand on the cited pages; a constant only multiplies or divides."},
	{DropRequired, NotMet, "A sentence, or what replaced it, was not supported in two rounds.", "Take the sentence out, without another in its place."},
	{VerdictMissing, NotMet, "A second reader's answer leaves out a claim, or names one twice or one that it was not asked.", "Answer every claim of the prompt exactly once."},
	{WordsNotFound, NotMet, "The words that a second reader quotes for a claim do not stand in the passage that it names, or are too few.", "Copy at least three words from the passage, exactly, or give another verdict."},
	{ControlFailed, NotMet, "A second reader called a sentence and its contrary supported, or confirmed a false finding. Nothing says which.", "Read every claim against its passages; the part is asked again."},

	{InvalidArgs, Invalid, "An argument is missing, blank, misspelt, of the wrong type or out of range.", "Correct the argument; `--help` of a command and `tidegate tools --json` show what is expected."},
	{InvalidJSON, Invalid, "A document is not strict JSON: a syntax error, a duplicate key, trailing data or invalid UTF-8.", "Correct the document at the position in the message."},
	{SchemaValidationFailed, Invalid, "A document is JSON but does not follow its schema.", "Correct the field at the path; `tidegate schema` prints the schemas, and `tidegate perspectives check` finds all that is wrong with a perspectives.json."},
	{MismatchedPerspectiveID, Invalid, "A wave output has no validation report with its id, or the other way round, or an id is repeated.", "Pass exactly one output and one report for each perspective."},
	{DuplicatePerspectiveID, Invalid, "The same perspective occurs twice in one call.", "Pass each perspective once."},
	{DuplicateGapID, Invalid, "Two explicit gaps have the same gap_id.", "Give each gap an id of its own."},
	{InvalidGapPriority, Invalid, "A gap's priority is not P0, P1, P2 or P3.", "Use one of the four priorities."},
	{InvalidToolBudget, Invalid, "A tool budget is not a number of at least 0.", "Correct prompt_contract.tool_budget."},
	{InvalidToolUsage, Invalid, "A sidecar's tool_usage is not an object of numbers of at least 0.", "Correct the use of tools that was reported."},
	{InvalidWaveDir, Invalid, "The manifest's folder for a wave is not a plain relative path.", "Correct artifacts.paths in the manifest."},
	{ModelRequired, Invalid, "An endpoint is asked for a model that it does not have, that cannot do the work, or for none.", "Name one of those that it offers: `--model NAME`, or `model` in tidegate.toml."},
	{EndpointInvalid, Invalid, "An address is not that of an endpoint whose models can be asked.", "Correct the address, for example model:http://127.0.0.1:11434/v1; `tidegate agents check` asks it for one word."},

	{FileNotFound, NotFound, "A file or folder that the call names does not exist.", "Check the path or the id; the list of its kind, such as `tidegate run list` or `tidegate audit list`, shows what there is, and `tidegate run status` what a run still lacks."},
	{OutputNotFound, NotFound, "A selected perspective has no output file.", "Write the file, or leave the perspective out."},
	{PerspectiveNotFound, NotFound, "The perspective id is not in perspectives.json.", "Use an id that the file lists."},
	{JobNotFound, NotFound, "The run has no job of that id at its present stage.", "Use an id that `tidegate job list` shows."},

	{RevisionMismatch, Conflict, "The document changed since the caller read it.", "Read it again and repeat the change on the present revision."},
	{GateBlocked, Conflict, "A gate that the move needs has not passed, or what it judged has changed since.", "Meet the blockers; `tidegate run status` or `tidegate change status` shows what comes next."},
	{MissingArtifact, Conflict, "An artifact that the move needs does not exist.", "Produce the artifact; `tidegate run status` shows how."},
	{InvalidState, Conflict, "The run, the change or their documents are in a state in which the operation makes no sense.", "Look where it stands with `tidegate run status` or `tidegate change status`."},
	{StageMismatch, Conflict, "The run is not in the stage that the operation belongs to.", "Look at the run with `tidegate run status`."},
	{WaveCapExceeded, Conflict, "There are more perspectives than the run allows in one wave.", "Remove perspectives, or start a run with a higher limit."},
	{ReviewCapExceeded, Conflict, "The run has used all its review rounds.", "A person decides: `tidegate run resume --accept` or cancel the run."},
	{AlreadyExistsConflict, Conflict, "What is to be made is there already and is another: a run of this id with other arguments, or an entry of a client's configuration.", "Choose another id, or repeat the call with the same arguments; put the printed block into a client's file by hand."},
	{RequestedNextNotAllowed, Conflict, "The requested stage does not follow the present one.", "Request a stage that may follow, or none."},
	{LockHeld, Conflict, "Another process is changing the same run or change.", "Try again when it has finished."},
	{Disabled, Conflict, "The run is switched off in its manifest.", "Set the switch in the manifest to true."},
	{ContractFrozen, Conflict, "The perspectives of a run cannot change once its wave is planned.", "Start another run, or have a person replan: `tidegate perspectives write --replan`."},
	{Tampered, Conflict, "The record of a run or change does not match its files.", "Look at `tidegate run verify` or `tidegate change status`, and put back what was changed; a person accepts what is there in a run with `tidegate run accept`."},
	{JobNotOpen, Conflict, "The job is not open: somebody holds it, its answer was accepted, or its tries are used up.", "Take another job; `tidegate job list` shows which are open."},
	{LeaseLost, Conflict, "The lease of a job has ended, and what was handed in came too late or is another holder's affair.", "Lease the job again if it is open; the late answer was kept beside its attempt."},
	{BudgetExhausted, Conflict, "A limit of the run's budget is reached, so that no more jobs are given out.", "A person raises the limit: `tidegate run limit`, or `tidegate run continue` with a budget flag."},
	{NotConfined, Conflict, "Agents cannot be kept in a cell on this system, so none was started and nothing was spent.", "Use a Linux kernel with Landlock and seccomp; or let agents work with your rights, on your files, with --unconfined."},
	{SameHolder, Conflict, "Whoever wrote part of a report may neither read nor review it.", "Let another agent take the job, or have a person say --one-agent."},
	{RecordingDiffers, Conflict, "A recorded agent is asked something else than what was recorded.", "Ask the recorded question, name an agent that works (`tidegate agents`), or record the agents on this question."},
	{SearchUnavailable, Conflict, "No search service of the run answers, or it has none.", "Look at `tidegate doctor`; name another service with --search or in tidegate.toml, or work with the pages that you know."},

	{PathNotAllowed, Denied, "A path leaves the folders that the call may use.", "Use a path inside the run, or start the server with a --root that holds it."},
	{PathTraversal, Denied, "An id or path would leave its folder.", "Use an id without separators."},
	{WaveDirSymlink, Denied, "The folder of a wave is a symbolic link.", "Replace the link with a folder."},
	{NotAPerson, Denied, "The command was called below an agent, which may not decide, nor touch what judges it.", "Call it yourself, from a shell that no agent started; an agent can use a home inside its own folder."},
	{NotAuthenticated, Denied, "A call of the HTTP API brings no token that lets it in.", "Send the header `Authorization: Bearer TOKEN` with a token of `tidegate serve user add`."},

	{ReadFailed, Failed, "A file exists but cannot be read: a folder, a device, or no permission.", "Check the path and its permissions."},
	{WriteFailed, Failed, "A file cannot be written: no permission, no space, or a folder in its place.", "Check the path, its permissions and the free space; what was there before is untouched. Where agents drive a run, `tidegate run continue` then goes on with what was finished."},
	{Internal, Failed, "The program met a state that it did not expect.", "Report it with the call that led there."},

	{Cancelled, Stopped, "The call was interrupted; nothing was half-written.", "Repeat the call."},
}

// Explain finds the explanation of a code.
func Explain(code Code) (Explanation, bool) {
	for _, e := range Explanations {
		if e.Code == code {
			return e, true
		}
	}
	return Explanation{}, false
}

// ClassOf is the class of a code. A code that the table does not list belongs
// to [Failed].
func ClassOf(code Code) Class {
	if e, ok := Explain(code); ok {
		return e.Class
	}
	return Failed
}
