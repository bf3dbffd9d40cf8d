package tidegate_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestAsErrorGivesEveryErrorACode(t *testing.T) {
	known := tidegate.Errorf(tidegate.LockHeld, nil, "held")
	for _, tt := range []struct {
		name string
		err  error
		code tidegate.Code
	}{
		{"nil", nil, ""},
		{"an Error", known, tidegate.LockHeld},
		{"a wrapped Error", fmt.Errorf("in between: %w", known), tidegate.LockHeld},
		{"an ended context", fmt.Errorf("read: %w", context.Canceled), tidegate.Cancelled},
		{"a context that ran out of time", context.DeadlineExceeded, tidegate.Cancelled},
		{"anything else", errors.New("boom"), tidegate.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tidegate.CodeOf(tt.err); got != tt.code {
				t.Errorf("got %s, want %s", got, tt.code)
			}
		})
	}
}

func TestErrorfKeepsTheCauseAndCutsTheMessage(t *testing.T) {
	err := tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", "/x"), "%s: %w", strings.Repeat("é", 300), fs.ErrPermission)
	e := tidegate.AsError(err)
	if !errors.Is(err, fs.ErrPermission) || e.Message != strings.Repeat("é", 200) {
		t.Errorf("got %v", err)
	}
	if path, ok := e.Details.Get("path"); path != "/x" || !ok {
		t.Errorf("details %v", e.Details)
	}
	if _, ok := e.Details.Get("other"); ok {
		t.Error("details have what they were not given")
	}
}

func TestWithDetailsChangesNothingElse(t *testing.T) {
	cause := errors.New("cause")
	err := tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", "a"), "cannot read: %w", cause)
	got := tidegate.AsError(tidegate.WithDetails(err, tidegate.Pairs("gates_path", "b")))
	if got.Code != tidegate.ReadFailed || got.Message != "cannot read: cause" || !errors.Is(got, cause) {
		t.Errorf("got %v", got)
	}
	if path, _ := got.Details.Get("gates_path"); len(got.Details) != 1 || path != "b" {
		t.Errorf("details %v", got.Details)
	}
	if path, _ := tidegate.AsError(err).Details.Get("path"); path != "a" {
		t.Errorf("the error itself was changed: %v", err)
	}
	if err := tidegate.WithDetails(nil, nil); err != nil {
		t.Errorf("nil became %v", err)
	}
}

func TestCutCountsCodePoints(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"short", "abc", "abc"},
		{"two hundred", strings.Repeat("日", 200), strings.Repeat("日", 200)},
		{"one more", strings.Repeat("日", 201), strings.Repeat("日", 200)},
		{"not UTF-8", strings.Repeat("\xff", 201), strings.Repeat("\xff", 200)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tidegate.Cut(tt.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEveryCodeIsExplainedInItsPlace reads the constants, because a code
// without a row would end in class internal without anybody noticing.
func TestEveryCodeIsExplainedInItsPlace(t *testing.T) {
	file := must.Get(parser.ParseFile(token.NewFileSet(), "code.go", nil, 0))(t)
	var declared, explained []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Code" {
				value := must.Get(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
				declared = append(declared, value)
			}
		}
		return true
	})
	class := tidegate.NotMet
	for _, e := range tidegate.Explanations {
		explained = append(explained, string(e.Code))
		if e.Class < class || e.Class.String() == "unknown" || !strings.HasSuffix(e.Meaning, ".") || !strings.HasSuffix(e.Fix, ".") {
			t.Errorf("%s is out of its class or says too little: %+v", e.Code, e)
		}
		class = e.Class
	}
	if diff := cmp.Diff(declared, explained); diff != "" || len(declared) == 0 {
		t.Errorf("code.go declares other codes (-) than its table Explanations has rows (+): a code is a constant and a row, in the same order:\n%s", diff)
	}
	if tidegate.ClassOf("NO_SUCH_CODE") != tidegate.Failed {
		t.Error("an unknown code is not a failure of the program")
	}
}

// TestWhatCannotBeWrittenNamesTheWayOn checks that a full disk ends with the command
// that goes on once there is room.
func TestWhatCannotBeWrittenNamesTheWayOn(t *testing.T) {
	if e, ok := tidegate.Explain(tidegate.WriteFailed); !ok || !strings.Contains(e.Fix, "`tidegate run continue`") {
		t.Errorf("WRITE_FAILED: %+v", e)
	}
}
