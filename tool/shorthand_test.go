package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/tool"
)

type berthIn struct {
	Chart string `json:"chart_path" path:"absolute" jsonschema:"absolute path of the chart"`
	Log   string `json:"log_path" path:"absolute"`
	Note  string `json:"note,omitzero"`
}

type berthOut struct {
	OK    codec.True `json:"ok"`
	Chart string     `json:"chart_path"`
}

func berth() *tool.Tool {
	return tool.New(tool.Spec{
		Name: "boat_berth", Set: "run", Summary: "Use this in tests.", Effect: tool.Reads,
		Shorthand: &tool.Shorthand{Name: "boat", About: "its name", For: []string{"chart_path", "log_path"}, Fill: func(_ context.Context, _ tool.Caller, boat string, args *codec.Value) error {
			args.Set("chart_path", codec.Of("/boats/"+boat+"/chart"))
			args.Set("log_path", codec.Of("/boats/"+boat+"/log"))
			return nil
		}},
	}, func(_ context.Context, _ tool.Caller, in berthIn) (berthOut, error) {
		return berthOut{Chart: in.Chart}, nil
	})
}

func TestShorthandStandsForOtherArguments(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{"boat":"tug"}`, `/boats/tug/chart`},
		{`{"boat":null,"chart_path":"/c","log_path":"/l"}`, `"/c"`},
		{`{"chart_path":"/c","log_path":"/l"}`, `"/c"`},
		{`{"chart_path":null,"boat":"tug"}`, `/boats/tug/chart`},
		{`{"boat":"tug","log_path":"/l"}`, `log_path and boat cannot both be given`},
		{`{"boat":7}`, `boat must be a string`},
		{`{"boat":" "}`, `not blank`},
		{`{"note":"n"}`, `chart_path is required`},
		{`{"boot":"tug"}`, `did you mean boat?`},
		{`{"boat":"tug","zebra":1}`, `zebra is not an argument; known are boat, chart_path`},
	} {
		if got := string(berth().Call(t.Context(), []byte(tt.args), tool.Caller{}).Envelope); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.args, got, tt.want)
		}
	}
}

func TestShorthandIsPartOfTheSchema(t *testing.T) {
	schema := berth().InputSchema()
	var names []string
	for _, m := range schema.Get("properties").Members() {
		names = append(names, m.Key)
	}
	if diff := cmp.Diff([]string{"chart_path", "boat", "log_path", "note"}, names); diff != "" {
		t.Error(diff)
	}
	if required := schema.Get("required"); required.Len() != 0 {
		t.Errorf("required are %v", required)
	}
	if flags := berth().Arguments(); len(flags) != 3 {
		t.Errorf("the command line has %v", flags)
	}
}
