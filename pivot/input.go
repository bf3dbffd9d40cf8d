package pivot

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Input is what a decision rests on. The order of the lists does not matter.
type Input struct {
	Outputs []Output
	// Reports are the results of validating the outputs, one each, as the
	// validator returns them; codec.Of makes one of a wave.Validation.
	Reports []*codec.Value
	// ExplicitGaps, when there are any, are used instead of what the outputs
	// state: objects with gap_id, priority, text, and optionally tags and
	// from_perspective_id.
	ExplicitGaps []*codec.Value
	InRun        bool // there is a run that paths can be relative to
}

// Output is a wave-1 output.
type Output struct {
	PerspectiveID string `json:"perspective_id" jsonschema:"the perspective that the output was written for"`
	Path          string `json:"output_md_path" path:"run" jsonschema:"the markdown file: absolute, or relative to the run root when manifest_path is given"`
}

// Details name an output in an error.
func (o Output) Details() tidegate.Details {
	return tidegate.Pairs("perspective_id", o.PerspectiveID, "output_md_path", o.Path)
}

// Report is a validation report, reduced to the fields that the decision uses.
type Report struct {
	OK              bool           `json:"ok"`
	PerspectiveID   string         `json:"perspective_id"`
	MarkdownPath    string         `json:"markdown_path"`
	Words           float64        `json:"words"`
	Sources         float64        `json:"sources"`
	MissingSections []*codec.Value `json:"missing_sections"`

	index   int          // in the list it was given in
	failure *codec.Value // what a report that is not ok says of it
}

// check finds INVALID_ARGS, and reads the reports.
func (in Input) check() ([]Report, error) {
	if len(in.Outputs) == 0 {
		return nil, wrong("wave1_outputs", []string{}, "must have 1 or more entries")
	}
	for i, o := range in.Outputs {
		name := fmt.Sprintf("wave1_outputs[%d]", i)
		switch {
		case isBlankText(o.PerspectiveID):
			return nil, wrong(name+".perspective_id", o.PerspectiveID, "must not be blank")
		case isBlankText(o.Path):
			return nil, wrong(name+".output_md_path", o.Path, "must not be blank")
		case strings.ContainsRune(o.Path, 0):
			return nil, wrong(name+".output_md_path", tidegate.Cut(o.Path), "must not contain a NUL character")
		case !in.InRun && !filepath.IsAbs(o.Path):
			return nil, wrong(name+".output_md_path", tidegate.Cut(o.Path), "must be absolute when no manifest_path names the run that it is relative to")
		}
	}
	if len(in.Reports) == 0 {
		return nil, wrong("wave1_validation_reports", []string{}, "must have 1 or more entries")
	}
	reports := make([]Report, len(in.Reports))
	for i, v := range in.Reports {
		var err error
		if reports[i], err = readReport(fmt.Sprintf("wave1_validation_reports[%d]", i), v); err != nil {
			return nil, err
		}
		reports[i].index = i
	}
	return reports, nil
}

// readReport demands the six fields of a report that is ok. Of one that is not
// it demands nothing: that it is not ok is what counts.
func readReport(name string, v *codec.Value) (Report, error) {
	ok := v.Get("ok")
	r := Report{OK: ok.Bool(), PerspectiveID: v.Get("perspective_id").Str(), MarkdownPath: v.Get("markdown_path").Str(),
		MissingSections: v.Get("missing_sections").Elems()}
	switch {
	case v.Kind() != codec.Object:
		return r, wrongValue(name, v, "must be an object")
	case ok.Kind() != codec.Bool:
		return r, wrongValue(name+".ok", ok, "must be true or false")
	case !r.OK:
		r.failure = v.Get("error")
		return r, nil
	}
	for _, key := range []string{"perspective_id", "markdown_path"} {
		if err := checkText(name+"."+key, v.Get(key)); err != nil {
			return r, err
		}
	}
	for _, field := range []struct {
		key  string
		into *float64
	}{{"words", &r.Words}, {"sources", &r.Sources}} {
		n, isNumber := v.Get(field.key).Float()
		if !isNumber || n < 0 {
			return r, wrongValue(name+"."+field.key, v.Get(field.key), "must be a finite number of at least 0")
		}
		*field.into = n
	}
	if sections := v.Get("missing_sections"); sections.Kind() != codec.Array {
		return r, wrongValue(name+".missing_sections", sections, "must be an array")
	}
	return r, nil
}

func checkText(name string, v *codec.Value) error {
	if v.Kind() != codec.String || isBlankText(v.Str()) {
		return wrongValue(name, v, "must be a string that is not blank")
	}
	return nil
}

func isBlankText(s string) bool { return strings.TrimSpace(s) == "" }

// wrong is INVALID_ARGS for the argument of that name.
func wrong(name string, value any, rule string) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, value), "%s %s", name, rule)
}

// wrongValue is wrong for a JSON value, which may be absent.
func wrongValue(name string, v *codec.Value, rule string) error {
	if v == nil {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, nil), "%s is required; it %s", name, rule)
	}
	return wrong(name, quoted(v), rule)
}

// quoted is a value as details quote it: text is cut, and a list or object
// that is not empty is quoted only by its kind and length.
func quoted(v *codec.Value) any {
	switch {
	case v.Kind() == codec.String:
		return tidegate.Cut(v.Str())
	case v.Len() > 0:
		return fmt.Sprintf("%s of %d", v.Kind(), v.Len())
	}
	return v
}
