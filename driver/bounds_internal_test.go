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
	allocated := func(pieces int) uint64 {
		s := &acpStream{asked: true}
		params := json.RawMessage(`{"update":{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"text":"0123456789"}}}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range pieces {
			s.update(params)
		}
		runtime.ReadMemStats(&after)
		if answer, _ := s.result(""); len(answer.Text) != 10*pieces {
			t.Fatalf("the answer has %d bytes of %d", len(answer.Text), 10*pieces)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(1000), allocated(16_000); many > 32*few {
		t.Errorf("%d bytes for 1,000 pieces, %d for sixteen times as many", few, many)
	}
}
