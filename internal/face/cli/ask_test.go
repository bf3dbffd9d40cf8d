package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/tool"
)

func TestWhatCannotBeUndoneIsAsked(t *testing.T) {
	for _, tt := range []struct {
		name     string
		terminal bool
		needs    bool
		question string
		typed    string
		flags    []string
		status   int
		sunk     bool
		said     string
	}{
		{name: "yes on a terminal", terminal: true, needs: true, question: "Sink it?", typed: "y\n", sunk: true, said: "Sink it? [y/N] "},
		{name: "no on a terminal", terminal: true, needs: true, question: "Sink it?", typed: "n\n", status: 1, said: "nothing was changed"},
		{name: "nothing on a terminal", terminal: true, question: "Sink it?", status: 1, said: "nothing was changed"},
		{name: "--yes on a terminal", terminal: true, needs: true, question: "Sink it?", flags: []string{"--yes"}, sunk: true},
		{name: "nothing to ask", terminal: true, sunk: true},
		{name: "a pipe", question: "Sink it?", sunk: true},
		{name: "a pipe that needs a yes", needs: true, question: "Sink it?", status: 2, said: "needs --yes"},
		{name: "--yes in a pipe", needs: true, question: "Sink it?", flags: []string{"--yes"}, sunk: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sunk := false
			sink := tool.New(tool.Spec{Name: "boat_sink", Set: "toy", Summary: "Sink a boat.", Effect: tool.Writes,
				Command: &tool.Command{Path: "boat sink", Short: "Sink a boat", Example: "tidegate boat sink", NeedsYes: tt.needs,
					Confirm: func(context.Context, *codec.Value) (string, error) { return tt.question, nil }}},
				func(context.Context, tool.Caller, struct{}) (struct {
					OK codec.True `json:"ok"`
				}, error) {
					sunk = true
					return struct {
						OK codec.True `json:"ok"`
					}{}, nil
				})
			var errs bytes.Buffer
			program := cli.Program{Tools: []*tool.Tool{sink}, Stdin: strings.NewReader(tt.typed), Stdout: new(bytes.Buffer), Stderr: &errs,
				Dir: "/harbour", Terminal: cli.Terminal{Input: tt.terminal}}
			status := program.Run(t.Context(), append([]string{"boat", "sink"}, tt.flags...))
			if status != tt.status || sunk != tt.sunk || !strings.Contains(errs.String(), tt.said) || tt.said == "" && errs.Len() > 0 {
				t.Errorf("status %d, sunk %v, said %q; want %d, %v, %q", status, sunk, errs.String(), tt.status, tt.sunk, tt.said)
			}
		})
	}
}
