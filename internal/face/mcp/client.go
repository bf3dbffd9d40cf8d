package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Entry is an MCP server in the configuration of a client, which starts it and speaks
// to it on stdio.
type Entry struct {
	Name    string
	Command string
	Args    []string
}

// Client is an agent client: where it keeps its configuration, what an entry looks
// like there, and its own command for adding one. Texts become texts; no file is
// touched.
type Client struct {
	Name  string // as typed: claude-code
	Title string // as its makers write it
	file  string // of the configuration, with slashes, in the project or the user's home
	user  bool   // the file is in the user's home
	// here is how the file names its own folder, so that a team can share it: a
	// variable of the client, or "." where the client starts servers in that
	// folder. It is "" where only an absolute path works.
	here  string
	forms []string
	// skills is the folder in which the client looks for skills, with slashes, from the
	// folder of its file on; "" where no client of this kind could be tried.
	skills string
	// section is the path of the object, or table, that holds the servers.
	section string
	toml    bool
	entry   func(Entry) tidegate.Details
	top     tidegate.Details // what a fresh file has besides the section
	add     func(Entry) string
}

func plain(s Entry) tidegate.Details { return tidegate.Pairs("command", s.Command, "args", s.Args) }
func stdio(s Entry) tidegate.Details { return append(tidegate.Pairs("type", "stdio"), plain(s)...) }

// Clients lists the clients that are known.
var Clients = []Client{
	{
		Name: "claude-code", Title: "Claude Code", file: ".mcp.json", here: ".", skills: ".claude/skills", section: "mcpServers", entry: stdio,
		add: func(s Entry) string {
			return words(append([]string{"claude", "mcp", "add", "--scope", "project", s.Name, "--", s.Command}, s.Args...))
		},
	},
	{
		Name: "codex", Title: "Codex", file: ".codex/config.toml", user: true, skills: "skills", section: "mcp_servers", toml: true,
		add: func(s Entry) string {
			return words(append([]string{"codex", "mcp", "add", s.Name, "--", s.Command}, s.Args...))
		},
	},
	{
		Name: "opencode", Title: "opencode", file: "opencode.json", forms: []string{"opencode.jsonc"}, here: ".", skills: ".opencode/skills", section: "mcp",
		entry: func(s Entry) tidegate.Details {
			return tidegate.Pairs("type", "local", "command", append([]string{s.Command}, s.Args...), "enabled", true)
		},
		top: tidegate.Pairs("$schema", "https://opencode.ai/config.json"),
		add: func(Entry) string { return "opencode mcp add" },
	},
	{
		Name: "gemini", Title: "Gemini CLI", file: ".gemini/settings.json", here: ".", skills: "skills", section: "mcpServers", entry: plain,
		add: func(s Entry) string {
			// Options after -- are the server's own.
			at := slices.IndexFunc(s.Args, func(a string) bool { return strings.HasPrefix(a, "-") })
			if at < 0 {
				at = len(s.Args)
			}
			line := append([]string{"gemini", "mcp", "add", "--scope", "project", s.Name, s.Command}, s.Args[:at]...)
			return words(append(append(line, "--"), s.Args[at:]...))
		},
	},
	{
		Name: "cursor", Title: "Cursor", file: ".cursor/mcp.json", here: "${workspaceFolder}", skills: "skills", section: "mcpServers", entry: plain,
		add: func(s Entry) string {
			query := url.Values{"name": {s.Name}, "config": {base64.StdEncoding.EncodeToString(compact(plain(s)))}}
			return words([]string{"open", "cursor://anysphere.cursor-deeplink/mcp/install?" + query.Encode()})
		},
	},
	{
		Name: "vscode", Title: "VS Code", file: ".vscode/mcp.json", here: "${workspaceFolder}", section: "servers", entry: stdio,
		add: func(s Entry) string {
			return words([]string{"code", "--add-mcp", string(compact(append(tidegate.Pairs("name", s.Name), plain(s)...)))})
		},
	},
}

// ClientNames lists the names of [Clients].
func ClientNames() []string {
	names := make([]string, len(Clients))
	for i, c := range Clients {
		names[i] = c.Name
	}
	return names
}

// FindClient is the client of that name.
func FindClient(name string) (Client, bool) {
	i := slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return Clients[i], true
}

// File is where the client keeps its configuration: in the project folder, or
// in the user's home.
func (c Client) File(project, home string) string {
	folder := project
	if c.user {
		folder = home
	}
	return filepath.Join(folder, filepath.FromSlash(c.file))
}

// User reports whether the file belongs to the user, not to a project.
func (c Client) User() bool { return c.user }

// Skills is the folder of the client's skills, by where its file is. It is "" where the
// client is not known to have one.
func (c Client) Skills(file string) string {
	if c.skills == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(c.skills))
}

// Folder is a folder as the client's project file names it: relative to the project
// where the client allows that and the folder lies in it, otherwise as it is.
func (c Client) Folder(project, folder string) string {
	name, inside := artifact.Inside(project, folder)
	switch {
	case c.here == "" || !inside:
		return folder
	case name == ".":
		return c.here
	}
	return c.here + "/" + name
}

// OtherForms are files that the client reads besides [Client.File] and that may
// have comments. Where one of them exists, it is the one that people use.
func (c Client) OtherForms(project string) []string {
	var paths []string
	for _, name := range c.forms {
		paths = append(paths, filepath.Join(project, name))
	}
	return paths
}

// Block is a configuration that has the server and nothing else.
func (c Client) Block(s Entry) string {
	if c.toml {
		return table(c.section, s)
	}
	block := append(slices.Clone(c.top), tidegate.Pairs(c.section, tidegate.Pairs(s.Name, c.entry(s)))...)
	return string(indented(block, "", "  ")) + "\n"
}

// Add is the client's own way of adding the server: a command line, or a link.
func (c Client) Add(s Entry) string { return c.add(s) }

// compact is v as JSON, which works for everything that is written here.
func compact(v any) []byte {
	data, err := codec.MarshalLine(v)
	if err != nil {
		panic("clients: " + err.Error())
	}
	return data
}

func indented(v any, prefix, indent string) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, compact(v), prefix, indent); err != nil {
		panic("clients: " + err.Error())
	}
	return out.Bytes()
}

// words is a command line for a POSIX shell.
func words(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = report.ShellWord(arg)
	}
	return strings.Join(quoted, " ")
}
