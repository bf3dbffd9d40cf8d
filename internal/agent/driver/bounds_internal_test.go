package driver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestWhatAClientSaysOfItselfIsBounded: names come from an agent, and are kept.
func TestWhatAClientSaysOfItselfIsBounded(t *testing.T) {
	var calls toolCalls
	for i := range 3 * maxTools {
		calls.count("", fmt.Sprintf("%d %s", i, strings.Repeat("ü", maxName)))
	}
	if len(calls.counts) > maxTools+1 {
		t.Errorf("%d names are kept", len(calls.counts))
	}
	total := 0
	for name, n := range calls.counts {
		total += n
		if len(name) > maxName || strings.ToValidUTF8(name, "") != name {
			t.Errorf("the name %q is kept", name)
		}
	}
	if total != 3*maxTools {
		t.Errorf("%d calls are counted of %d", total, 3*maxTools)
	}
}

// TestAnAnswerInPiecesCostsInProportion hands over an answer in very small pieces.
func TestAnAnswerInPiecesCostsInProportion(t *testing.T) {
	for name, read := range map[string]func(pieces int) (text string){
		"of an agent": func(n int) string {
			s := &acpStream{asked: true}
			params := json.RawMessage(`{"update":{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"text":"0123456789"}}}`)
			for range n {
				s.update(params)
			}
			answer, _ := s.result("")
			return answer.Text
		},
		"of a model": func(n int) string {
			var h hearing
			for range n {
				chatDelta{Content: "0123456789"}.join(&h)
			}
			return h.text.String()
		},
		"of Claude": func(n int) string {
			var h hearing
			h.begin(0, map[string]any{"type": "text", "text": ""})
			for range n {
				takeMessages(&h, []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"0123456789"}}`))
			}
			h.stopped("end_turn")
			return h.text.String()
		},
	} {
		allocated := func(pieces int) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			text := read(pieces)
			runtime.ReadMemStats(&after)
			if len(text) != 10*pieces {
				t.Fatalf("the answer %s has %d bytes of %d", name, len(text), 10*pieces)
			}
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := allocated(1000), allocated(16_000); many > 32*few {
			t.Errorf("%s: %d bytes for 1,000 pieces, %d for sixteen times as many", name, few, many)
		}
	}
}

// TestTheTableOfModels reads every line of models.txt.
func TestTheTableOfModels(t *testing.T) {
	row := regexp.MustCompile(`^\*?[a-z0-9./-]+( +\d+(\.\d+)?){4}$|^\*[a-z0-9./-]+$`)
	other := regexp.MustCompile(`^$|^#|^day \d{4}-\d{2}-\d{2}$|^\[[a-z]+\]$`)
	rows := 0
	for line := range strings.Lines(modelsText) {
		line = strings.TrimSuffix(line, "\n")
		if row.MatchString(line) {
			rows++
		} else if !other.MatchString(line) {
			t.Errorf("%q is neither a model nor a remark", line)
		}
	}
	table := modelsKnown()
	if rows < 20 || table.day == "" {
		t.Errorf("%d models of %s", rows, table.day)
	}
	for name, p := range table.prices {
		if p.cached > p.input || p.written < p.input || p.output < p.input || p.input == 0 {
			t.Errorf("%s: %+v cannot be", name, p)
		}
	}
	for _, e := range endpoints {
		if hosted := e.keyEnv != ""; hosted != (len(table.preferred[e.name]) > 0) {
			t.Errorf("%s has no model that is asked for where nobody names one", e.name)
		}
	}
}

// FuzzReplies hands the readers of replies whatever a server may send.
func FuzzReplies(f *testing.F) {
	for _, text := range []string{
		`{"choices":[{"delta":{"content":"a","tool_calls":[{"index":-1},{"index":99}],"reasoning_details":[{"type":"x","text":"y"},{"type":"x","index":null}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{"a":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":7}}`,
		`{"type":"message","content":[{"type":"thinking"},{"type":"tool_use","id":7}],"stop_reason":"tool_use","usage":{}}`,
		`{"type":"response.completed","response":{"output":[{"type":"reasoning"},7,{"type":"function_call","call_id":"c"}]}}`,
		`{"type":"error","error":"text"}`, `{"error":{"code":{}}}`, `null`, `[]`,
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, p := range []*protocol{&chatProtocol, &messagesProtocol, &responsesProtocol} {
			h := &hearing{}
			for _, event := range []string{first, second, first} {
				if p.take(h, []byte(event)) != nil {
					break
				}
			}
			said := message{role: "assistant", text: h.text.String(), calls: h.toolCalls(), kept: p.kept(h)}
			if len(said.calls) > mostCalls {
				t.Errorf("%d calls", len(said.calls))
			}
			if body := marshal(p.body(question{model: "m", messages: []message{{role: "user", text: "q"}, said}})); !json.Valid(body) {
				t.Errorf("%s is not JSON", body)
			}
		}
	})
}

// TestAConnectionIsRefusedByNoModel tells a server that is away from a model that will
// not do a task.
func TestAConnectionIsRefusedByNoModel(t *testing.T) {
	for words, want := range map[string]Kind{
		"error sending request for url (http://127.0.0.1:1/v1/responses): Connection refused (os error 111)": Unavailable,
		"connect ECONNREFUSED 127.0.0.1:11434": Unavailable,
		"The model refused to answer.":         Refused,
	} {
		if got := fromWords("codex", words).Kind; got != want {
			t.Errorf("%s: got %s, want %s", words, got, want)
		}
	}
}

func TestADeadlineIsSaidInSeconds(t *testing.T) {
	for had, want := range map[time.Duration]string{20*time.Minute - 21214*time.Nanosecond: "20m0s", 400 * time.Millisecond: "400ms", 0: "0s"} {
		if got := (Limits{Deadline: had}).deadline().String(); got != want {
			t.Errorf("%v is said as %s", had, got)
		}
	}
}
