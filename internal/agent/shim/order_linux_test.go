package shim

import (
	"reflect"
	"testing"
)

func TestAnOrderIsReadAsItWasGiven(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]Order{
		"nothing": {},
		"everything": {
			Network: true, Confined: true, MaxFile: 1 << 40, OfFiles: 7, Ruleset: "\x00\xff\n\"", Filter: "\x15\x00\x00\x01é\xc3",
			Listen: []Address{{"\x7f\x00\x00\x01", 80}, {"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", 443}},
			Paths:  []Path{{"/a folder\n\xff", 3}, {"", 0}}, Ports: []int64{443, 80},
		},
	} {
		words := order.words()
		got, behind, err := read(append(words, "/bin/true", "true"))
		if err != nil || !reflect.DeepEqual(got, order) || !reflect.DeepEqual(behind, []string{"/bin/true", "true"}) {
			t.Errorf("%s: got %+v, behind it %q, %v", name, got, behind, err)
		}
		for n := range words {
			if _, _, err := read(words[:n]); err == nil {
				t.Errorf("%s: an order of which %d of %d words are there was read", name, n, len(words))
			}
		}
	}
}
