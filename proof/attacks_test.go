package proof_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/tool"
)

// The attacks: what an agent with the tools and bad intentions tries. Each row is
// named after what the attacker wants. One row of each table is carried out over MCP and
// with `tidegate call`, with the built program; with -full, every row.

// attack is one of them.
type attack struct {
	wants string
	gap   string // the gap that the run's outputs state
	at    string // how far an obedient agent has taken the run, "" for no run at all
	given func(t *testing.T, v victim)
	tries []try
	holds func(t *testing.T, v victim) // besides what always holds
	// laundering says that the files were tampered with beforehand, so that the run
	// verifies neither before nor after.
	laundering bool
}

// try is one call of the attacker and the code of its answer, "" when the call is
// granted, which does not mean that the attack succeeded.
type try struct {
	tool, args string
	code       tidegate.Code
}

// victim is the run under attack, and the id of the change under attack.
type victim struct {
	folder
	change string
}

// fill puts what the attacker knows into arguments.
func (v victim) fill(args string) string {
	for job, leased := range v.leases {
		token := leased.Get("token").Str()
		secret, _, _ := strings.Cut(token, "/")
		args = strings.NewReplacer("$TOKEN:"+job+":", token, "$SECRET:"+job+":", secret).Replace(args)
	}
	return strings.NewReplacer("$RUN", v.root, "$DIR", v.dir, "$ID", v.id, "$CHANGE", v.change,
		"$NOW", tidegate.Stamp(time.Now()), "$CONTRACTS", asJSON(contracts(v.id, 60)), "$RELAXED", asJSON(contracts(v.id, 100_000))).Replace(args)
}

func asJSON(v any) string {
	text, err := codec.MarshalLine(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// besiege carries out attacks in an office with bystanders: files that belong to
// other programs, another run and another change. The short form carries out the first
// over MCP and by a command, and the others in this process.
func besiege(t *testing.T, attacks []attack) {
	o := newOffice(t)
	plantBystanders(t, o)
	session := startServer(t, o.dir)
	ways := map[string]func(t *testing.T, name, args string) *codec.Value{
		"mcp": func(t *testing.T, name, args string) *codec.Value {
			out, err := overMCP(t.Context(), session, name, args)
			if err != nil {
				return codec.Of(tidegate.Pairs("ok", false, "error", tidegate.Pairs("code", tidegate.InvalidArgs, "message", err.Error())))
			}
			return parsed(t, out)
		},
		"call": func(t *testing.T, name, args string) *codec.Value { return byCommand(t, o.dir, name, args) },
		"here": o.asCalled,
	}
	for i, a := range attacks {
		by := []string{"mcp", "call"}
		if i%full.Stride(len(attacks), 1) > 0 {
			by = []string{"here"}
		}
		for _, way := range by {
			t.Run(a.wants+"/"+way, func(t *testing.T) {
				name := fmt.Sprintf("%s%03d", way, i)
				v := victim{o.run("tides").at(o.run(name).root), name}
				if a.at != "" {
					v.folder = o.copied(t, name, a.gap, a.at)
				}
				a.carryOut(t, v, ways[way])
			})
		}
	}
}

// asCalled is a call of an agent with the raw bytes of its arguments.
func (o *office) asCalled(t *testing.T, name, args string) *codec.Value {
	t.Helper()
	if o.tools[name] == nil {
		return codec.Of(tidegate.Pairs("ok", false, "error", tidegate.Pairs("code", tidegate.InvalidArgs, "message", "there is no such tool")))
	}
	return parsed(t, o.tools[name].Call(t.Context(), []byte(args), tool.Caller{}).Envelope)
}

func (a attack) carryOut(t *testing.T, v victim, call func(t *testing.T, name, args string) *codec.Value) {
	if a.given != nil {
		a.given(t, v)
	}
	before, around := oathOf(t, v), bystanders(t, v)
	for _, try := range a.tries {
		answer := call(t, try.tool, v.fill(try.args))
		if code := codeOf(answer); code != try.code {
			t.Errorf("%s answered %q, want %q: %s", try.tool, code, try.code, answer.Get("error").Get("message").Str())
		}
	}
	before.check(t, v)
	if diff := differs(around, bystanders(t, v)); diff != "" {
		t.Errorf("what is not the run's own has changed: %s", diff)
	}
	if a.at != "" {
		if pass, findings := v.verify(t); pass == a.laundering {
			t.Errorf("`run verify` says pass %v:\n%s", pass, findings)
		}
	}
	if a.holds != nil {
		a.holds(t, v)
	}
}

// startServer starts the program as an MCP server without any confinement.
func startServer(t *testing.T, dir string) *mcp.ClientSession {
	t.Helper()
	command := exec.Command(binary, "mcp", "--toolsets", "all", "--project", dir)
	command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+dir), dir
	session := must.Get(mcp.NewClient(&mcp.Implementation{Name: "attacker", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil))(t)
	t.Cleanup(func() { session.Close() })
	return session
}

// byCommand is `tidegate call` in a process of its own. A name with spaces is
// another command line.
func byCommand(t *testing.T, dir, name, args string) *codec.Value {
	t.Helper()
	words := strings.Fields(name)
	if len(words) == 1 {
		words = []string{"call", name, "--project", dir}
	}
	command := exec.Command(binary, words...)
	command.Env, command.Dir = append(os.Environ(), "TIDEGATE_HOME="+dir), dir
	command.Stdin = strings.NewReader(args)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if len(out) == 0 {
		t.Fatalf("%s: %v\n%s", name, err, errs.String())
	}
	return parsed(t, out)
}

// plantBystanders puts into the office what no attack may touch.
func plantBystanders(t *testing.T, o *office) {
	t.Helper()
	for name, text := range map[string]string{
		".mcp.json":                  `{"mcpServers":{}}` + "\n",
		".client/settings.json":      `{"permissions":{"allow":[]}}` + "\n",
		"package-perspectives.json":  `{"name":"not perspectives"}` + "\n",
		"drafts/relaxed.json":        `{}` + "\n",
		"drafts/good/moon.md":        output("moon", ""),
		"drafts/good/sun.md":         output("sun", ""),
		"agentd/changes/other/.keep": "",
	} {
		folder{o, "", o.dir}.write(t, name, text)
	}
	for _, c := range []struct {
		tool string
		args tidegate.Details
	}{
		{"change_start", tidegate.Pairs("change_id", "other")},
		{"create_review", tidegate.Pairs("change_id", "other", "verdict", "MAJOR_ISSUES", "summary", "It loses data.",
			"issues", []tidegate.Details{tidegate.Pairs("title", "Loses data", "severity", "High", "category", "Bug", "description", "d")})},
	} {
		if answer := o.call(t, c.tool, c.args); codeOf(answer) != "" {
			t.Fatalf("%s: %s", c.tool, answer.Get("error").Get("message").Str())
		}
	}
	o.run("other").climb(t, withGap, "in pivot")
}

// bystanders are the files of the office that no attack is about, with their bytes:
// all but the run and change of this victim and of the others.
func bystanders(t *testing.T, v victim) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(v.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(v.dir, path)
		dir := filepath.Base(filepath.Dir(path))
		switch {
		case entry.IsDir() && (dir == "runs" || dir == "changes") && entry.Name() != "other":
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		found[name] = string(data)
		return err
	}))
	return found
}

func differs(was, is map[string]string) string {
	for name, text := range was {
		if now, ok := is[name]; !ok {
			return name + " is gone"
		} else if now != text {
			return name + " was\n" + text + "\nand is\n" + now
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			return name + " was made"
		}
	}
	return ""
}

// bad replaces an output of the victim with one that breaks its contract.
func bad(t *testing.T, v victim) { v.write(t, "wave-1/moon.md", "## Findings\n\nNothing.\n") }

func gateIs(t *testing.T, v victim, gate, status string) {
	t.Helper()
	if got := v.json(t, "gates.json").Get("gates").Get(gate).Get("status").Str(); got != status {
		t.Errorf("gate %s is %s, want %s", gate, got, status)
	}
}

// hasNotPassed holds where a gate was not judged, or was found wanting.
func hasNotPassed(t *testing.T, v victim, gate string) {
	t.Helper()
	if got := v.json(t, "gates.json").Get("gates").Get(gate).Get("status").Str(); got == "pass" {
		t.Errorf("gate %s has passed", gate)
	}
}

// Arguments that most attacks have in common.
const (
	manifestOf = `"manifest_path":"$RUN/manifest.json"`
	gatesOf    = `"gates_path":"$RUN/gates.json"`
	because    = `"reason":"r"`
	resume     = `{` + manifestOf + `,` + gatesOf + `,` + because + `}`
)
