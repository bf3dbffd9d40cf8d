package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

func TestThePositionSurvivesALongPath(t *testing.T) {
	path := "/" + strings.Repeat("a long folder/", 30) + "gaps.json"
	_, err := codec.ParseFile("explicit_gaps", path, []byte("[\n"))
	e := tidegate.AsError(err)
	if e == nil || e.Code != tidegate.InvalidJSON || !strings.HasPrefix(e.Message, "gaps.json is not JSON: line 2, column 1: ") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(tidegate.Pairs("explicit_gaps", path), e.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if syntax := (*codec.SyntaxError)(nil); !errors.As(err, &syntax) {
		t.Errorf("the cause is %v", errors.Unwrap(err))
	}
}
