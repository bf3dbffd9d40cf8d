package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/tool"
)

// Ask asks a person a question on out and returns the first letter of the line
// that comes in, in lower case; 0 where there was none. It returns CANCELLED when
// ctx ends first.
func Ask(ctx context.Context, in *bufio.Reader, out io.Writer, question string) (rune, error) {
	answer, err := Answer(ctx, in, out, question)
	for _, r := range strings.ToLower(answer) {
		return r, nil
	}
	return 0, err
}

// Answer is Ask for an answer of more than a letter: it returns the whole line,
// without the white space around it.
func Answer(ctx context.Context, in *bufio.Reader, out io.Writer, question string) (string, error) {
	fmt.Fprint(out, question+" ")
	answer := make(chan string, 1)
	go func() {
		text, _ := in.ReadString('\n') // the end of the input counts as an empty answer
		answer <- text
	}()
	select {
	case text := <-answer:
		return strings.TrimSpace(text), nil
	case <-ctx.Done():
		fmt.Fprintln(out)
		return "", tidegate.Errorf(tidegate.Cancelled, nil, "stopped before anything was begun: %w", context.Cause(ctx))
	}
}

// confirm asks the command's question. It returns an exit status when the answer
// is no, and INVALID_ARGS when nobody can be asked and the command needs a yes.
func (p *Program) confirm(ctx context.Context, c *tool.Command, args *codec.Value, yes bool) error {
	switch {
	case c.Confirm == nil || yes:
		return nil
	case !p.Terminal.Input && c.NeedsYes:
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("yes", nil), "nobody can be asked here, because stdin is not a terminal: `tidegate %s` needs --yes", c.Path)
	case !p.Terminal.Input:
		return nil
	}
	question, err := c.Confirm(ctx, args)
	if err != nil || question == "" {
		return err
	}
	answer, err := Ask(ctx, bufio.NewReader(p.Stdin), p.Stderr, report.Wrapped(report.Visible(question)+" [y/N]", p.Terminal.ErrWidth))
	if err != nil {
		return err
	}
	if answer != 'y' {
		p.say("nothing was changed")
		return exitStatus(statusNotPassed)
	}
	return nil
}
