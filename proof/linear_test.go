package proof_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/internal/work/run"
)

// asked is one call about the manifest of a run, and answered what came of it.
type (
	asked struct {
		reads bool
		value int64 // of the limit
	}
	answered struct {
		unknown  bool // the process was killed before it said anything
		revision int64
		value    int64
	}
	// register is a limit in the manifest, as far as these calls go.
	register struct {
		revision int64
		value    int64
	}
)

// manifestModel is what callers of one run may rely on: a register with a revision, which
// each write raises by one. A call that nobody answered may have been done at any time
// after it was made, or, which is the same to all others, after everything else.
func manifestModel(first register) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, output any) (bool, any) {
			r, in, out := state.(register), input.(asked), output.(answered)
			written := register{r.revision + 1, in.value}
			switch {
			case in.reads:
				return out.unknown || out.revision == r.revision && out.value == r.value, r
			case out.unknown:
				return true, written
			}
			return out.revision == written.revision, written
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
	}
}

// TestCallsAreLinearizable has processes write to the manifest of one run and read it, and kills every third of them at some moment.
// The history of their calls is that of a register: there is an order of all of them, each
// between its beginning and its end, in which every answer is right. Rounds keep histories
// short, because the orders to be tried grow with the calls that nobody answered.
func TestCallsAreLinearizable(t *testing.T) {
	t.Parallel()
	rounds, callers, calls := 1, 3, 5
	if full.Asked() {
		rounds, callers, calls = 60, 5, 6
	}
	work := scratch.Short(t)
	layOut(t, work)
	prepareHere(t, work, initRun)
	all, killed := 0, 0
	for round := range rounds {
		prepareHere(t, work, recoverRun) // what a killed process left belongs to the round before
		first := readRegister(t, work)
		history := historyOf(t, work, first, round, callers, calls)
		for _, o := range history {
			out := o.Output.(answered)
			all++
			if out.unknown {
				killed++
			}
		}
		result, info := porcupine.CheckOperationsVerbose(manifestModel(first), history, time.Minute)
		if result != porcupine.Ok {
			path := filepath.Join(os.TempDir(), "tidegate-history.html")
			porcupine.VisualizePath(manifestModel(first), info, path)
			t.Fatalf("%s: no order of the calls explains their answers; %s shows them", result, path)
		}
	}
	t.Logf("%d calls in %d histories, %d of them killed", all, rounds, killed)
}

// historyOf has callers call at the same time, and returns what they heard and when.
func historyOf(t *testing.T, work string, first register, round, callers, calls int) (history []porcupine.Operation) {
	var (
		mu    sync.Mutex
		group sync.WaitGroup
		begin = time.Now()
	)
	for caller := range callers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(round), uint64(caller)))
			for n := range calls {
				in := asked{reads: r.IntN(4) == 0, value: 1 + int64((round*callers+caller)*calls+n)%1000}
				from := time.Since(begin).Nanoseconds()
				out := answered{}
				if in.reads {
					now := readRegister(t, work)
					out = answered{revision: now.revision, value: now.value}
				} else {
					out = writeRegister(t, work, in, r.IntN(3) == 0, time.Duration(r.IntN(25))*time.Millisecond)
				}
				to := time.Since(begin).Nanoseconds()
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: caller, Input: in, Call: from, Output: out, Return: to})
				mu.Unlock()
			}
		})
	}
	group.Wait()
	end := time.Since(begin).Nanoseconds() + 1
	for i := range history {
		if history[i].Output.(answered).unknown {
			// Its effect may come at any later time; it is a client of its own then.
			history[i].Return, history[i].ClientId = end, callers+i
		}
	}
	return history
}

// TestAHistoryThatLosesAWriteIsFound shows that the model can refuse: an accepted write that
// nobody sees afterwards, and two writes with the same revision.
func TestAHistoryThatLosesAWriteIsFound(t *testing.T) {
	t.Parallel()
	write := func(client int, from, value, revision int64) porcupine.Operation {
		return porcupine.Operation{ClientId: client, Input: asked{value: value}, Call: from, Output: answered{revision: revision}, Return: from + 5}
	}
	read := porcupine.Operation{ClientId: 2, Input: asked{reads: true}, Call: 100, Output: answered{revision: 1}, Return: 105}
	for name, history := range map[string][]porcupine.Operation{
		"a lost write": {write(0, 0, 7, 2), read}, "a revision twice": {write(0, 0, 7, 2), write(1, 2, 8, 2)},
	} {
		if porcupine.CheckOperations(manifestModel(register{revision: 1}), history) {
			t.Errorf("%s is taken for right", name)
		}
	}
}

func readRegister(t *testing.T, work string) register {
	r, err := run.Open(t.Context(), run.Desk{Now: time.Now}, filepath.Join(work, "runs/tides/manifest.json"))
	if err != nil {
		t.Error(err)
		return register{}
	}
	defer r.Close()
	value, _ := r.Manifest().Limit("max_summary_kb")
	return register{r.Manifest().Revision(), int64(value)}
}

// writeRegister writes in a process of its own, which may be killed after a while.
func writeRegister(t *testing.T, work string, in asked, kill bool, after time.Duration) answered {
	command := exec.Command(binary, "run", "limit", filepath.Join(work, "runs/tides"), "max_summary_kb", strconv.FormatInt(in.value, 10), "--format", "json")
	command.Env = append(os.Environ(), "TIDEGATE_HOME="+work)
	var said strings.Builder
	command.Stdout = &said
	if err := command.Start(); err != nil {
		t.Error(err)
		return answered{unknown: true}
	}
	if kill {
		timer := time.AfterFunc(after, func() { command.Process.Kill() })
		defer timer.Stop()
	}
	err := command.Wait()
	var result struct {
		OK       bool
		Revision int64 `json:"manifest_revision"`
	}
	switch json.Unmarshal([]byte(said.String()), &result); {
	case result.OK:
		return answered{revision: result.Revision}
	case kill:
		return answered{unknown: true}
	}
	t.Errorf("%v: %s", err, said.String())
	return answered{unknown: true}
}
