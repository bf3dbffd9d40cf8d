// Package driver is what agents are given and what they return: a task with its limits,
// an answer, events, and failures by their kind.
//
// The package knows no run and judges no answer. What an agent read on a page is
// not evidence: other packages fetch what an answer cites.
package driver

import (
	"cmp"
	"context"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Driver starts one agent on one task.
//
// Run calls event for what the agent does, from one goroutine, until it returns.
// An error is an [*Error], or that of ctx once ctx has ended; the answer beside it
// has no text, but the usage, cost, tool calls and version that are known.
// A Driver may be used by several goroutines.
type Driver interface {
	Run(ctx context.Context, task Task, event func(Event)) (Answer, error)
}

// Task is all that a driver is given, and all that crosses to another machine.
type Task struct {
	ID      string `json:"id"`               // see TaskID
	Run     string `json:"run_id,omitempty"` // or change that it is for
	Job     string `json:"job_id"`
	Kind    string `json:"kind"`
	Attempt int    `json:"attempt"` // counted from 1
	Turn    int    `json:"turn"`    // 1, or 2 for the repair of a refused answer
	Prompt  string `json:"prompt"`
	Role    string `json:"role"`
	Model   string `json:"model,omitempty"` // as the client names it; empty: the client's own choice
	Tools   Tools  `json:"tools"`
	Limits  Limits `json:"limits"`

	// Session continues the session of an earlier answer; empty: a fresh one.
	Session string `json:"session,omitempty"`
	// Folder is where the agent works, for a job that changes files. Empty: a
	// folder of the attempt's own, which is empty at first and does not outlive the
	// attempt.
	Folder string `json:"folder,omitempty"`
	// Contract is what the tools of the home judge the agent's text by, before it
	// answers: a document of perspectives with one in it. Empty: they judge nothing.
	Contract string `json:"contract,omitempty"`
	// Lease is what those tools need that work on the run. It stays at home.
	Lease Lease `json:"-"`
	// Tree is a folder that the agent may read and not write, for a job that is about
	// files: tree beside its folder leads there, and TIDEGATE_TREE names it. Empty, or
	// not on this machine: none.
	Tree string `json:"tree,omitempty"`
	// Home has the tools that the home answers itself; nil: none, as on another machine.
	Home *Home `json:"-"`
	// Repository is what git says of Folder; nil: nothing.
	Repository *Repository `json:"repository,omitempty"`
}

// Home is tools that the home of a task answers, for a driver that has no client.
type Home struct {
	Offers []Offer
	// Answer answers a call. What is wrong with the call is part of its text.
	Answer func(ctx context.Context, tool string, arguments map[string]string) (text string, err error)
}

// Offer is a tool whose arguments are texts, of which the first must not be empty unless
// it is optional.
type Offer struct {
	Name, About string
	Arguments   [][2]string // names, and what they are
	Optional    bool        // also the first argument may be empty
}

// Query is what an agent searches for.
type Query struct{ Text, Service, Language string }

// Lease is the run that a task belongs to, and the token by which its attempt is known
// there. The zero Lease is that of a task that came from another machine.
type Lease struct {
	Manifest string
	Token    string
}

// Repository is what an agent in a cell may know of the repository of its folder: it
// gets one of its own, with these objects.
type Repository struct {
	Objects string `json:"objects"` // the folder of the objects
	Format  string `json:"format"`  // of them: sha1 or sha256
	Head    string `json:"head"`    // the commit that the agent begins from
}

// TaskID is the id of a task: the same work has the same id, no matter who starts it,
// except in another copy of the run's folder.
func TaskID(copied, run, createdAt, job string, attempt, turn int, prompt string) string {
	return codec.Digest(struct {
		Copy      string `json:"copy_id,omitempty"`
		Run       string `json:"run_id"`
		CreatedAt string `json:"created_at"`
		Job       string `json:"job_id"`
		Attempt   int    `json:"attempt"`
		Turn      int    `json:"turn"`
		Prompt    string `json:"prompt"`
	}{copied, run, createdAt, job, attempt, turn, codec.DigestBytes([]byte(prompt))})
}

// Tools is what an agent may use. The agent does not get what it does not name,
// as far as the client can enforce that.
type Tools struct {
	Web bool `json:"web"` // search the web and open its pages
	// Frozen gives the searches and pages that the home has, and nothing of the web.
	Frozen bool     `json:"frozen,omitempty"`
	Write  bool     `json:"write"` // read and write files in the folder of the task, and run commands there
	MCP    []Server `json:"mcp,omitempty"`
	// Forbidden takes tools away again, by the names of Answer.ToolCalls or by the
	// client's own. What names no tool takes nothing away.
	Forbidden []string `json:"forbidden,omitempty"`
}

// Server is an MCP server that the agent's client starts and speaks to on stdio.
// [RelayArg] among its arguments makes it a relay to the tools of the home.
type Server struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Limits bound one task. Zero means no limit, except where a field says otherwise.
type Limits struct {
	Idle time.Duration `json:"idle_ns"` // without a line from the agent
	// Silence is for programs that have no lines: without a byte on their output or
	// their error stream. Zero: no limit.
	Silence  time.Duration `json:"silence_ns,omitempty"`
	Step     time.Duration `json:"step_ns"`              // without a message or a tool call, whatever else it writes
	Deadline time.Duration `json:"deadline_ns"`          // for the whole task
	Answer   int           `json:"answer_bytes"`         // zero: DefaultAnswer
	File     int64         `json:"file_bytes,omitempty"` // of each file that the agent writes

	Steps int `json:"steps,omitempty"` // messages and tool calls
	// ToolCalls is how often a tool may be called, by the names of
	// Answer.ToolCalls. A tool with no calls left is withheld; only the model
	// driver can keep to other numbers.
	ToolCalls map[string]int `json:"tool_calls,omitempty"`
}

// DefaultAnswer is how many bytes an answer may have where no limit is set.
const DefaultAnswer = 512 << 10

func (l Limits) MostAnswer() int {
	if l.Answer > 0 {
		return l.Answer
	}
	return DefaultAnswer
}

// ShownDeadline is the time for the whole task as people say it.
func (l Limits) ShownDeadline() time.Duration {
	return cmp.Or(l.Deadline.Round(time.Second), l.Deadline)
}

// Answer is what an agent wrote, and what that took.
type Answer struct {
	Text    string   `json:"text"`
	Usage   *Usage   `json:"usage,omitempty"`    // nil: the client reported none
	CostUSD *float64 `json:"cost_usd,omitempty"` // nil: the client reported none
	// Session, given as Task.Session, continues this session on the same machine.
	// Empty: the agent has none.
	Session string `json:"session,omitempty"`
	// ToolCalls counts what the agent called, as its events show it: SearchCalls,
	// FetchCalls, and every other tool by the client's own name.
	ToolCalls map[string]int `json:"tool_calls,omitempty"`
	Version   string         `json:"version,omitempty"` // of the client
	// Kept is how the agent was kept; nil: no program was started.
	Kept *Kept `json:"kept,omitempty"`
}

// Kept says how an agent was kept while it worked.
type Kept struct {
	Confined bool   `json:"confined"`
	System   string `json:"system"`
	ABI      int    `json:"abi"`
	Network  string `json:"network,omitempty"` // in the words of plans and reports
	// Elsewhere says that this is the word of another machine.
	Elsewhere bool `json:"-"`
}

// The names by which a contract's tool budget counts searches of the web and
// pages opened.
const (
	SearchCalls = "search_calls"
	FetchCalls  = "fetch_calls"
)

// Usage is what a model was given and what it wrote, in tokens. Input includes
// those that came out of a cache.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// Event is one thing that an agent did.
type Event struct {
	Kind EventKind `json:"kind"`
	Text string    `json:"text,omitempty"` // one line for a person
	Tool string    `json:"tool,omitempty"` // of a call, by the names of Answer.ToolCalls
	Raw  string    `json:"raw,omitempty"`  // the line that the client wrote
	// Passing says that the event is for a person who looks on, and not to be kept:
	// it comes again, among all events of the task, once the agent has answered.
	Passing bool `json:"-"`
}

// EventKind says what an event is about.
type EventKind string

// The kinds of events. Message and ToolCall are steps: the agent got somewhere.
const (
	Started  EventKind = "started" // the client is at work
	Message  EventKind = "message" // it wrote a text, or a part of one
	ToolCall EventKind = "tool"    // it called a tool
	Warning  EventKind = "warning" // something that a person should read
	Other    EventKind = "other"   // anything else that the client wrote
	Waiting  EventKind = "waiting" // no machine has begun the task yet, or again; only a pool says so
)

func (k EventKind) Step() bool { return k == Message || k == ToolCall }

// IsModel reports whether a text can be the name of a model. It may come from a run's
// folder, and ends up among the arguments of a client, where it may be no flag and lead
// nowhere else.
func IsModel(name string) bool { return modelName().MatchString(name) }

var modelName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`) })

// Settings say which driver to use, and what a person allows it beyond what every
// driver gets.
type Settings struct {
	// Driver is claude, codex, opencode, gemini, api:SERVICE, model:URL,
	// exec:COMMAND, acp:COMMAND or recorded:DIR.
	Driver string
	// Model is the one that tasks will ask for; empty: the agent's own choice. An
	// endpoint is asked beforehand whether it has it.
	Model string
	// URL is where the service of api:SERVICE is; empty: where a variable says, else
	// its own address.
	URL string
	// Env names further variables of the person's environment that the agent
	// gets. A name that ends in * stands for all that begin with it.
	Env []string
	// KeyEnv names the variable that holds the key of an endpoint; empty: the usual
	// one of a service, and TIDEGATE_MODEL_KEY for model:URL, where it is set.
	KeyEnv string
	// Priced says that the person has given the tokens a price, so that the driver
	// reports no cost.
	Priced bool
	Access
}

// Host is what drivers take from the machine that they run on.
type Host struct {
	Now     func() time.Time // for limits; nil: time.Now
	Environ []string         // the person's environment, of which agents get a part; nil: os.Environ()
	Temp    string           // where attempts have their folders; empty: os.TempDir()

	// What the model driver's tools use. Open returns the text of a page and
	// decides whether it may be opened; nil: there is no such tool.
	Open func(ctx context.Context, task Task, url string) (string, error)
	// Search searches for the holder of the task's lease, and returns what was found as
	// text; nil, or no lease: there is no such tool.
	Search func(ctx context.Context, task Task, q Query) (string, error)

	// Tools answers an agent that speaks MCP to the home that gave it the task; nil:
	// the home has nothing to say. It ends with ctx, or with what agent says. Leaks
	// reports whether a text has a token or key in it that the agent works with.
	Tools func(ctx context.Context, task Task, agent io.ReadWriter, leaks func(text string) bool)

	Cells
}

// Filled is the host with what is left to it.
func (h Host) Filled() Host {
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Environ == nil {
		h.Environ = os.Environ()
	}
	if h.Temp == "" {
		h.Temp = os.TempDir()
	}
	return h
}

func Invalid(settings Settings, format string, args ...any) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("driver", tidegate.Cut(settings.Driver)), format, args...)
}

// Cells says how a host keeps agents in cells. The zero value confines them by what
// the machine has.
type Cells struct {
	Unconfined bool             // agents work with the person's rights, on the person's files: a person's decision
	Forbidden  []cell.Forbidden // what no agent may reach: the home, the person's keys and configuration
	System     cell.System      // what cells are made of; zero: what this machine has
}

// Access is what a person gives the agents of a role beyond what every cell holds.
type Access struct {
	Read    []string // files and folders, absolute
	Write   []string // folders, absolute
	Network cell.Network
	// ModelAddress is the model on this machine, as IP:PORT, that is all of the network of a
	// program that no driver knows; empty: none.
	ModelAddress string
}

// checker is a driver that can say, before the first task and at no cost,
// whether its agent can be asked.
type checker interface {
	Check(ctx context.Context) (version string, err error)
}

// Check says whether the agent of d can be asked, before the first task and at
// no cost, and which version it is where it has one. An error is an [*Error], with
// what helps: [Unavailable] for a client that is not installed or too old, [Auth]
// for one that is not logged in. NOT_CONFINED and INVALID_ARGS are for an agent that
// cannot be kept in a cell, or not in the one that a person wants. What only a model
// can say shows with the first task.
func Check(ctx context.Context, d Driver) (version string, err error) {
	if c, ok := d.(checker); ok {
		return c.Check(ctx)
	}
	return "", nil // a driver from outside this package
}

// keeper is a driver that keeps folders for repairs.
type keeper interface{ Forget(session string) }

// Forget removes the folder that d keeps because the answer with this session may
// be repaired; with an empty session, all that it keeps.
func Forget(d Driver, session string) {
	if k, ok := d.(keeper); ok {
		k.Forget(session)
	}
}

// ToolCalls counts the calls of tools by name. Clients show one call in several
// events, with the same id.
type ToolCalls struct {
	Counts map[string]int
	seen   map[string]bool
}

// relayedSearch is the search that a home lends its agents.
const relayedSearch = "deep_research_search"

// Count counts the call with that id, unless it was counted before, and returns
// the name. Every call without an id counts.
func (c *ToolCalls) Count(id, name string) string {
	id, name = Brief(id), Brief(name)
	if strings.HasSuffix(name, relayedSearch) { // clients put the server's name before it
		name = SearchCalls
	}
	if c.Counts[name] == 0 && len(c.Counts) >= maxTools {
		name = "other"
	}
	if id != "" && c.seen[id] {
		return name
	}
	if c.Counts == nil {
		c.Counts, c.seen = map[string]int{}, map[string]bool{}
	}
	c.seen[id] = id != ""
	c.Counts[name]++
	return name
}

// Bounds, because a client may say anything about itself and its tools.
const (
	maxTools = 100 // different names that are counted
	MaxName  = 200 // bytes of a name, a version or the id of a session
)

// Brief is a name from a client as it is kept.
func Brief(name string) string {
	if len(name) <= MaxName {
		return name
	}
	return strings.ToValidUTF8(name[:MaxName], "")
}

// MayUse reports whether nothing takes a tool away from a task: the tool that its
// client calls own and that is counted as counted.
func (t Task) MayUse(counted, own string) bool {
	if left, bounded := t.Limits.ToolCalls[counted]; bounded && left <= 0 {
		return false
	}
	return !slices.ContainsFunc(t.Tools.Forbidden, func(name string) bool {
		name = strings.ToLower(strings.TrimSpace(name))
		return name == strings.ToLower(own) || name == counted || otherNames[name] == counted
	})
}

// MaySearch reports whether the agent may search, by whatever tool.
func (t Task) MaySearch() bool { return (t.Tools.Web || t.Tools.Frozen) && t.MayUse(SearchCalls, "") }

// otherNames are other names that people use for the tools of the web.
var otherNames = map[string]string{
	"search": SearchCalls, "web_search": SearchCalls, "websearch": SearchCalls, "web search": SearchCalls,
	"fetch": FetchCalls, "open": FetchCalls, "web_fetch": FetchCalls, "webfetch": FetchCalls, "web fetch": FetchCalls,
}
