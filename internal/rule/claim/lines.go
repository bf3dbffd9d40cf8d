package claim

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// judgedLine is what [JudgeLines] says of one claim.
type judgedLine struct {
	ID       string         `json:"id"`
	Standing Standing       `json:"standing"`
	Findings []Finding      `json:"findings"`
	Windows  []judgedWindow `json:"windows"`
}

type judgedWindow struct {
	Reference int `json:"reference"` // counted from 0
	Start     int `json:"start"`     // bytes of its readable text
	End       int `json:"end"`
}

// JudgeLines reads claims, each on a line of its own with the texts that should bear it
// out, {"id","claim","references"}, and writes how each stands, in order. A reference
// that begins with < and reads as HTML is a page. With again the windows that a second
// look adds stand behind the first ones. Only one line is in memory.
//
// It returns INVALID_JSON and SCHEMA_VALIDATION_FAILED with the number of the line, and
// WRITE_FAILED.
func JudgeLines(ctx context.Context, in io.Reader, out io.Writer, again bool) error {
	err := codec.EachDocument(in, func(number int, line *codec.Value) error {
		if err := lineShape.Check(line); err != nil {
			return tidegate.Errorf(tidegate.CodeOf(err), tidegate.Pairs("line", number), "line %d: %w", number, err)
		}
		judged, err := judgeLine(ctx, line, again)
		if err != nil {
			return err
		}
		text, err := codec.MarshalLine(judged)
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return tidegate.Errorf(tidegate.WriteFailed, nil, "cannot write what was judged: %w", err)
		}
		return nil
	})
	if syntax := (*codec.SyntaxError)(nil); errors.As(err, &syntax) {
		return tidegate.Errorf(tidegate.InvalidJSON, tidegate.Pairs("line", syntax.Line), "%w", syntax)
	}
	return err
}

var lineShape = codec.Table(
	codec.Field{Name: "id", Shape: codec.Text()},
	codec.Field{Name: "claim", Shape: codec.NotBlank()},
	codec.Field{Name: "references", Shape: codec.List(codec.Text(), 0)},
)

func judgeLine(ctx context.Context, line *codec.Value, again bool) (judgedLine, error) {
	s := Question{Text: line.Get("claim").Str()}
	references := line.Get("references").Elems()
	for i := range references {
		s.CIDs = append(s.CIDs, strconv.Itoa(i))
	}
	found, err := Judge(ctx, []Question{s}, func(cid string) (*Page, error) {
		i, _ := strconv.Atoi(cid)
		return reference(cid, references[i].Str()), nil
	}, Titles{})
	if err != nil {
		return judgedLine{}, err
	}
	judged := judgedLine{line.Get("id").Str(), found[0].Standing, found[0].Findings, []judgedWindow{}}
	windows := found[0].Windows
	if again {
		windows = slices.Concat(windows, found[0].More)
	}
	for _, w := range windows {
		i, _ := strconv.Atoi(w.CID)
		judged.Windows = append(judged.Windows, judgedWindow{i, w.Start, w.End})
	}
	return judged, nil
}

// reference is the page of a text that a claim brings with it.
func reference(cid, text string) *Page {
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		if content := page.Read([]byte(text), ""); content.Media == page.HTML {
			return PageOf(cid, "", content)
		}
	}
	return &Page{CID: cid, Text: text}
}
