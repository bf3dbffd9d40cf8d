package link_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/text/link"
)

func TestTextLink(t *testing.T) {
	const text = "High water is at ten.\nThe tide rose by 2.5 metres in 1962, they say - and more - at the old harbour of the town.\nLow water"
	for passage, want := range map[string]string{
		"1962":                "https://a.test/#:~:text=2.5%20metres%20in-,1962",
		"2.5 metres":          "https://a.test/#:~:text=tide%20rose%20by-,2.5%20metres,-in%201962%2C%20they",
		"they say - and more": "https://a.test/#:~:text=metres%20in%201962%2C-,they%20say%20%2D%20and%20more,-%2D%20at%20the",
		"High":                "https://a.test/#:~:text=High,-water%20is%20at",
		"ten.\nThe tide":      "https://a.test/#:~:text=ten.,tide",
		"tide rose by 2.5 metres in 1962, they say - and more": "https://a.test/#:~:text=tide%20rose%20by%202.5,say%20%2D%20and%20more",
		"water": "https://a.test/#:~:text=High-,water,-is%20at%20ten.",
	} {
		start := strings.Index(text, passage)
		if got := link.TextLink("https://a.test/#old", text, start, start+len(passage)); got != want {
			t.Errorf("%q: got %s, want %s", passage, got, want)
		}
	}
	if got := link.TextLink("https://a.test/", text, 5, 5000); got != "https://a.test/" {
		t.Errorf("a range outside the text: %s", got)
	}
}
