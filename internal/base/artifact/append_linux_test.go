package artifact_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

func init() { operations["append"] = appendOne }

const (
	grown = "what was there\n"
	torn  = "half a rec"
	added = "a whole record\n"
)

// appendOne adds a record to a file that a killed process left with a part of
// one.
func appendOne(dir string) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := f.Lock(context.Background(), time.Now)
	if err != nil {
		return err
	}
	defer l.Unlock()
	markBegin()
	return l.Append("log", int64(len(grown)), []byte(added))
}

// TestAppendSurvivesEveryFault lets every call go wrong: what was there stays, a
// record that was reported is whole, and one that was refused is not there.
func TestAppendSurvivesEveryFault(t *testing.T) {
	needStrace(t)
	atEveryCall(t, "append", []fault{killed, brokenDisk, noSpace, noAccess}, func(dir string) {
		put(t, dir, map[string]string{"log": grown + torn})
	}, func(t *testing.T, dir, said string) {
		rest, kept := strings.CutPrefix(tree(t, dir)["log"], grown)
		switch {
		case !kept:
			t.Errorf("what was there is %q", tree(t, dir)["log"])
		case said == "done" && rest != added:
			t.Errorf("reported, and then %q", rest)
		case said != "done" && rest == added && said != "":
			t.Errorf("refused with %s, and there all the same", said)
		case said != "" && said != "done" && tidegate.ClassOf(tidegate.Code(said)) != tidegate.Failed:
			t.Errorf("refused with %s", said)
		}
		if err := appendOne(dir); err != nil || tree(t, dir)["log"] != grown+added {
			t.Errorf("gone on: %q, %v", tree(t, dir)["log"], err)
		}
	})
}
