package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
)

// holder takes jobs, by any face.
type holder func(name, args string) *codec.Value

// TestSixteenHoldersNeverHoldOneJobTogether has eight agents over MCP and eight
// on the command line take the jobs of one run, and hand each in. No job has two
// holders, and an answer with a token that is not the holder's changes nothing. Each
// server is a process, and with -full each command line, too. The short form has three of
// each.
func TestSixteenHoldersNeverHoldOneJobTogether(t *testing.T) {
	t.Parallel()
	jobs, each := 6, 3
	if full.Asked() {
		jobs, each = 24, 8
	}
	home := t.TempDir()
	env := []string{"TIDEGATE_HOME=" + home}
	call := func(name, args string) *codec.Value {
		words := []string{"call", name, "--args", args}
		var out string
		if full.Asked() {
			command := exec.Command("tidegate", words...)
			command.Dir, command.Env = home, append(os.Environ(), env...)
			printed, _ := command.Output()
			out = string(printed)
		} else {
			out, _ = typedIn(t.Context(), home, map[string]string{"TIDEGATE_HOME": home}, words...)
		}
		answer, err := codec.Parse([]byte(out))
		if err != nil {
			t.Errorf("%s: %v, %s", name, err, out)
		}
		return answer
	}
	var list []string
	for i := range jobs {
		list = append(list, fmt.Sprintf(`{"id":"p%d","title":"T","track":"standard","agent_type":"researcher","prompt_contract":{"max_words":200,"max_sources":3,"tool_budget":{},"must_include_sections":["Findings","Gaps","Sources"]}}`, i))
	}
	call("deep_research_run_init", fmt.Sprintf(`{"query":"Why?","run_id":"tugs","sensitivity":"no_web","limits":{"max_wave1_agents":%d}}`, jobs))
	call("deep_research_perspectives_write", `{"run":"tugs","reason":"r","value":{"schema_version":"perspectives.v1","run_id":"tugs","created_at":"2026-03-04T00:00:00Z","perspectives":[`+strings.Join(list, ",")+`]}}`)
	call("deep_research_run_step", `{"run":"tugs"}`)

	holders := []holder{}
	for range each {
		session := connectIn(t, home, env)
		holders = append(holders, call, func(name, args string) *codec.Value {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
			if err != nil {
				t.Error(err)
				return nil
			}
			answer, err := codec.Parse([]byte(result.Content[0].(*mcp.TextContent).Text))
			if err != nil {
				t.Error(err)
			}
			return answer
		})
	}
	var mu sync.Mutex
	held := map[string]int{}
	var group sync.WaitGroup
	for i, h := range holders {
		group.Go(func() {
			for {
				leased := h("deep_research_job_lease", fmt.Sprintf(`{"run":"tugs","holder":"holder %d"}`, i)).Get("job")
				id := leased.Get("job_id").Str()
				if id == "" {
					return
				}
				mu.Lock()
				held[id]++
				mu.Unlock()
				answer := fmt.Sprintf("## Findings\n\nBy holder %d.\n\n## Gaps\n\n## Sources\n\n- Port https://example.org/port\n", i)
				stolen := "0123456789abcdef0123456789abcdef/1/" + id
				if code := h("deep_research_job_submit", fmt.Sprintf(`{"run":"tugs","token":%q,"answer":"stolen"}`, stolen)).Get("error").Get("code").Str(); code != "LEASE_LOST" {
					t.Errorf("a token that nobody has gives %q", code)
				}
				if verdict := h("deep_research_job_submit", fmt.Sprintf(`{"run":"tugs","token":%q,"answer":%q}`, leased.Get("token").Str(), answer)); !verdict.Get("accepted").Bool() {
					t.Errorf("%s is refused: %v", id, verdict.Get("error").Get("message").Str())
				}
				if code := h("deep_research_job_submit", fmt.Sprintf(`{"run":"tugs","token":%q,"answer":"late"}`, leased.Get("token").Str())).Get("error").Get("code").Str(); code != "LEASE_LOST" {
					t.Errorf("a lease that has ended gives %q", code)
				}
				kept, err := os.ReadFile(filepath.Join(home, "runs", "tugs", "wave-1", strings.TrimPrefix(id, "wave1.")+".md"))
				if err != nil || string(kept) != answer {
					t.Errorf("%s has %q, %v", id, kept, err)
				}
			}
		})
	}
	group.Wait()
	if len(held) != jobs {
		t.Errorf("%d jobs were held", len(held))
	}
	for id, n := range held {
		if n != 1 {
			t.Errorf("%s was held %d times", id, n)
		}
	}
	if v := call("deep_research_run_verify", `{"run":"tugs"}`); !v.Get("pass").Bool() {
		t.Error("the run does not agree with its record")
	}
}
