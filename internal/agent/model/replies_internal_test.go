package model

import (
	"encoding/json"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// TestAnAnswerInPiecesCostsInProportion hands over an answer in very small pieces.
func TestAnAnswerInPiecesCostsInProportion(t *testing.T) {
	for name, read := range map[string]func(pieces int) (text string){
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
			if body := driver.Marshal(p.body(question{model: "m", messages: []message{{role: "user", text: "q"}, said}})); !json.Valid(body) {
				t.Errorf("%s is not JSON", body)
			}
		}
	})
}

// An endpoint cannot make a run wait for years.
func TestWaitsOfHeadersAreBounded(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{"7": 7 * time.Second, "9999999": driver.LongestWait, "-1": 0, "soon": 0, "Fri, 31 Dec 9999 23:59:59 GMT": driver.LongestWait} {
		if got := retryAfter(value, time.Unix(1e9, 0)); got != want {
			t.Errorf("%s: waits %v, want %v", value, got, want)
		}
	}
}
