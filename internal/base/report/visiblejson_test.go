package report_test

import (
	"encoding/json"
	"testing"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestJSONForATerminalSaysTheSame(t *testing.T) {
	const text = "a\u009b2J \u202eright\u202c \u200b\U000e0041 grün 🚢"
	plain := must.Get(json.Marshal(text))(t)
	shown := report.VisibleJSON(append([]byte("{\n  \"a\": "), append(plain, "\n}\n"...)...))
	if want := "{\n  \"a\": \"a\\u009b2J \\u202eright\\u202c \\u200b\\udb40\\udc41 grün 🚢\"\n}\n"; string(shown) != want {
		t.Errorf("got %s, want %s", shown, want)
	}
	var back struct{ A string }
	if err := json.Unmarshal(shown, &back); err != nil || back.A != text {
		t.Errorf("%q, %v", back.A, err)
	}
}
