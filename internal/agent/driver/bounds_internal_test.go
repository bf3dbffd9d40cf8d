package driver

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
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
			var parts pieces
			for range n {
				parts.add(chatDelta{Content: "0123456789"})
			}
			return parts.joined().text
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
