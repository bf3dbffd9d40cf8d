package engine_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// TestAgentsOfAWaveGetTheRelay looks at every task of runs whose policy names the relay,
// or not, at a home that searches for its agents, or not. The first goes on
// behind its waves. The short form has two of the five.
func TestAgentsOfAWaveGetTheRelay(t *testing.T) {
	t.Parallel()
	relay := driver.Server{Name: "tidegate", Command: "/bin/tidegate", Args: []string{"mcp", "--relay", sandbox.RelayArg}}
	homes := []struct{ named, searches, noWeb bool }{{named: true, searches: true}, {named: true}, {}, {searches: true}, {searches: true, noWeb: true}}
	for i := 0; i < len(homes); i += full.Stride(len(homes), 2) {
		tt := homes[i]
		in := run.InitInput{Query: "Should the harbour buy electric tugs?", RunID: "harbour"}
		if tt.named {
			in.Servers = []string{"tidegate", "unheard-of"}
		}
		if tt.noWeb {
			in.Sensitivity = "restricted"
		}
		desk := run.Desk{Now: time.Now}
		made := runs.CreateAt(t, desk, in)
		manifest := filepath.Join(made.Root, run.ManifestFile)
		given, whole := 0, tt.named && tt.searches
		pool := &crew{agent: func(ctx context.Context, task driver.Task) (driver.Answer, error) {
			answer, err := obedient(ctx, task)
			if task.Kind == "summary" && !whole {
				return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "the waves are over"}
			}
			researcher := task.Kind == "wave1" || task.Kind == "wave2"
			if !researcher || !tt.named && (!tt.searches || tt.noWeb) {
				if task.Tools.MCP != nil || task.Tools.Write || task.Contract != "" || task.Lease != (driver.Lease{}) {
					t.Errorf("%+v: %s gets %+v", tt, task.Job, task)
				}
				return answer, err
			}
			given++
			if diff := cmp.Diff([]driver.Server{relay}, task.Tools.MCP); diff != "" || task.Tools.Write || (task.Contract != "") != tt.named {
				t.Errorf("%+v: %s gets %+v and %q", tt, task.Job, task.Tools, task.Contract)
			}
			if task.Lease.Manifest != manifest || task.Lease.Token == "" {
				t.Errorf("%+v: %s has the lease %+v", tt, task.Job, task.Lease)
			}
			if wire, err := json.Marshal(task); err != nil || strings.Contains(string(wire), task.Lease.Token) || strings.Contains(string(wire), manifest) {
				t.Errorf("the lease crosses to another machine: %s, %v", wire, err)
			}
			// What is lent judges as the run does.
			for _, lent := range (catalog.Lent{Contract: []byte(task.Contract)}).Of(nil) {
				args, _ := json.Marshal(map[string]string{"markdown": answer.Text})
				if result := lent.Call(ctx, args, tool.Caller{}); result.Err != nil || !result.Passed {
					t.Errorf("%s: %s says %s", task.Job, lent.Name, result.Envelope)
				}
			}
			return answer, err
		}}
		out, err := engine.Drive(t.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: (&web{}).fetch, Wait: noWait, Parallel: 1, Relay: &relay, Searches: tt.searches})
		if err != nil || whole != (out.Status == run.Completed) {
			t.Fatalf("%s, %v", shown(out), err)
		}
		if (tt.named || tt.searches && !tt.noWeb) != (given > 3) {
			t.Errorf("%+v: %d agents got it", tt, given)
		}
	}
}
