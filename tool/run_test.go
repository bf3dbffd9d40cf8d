package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/tool"
)

type lookIn struct {
	ManifestPath string `json:"manifest_path" path:"absolute"`
	Reason       string `json:"reason,omitzero"`
}

type lookOut struct {
	OK   codec.True `json:"ok"`
	Seen string     `json:"seen"`
}

// look is a tool of a run.
func look() *tool.Tool {
	return tool.New(tool.Spec{Name: "look", Set: "toy", Summary: "Look at a run.", Effect: tool.Reads, Run: func(id string) (string, error) {
		if strings.Contains(id, "/") {
			return "", tidegate.Errorf(tidegate.PathTraversal, tidegate.D("run", id), "run must be an id")
		}
		return "/runs/" + id + "/manifest.json", nil
	}}, func(_ context.Context, in lookIn) (lookOut, error) { return lookOut{Seen: in.ManifestPath}, nil })
}

func TestARunIsNamedByItsIDOrItsManifest(t *testing.T) {
	for args, want := range map[string]string{
		`{"run":"tides"}`:                           "/runs/tides/manifest.json",
		`{"reason":"r","run":"tides"}`:              "/runs/tides/manifest.json",
		`{"manifest_path":"/m.json"}`:               "/m.json",
		`{"manifest_path":"/m.json","run":null}`:    "/m.json",
		`{"manifest_path":null,"run":"tides"}`:      "/runs/tides/manifest.json",
		`{}`:                                        "INVALID_ARGS manifest_path",
		`{"run":1}`:                                 "INVALID_ARGS run",
		`{"run":"tides","manifest_path":"/m.json"}`: "INVALID_ARGS run",
		`{"run":"../tides"}`:                        "PATH_TRAVERSAL run",
		`{"run":"tides","manifest_path":1}`:         "INVALID_ARGS run",
		`{"run":"tides","run":"other"}`:             "INVALID_ARGS run",
		`{"run":"tides","manifest":"/m.json"}`:      "INVALID_ARGS manifest",
	} {
		result := look().Call(t.Context(), []byte(args), tool.Caller{})
		got := string(result.Envelope)
		if result.Err != nil {
			got = string(result.Err.Code) + " " + result.Err.Details[0].Key
		} else if v, err := codec.Parse(result.Envelope); err == nil {
			got = v.Get("seen").Str()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	// The roots of a caller hold for a run that is named by its id too.
	if result := look().Call(artifact.WithRoots(t.Context(), "/elsewhere"), []byte(`{"run":"tides"}`), tool.Caller{}); result.Err == nil || result.Err.Code != tidegate.PathNotAllowed {
		t.Errorf("%s", result.Envelope)
	}
	schema := look().InputSchema()
	if schema.Get("properties").Get("run") == nil || schema.Get("required").Len() != 0 {
		t.Errorf("%v", schema)
	}
}
