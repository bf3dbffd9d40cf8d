package temporal

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
)

// TestServerKnowsTasksByName looks at how a server that has the search attributes knows a
// task: by run, job and kind, with the priority of the home and a share for the run. A
// home that encrypts tells it none of these names.
func TestServerKnowsTasksByName(t *testing.T) {
	key := filepath.Join(t.TempDir(), "payload.key")
	must.Do(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"), 0o600))
	for _, name := range []string{"standalone", "old"} {
		for _, secret := range []string{"", key} {
			o, queue := Options{Address: servers[name].Address, PayloadKey: secret}, newQueue()
			beginWorker(t, o, &Worker{Queue: queue}, answering(""))
			pool, task := poolOn(t, o, queue), newTask("named")
			pool.Priority, task.Run = 2, "the-harbour"
			must.Get(pool.Do(t.Context(), task, ignore))(t)
			attributes, priority := describe(t, pool, name, task)
			for i, want := range []string{task.Run, task.Job, task.Kind} {
				found := string(attributes.GetIndexedFields()[SearchAttributes[i]].GetData())
				if secret == "" && found != `"`+want+`"` || secret != "" && found != "" {
					t.Errorf("%s, encrypted %v: %s is %q", name, secret != "", SearchAttributes[i], found)
				}
			}
			if priority.GetPriorityKey() != 2 {
				t.Errorf("%s: the priority is %d", name, priority.GetPriorityKey())
			}
			if fair := priority.GetFairnessKey(); fair == "" || (fair == task.Run) != (secret == "") {
				t.Errorf("%s, encrypted %v: the share is that of %q", name, secret != "", fair)
			}
		}
	}
	long := &Pool{Connection: &Connection{}, naming: naming{unknown: "x"}}
	if fair := long.priority(taskMessage{Task: driver.Task{Run: strings.Repeat("r", 65)}}).FairnessKey; fair != "x" {
		t.Errorf("a key of %d bytes, which the server refuses", len(fair))
	}
}

// describe is what a server knows of a task.
func describe(t *testing.T, pool *Pool, server string, task driver.Task) (*commonpb.SearchAttributes, *commonpb.Priority) {
	t.Helper()
	if server == "old" {
		about := must.Get(pool.Connection.Client.DescribeWorkflowExecution(t.Context(), task.ID, ""))(t)
		return about.GetWorkflowExecutionInfo().GetSearchAttributes(), about.GetWorkflowExecutionInfo().GetPriority()
	}
	about := must.Get(pool.Connection.Client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: task.ID}).Describe(t.Context(), client.DescribeActivityOptions{}))(t)
	return about.RawResponse.GetInfo().GetSearchAttributes(), about.RawResponse.GetInfo().GetPriority()
}
