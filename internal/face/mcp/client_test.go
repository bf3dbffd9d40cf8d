package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
)

var server = mcp.Entry{Name: "tidegate", Command: "/opt/tide gate/tidegate", Args: []string{"mcp", "--root", "/home/ann/it's <here>"}}

func client(t *testing.T, name string) mcp.Client {
	t.Helper()
	c, ok := mcp.FindClient(name)
	if !ok {
		t.Fatalf("there is no client %s", name)
	}
	return c
}

// TestBlocks keeps under review what is printed for each client.
func TestBlocks(t *testing.T) {
	for _, c := range mcp.Clients {
		got := "# " + c.Title + ": " + filepath.ToSlash(c.File("PROJECT", "HOME")) + "\n" + c.Block(server) + "# or\n" + c.Add(server) + "\n"
		golden.Check(t, "testdata/clients/"+c.Name+".txt", []byte(got))
	}
	if len(mcp.ClientNames()) != 6 {
		t.Errorf("known are %v", mcp.ClientNames())
	}
}

// TestFoldersThatATeamCanShare is how each client's file names folders in the
// project and elsewhere.
func TestFoldersThatATeamCanShare(t *testing.T) {
	project := filepath.FromSlash("/home/ann/project")
	for name, want := range map[string][]string{
		"claude-code": {".", "./data/texts"},
		"codex":       {project, filepath.Join(project, "data", "texts")}, // its file is not the project's
		"opencode":    {".", "./data/texts"},
		"gemini":      {".", "./data/texts"},
		"cursor":      {"${workspaceFolder}", "${workspaceFolder}/data/texts"},
		"vscode":      {"${workspaceFolder}", "${workspaceFolder}/data/texts"},
	} {
		c := client(t, name)
		outside := filepath.FromSlash("/home/ann/project2")
		got := []string{c.Folder(project, project), c.Folder(project, filepath.Join(project, "data", "texts")), c.Folder(project, outside), c.Folder(project, filepath.Dir(project))}
		if diff := cmp.Diff(append(want, outside, filepath.Dir(project)), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBlocksOfJSONClientsAreJSON(t *testing.T) {
	for _, c := range mcp.Clients {
		if c.Name != "codex" && !json.Valid([]byte(c.Block(server))) {
			t.Errorf("%s:\n%s", c.Name, c.Block(server))
		}
	}
}

func TestCursorLinkCarriesTheEntry(t *testing.T) {
	link := must.Get(url.Parse(strings.Trim(strings.TrimPrefix(client(t, "cursor").Add(server), "open "), "'")))(t)
	config := must.Get(base64.StdEncoding.DecodeString(link.Query().Get("config")))(t)
	var entry struct {
		Command string
		Args    []string
	}
	if err := json.Unmarshal(config, &entry); err != nil || entry.Command != server.Command || len(entry.Args) != 3 {
		t.Errorf("got %+v %v", entry, err)
	}
}

func TestMergeIntoJSON(t *testing.T) {
	simple := mcp.Entry{Name: "tidegate", Command: "tidegate", Args: []string{"mcp"}}
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "{\n  \"mcpServers\": {\n    \"tidegate\": {\n      \"command\": \"tidegate\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"},
		{"empty object", "{}", "{\n  \"mcpServers\": {\n    \"tidegate\": {\n      \"command\": \"tidegate\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}"},
		{"empty object over lines", "{\n}\n", "{\n  \"mcpServers\": {\n    \"tidegate\": {\n      \"command\": \"tidegate\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"},
		{
			"other settings, four blanks", "{\n    \"theme\": \"dark\",\n    \"n\": 1.50e1\n}\n",
			"{\n    \"theme\": \"dark\",\n    \"n\": 1.50e1,\n    \"mcpServers\": {\n        \"tidegate\": {\n            \"command\": \"tidegate\",\n            \"args\": [\n                \"mcp\"\n            ]\n        }\n    }\n}\n",
		},
		{
			"other servers, tabs", "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\":\"x\"}\n\t},\n\t\"z\": [ ]\n}",
			"{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\":\"x\"},\n\t\t\"tidegate\": {\n\t\t\t\"command\": \"tidegate\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t}\n\t},\n\t\"z\": [ ]\n}",
		},
		{
			"empty section", "{\n  \"mcpServers\": {}\n}\n",
			"{\n  \"mcpServers\": {\n    \"tidegate\": {\n      \"command\": \"tidegate\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n",
		},
		{
			"on one line", `{"a": "{\"", "mcpServers": {"x": {}}}`,
			`{"a": "{\"", "mcpServers": {"x": {}, "tidegate": {"command":"tidegate","args":["mcp"]}}}`,
		},
		{
			"line ends of Windows", "{\r\n  \"a\": 1\r\n}\r\n",
			"{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"tidegate\": {\r\n      \"command\": \"tidegate\",\r\n      \"args\": [\r\n        \"mcp\"\r\n      ]\r\n    }\r\n  }\r\n}\r\n",
		},
		{
			"byte-order mark", "\ufeff{\"a\":1}", "\ufeff{\"a\":1, \"mcpServers\": {\"tidegate\":{\"command\":\"tidegate\",\"args\":[\"mcp\"]}}}",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, changed, err := client(t, "gemini").Merge([]byte(tt.before), simple)
			if err != nil || !changed {
				t.Fatalf("changed %v, %v", changed, err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again, changed, err := client(t, "gemini").Merge(got, simple)
			if err != nil || changed || string(again) != string(got) {
				t.Errorf("a second time: changed %v, %v\n%s", changed, err, again)
			}
		})
	}
}

func TestMergeRefusesWhatItCannotKeep(t *testing.T) {
	for _, tt := range []struct{ name, client, before, reason string }{
		{"comments", "vscode", "{\n  // mine\n  \"servers\": {}\n}", "comments cannot be kept"},
		{"trailing comma", "vscode", `{"servers": {},}`, "not plain JSON"},
		{"cut short", "vscode", `{"servers": {`, "not plain JSON"},
		{"goes on", "vscode", `{} {}`, "continues after"},
		{"list", "vscode", `[]`, "not a JSON object"},
		{"section of another type", "vscode", `{"servers": []}`, "not an object"},
		{"key twice", "vscode", `{"servers": {}, "servers": {}}`, "given twice"},
		{"another entry", "vscode", `{"servers": {"tidegate": {"url": "http://127.0.0.1:1/mcp"}}}`, "another entry"},
		{"not text", "vscode", "\xff\xfe{}", "not UTF-8"},
		{"another table", "codex", "[mcp_servers.tidegate]\nurl = \"x\"\n", "another entry"},
		{"quoted table", "codex", "[ mcp_servers . \"tidegate\" ]\ncommand = \"x\"\n", "another entry"},
		{"key in the section", "codex", "[mcp_servers]\ntidegate = {command = \"x\"}\n", "another entry"},
		{"dotted key in the section", "codex", "[mcp_servers]\ntidegate.command = \"x\"\n", "another entry"},
		{"table below it", "codex", "[mcp_servers.tidegate.env]\nA = \"x\"\n", "another entry"},
		{"section as a value", "codex", "mcp_servers = {}\n", "not written as tables"},
		{"section as dotted keys", "codex", "mcp_servers.x.command = \"x\"\n", "not written as tables"},
		{"section as a list", "codex", "[[mcp_servers]]\na = 1\n", "not written as tables"},
		{"open string", "codex", "a = \"\"\"\nmore\n", "not TOML"},
		{"open array", "codex", "a = [1,\n", "not TOML"},
		{"escaped key", "codex", "[mcp_servers.\"\\u0074idegate\"]\n", "another entry"},
		{"no TOML", "codex", "{\"a\": 1}\n", "not TOML"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := client(t, tt.client).Merge([]byte(tt.before), server)
			if err == nil || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("got %v, want %q\n%s", err, tt.reason, got)
			}
		})
	}
}

func TestMergeAppendsATable(t *testing.T) {
	table := client(t, "codex").Block(server)
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", table},
		{"settings and a comment that names it", "# tidegate\nmodel = \"o\" # [mcp_servers.tidegate]\n", "# tidegate\nmodel = \"o\" # [mcp_servers.tidegate]\n\n" + table},
		{"no line end at the end", "model = 'o'", "model = 'o'\n\n" + table},
		{"other servers", "[mcp_servers.x]\ncommand = \"x\"\nargs = [\n  \"[mcp_servers.tidegate]\", # one\n  'two',\n]\n", "[mcp_servers.x]\ncommand = \"x\"\nargs = [\n  \"[mcp_servers.tidegate]\", # one\n  'two',\n]\n\n" + table},
		{"trusted folder of that name", "[projects.\"/home/ann/tidegate\"]\ntrust_level = \"trusted\"\n", "[projects.\"/home/ann/tidegate\"]\ntrust_level = \"trusted\"\n\n" + table},
		{"long strings", "a = \"\"\"\n[mcp_servers.tidegate]\n\\\"\"\"\"\"\"\nb = '''\n[[x]]'''\n", "a = \"\"\"\n[mcp_servers.tidegate]\n\\\"\"\"\"\"\"\nb = '''\n[[x]]'''\n\n" + table},
		{"line ends of Windows", "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n")},
		{"same name elsewhere", "[other.tidegate]\na = 1\n[mcp_serversx.tidegate]\n", "[other.tidegate]\na = 1\n[mcp_serversx.tidegate]\n\n" + table},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, changed, err := client(t, "codex").Merge([]byte(tt.before), server)
			if err != nil || !changed {
				t.Fatalf("changed %v, %v", changed, err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			more := append(got, "[after]\nb = 2\n"...)
			again, changed, err := client(t, "codex").Merge(more, server)
			if err != nil || changed || string(again) != string(more) {
				t.Errorf("a second time: changed %v, %v\n%s", changed, err, again)
			}
		})
	}
}

// FuzzMerge checks the promise of every merge: all old bytes in their order, the
// same settings as before, and no change the second time.
func FuzzMerge(f *testing.F) {
	for _, seed := range []string{"{}", `{"mcpServers":{"a":{}},"b":[1,"}"]}`, "{\n\t\"x\": 1\n}\n", "a = 1\n[mcp_servers.x]\n", "a = '''\n'''", "[a.\"b\"]\n", "a=\"\\"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, before []byte) {
		for _, c := range mcp.Clients {
			after, changed, err := c.Merge(before, server)
			if err != nil || !changed || len(strings.TrimSpace(string(before))) == 0 {
				continue
			}
			at := 0
			for at < len(before) && before[at] == after[at] {
				at++
			}
			if rest := string(before[at:]); !strings.HasSuffix(string(after), rest) {
				t.Fatalf("%s: old bytes are gone\n%q\n%q", c.Name, before, after)
			}
			if _, changed, err := c.Merge(after, server); err != nil || changed {
				t.Fatalf("%s: not the same the second time: %v\n%q", c.Name, err, after)
			}
			if c.Name != "codex" && !json.Valid([]byte(strings.TrimPrefix(string(after), "\ufeff"))) {
				t.Fatalf("%s: no JSON any more: %q", c.Name, after)
			}
		}
	})
}
