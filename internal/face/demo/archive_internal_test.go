package demo

import (
	"strings"
	"testing"
)

func TestAnExampleHasNoOtherMarks(t *testing.T) {
	for text, wrong := range map[string]string{
		"meaning: x\n-- failing file a.md --\nx\n-- fixed text --\ny\n": "",
		"meaning: x\n-- files a.md --\nx\n":                             "files",
		"meaning: x\n-- a.md --\nx\n":                                   "a.md",
		"meaning: x\n-- broken file a.md --\nx\n":                       "broken",
	} {
		err := parseArchive(text).check()
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), `"`+wrong+`"; expected one of file, link`)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
