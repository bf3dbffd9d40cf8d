package demo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Player plays the story.
type Player struct {
	Out    io.Writer
	Folder string // absolute; the story plays in it and leaves it
	Color  bool
	Width  int // of Out, 0 where it has none
	// Run runs a command line of tidegate in Folder, with its runs in Folder/runs,
	// prints to out and returns the exit status.
	Run func(ctx context.Context, args []string, out io.Writer) int
	// Pause waits between two steps; nil plays on.
	Pause func(ctx context.Context) error

	whole io.Writer // takes all where Out is shown a part, else nil
	lost  error     // why the output takes nothing more
}

// Play unpacks the sample data and plays the story. A terminal on which it plays on without
// a pause is shown the beginning and the end of what each command prints, and [WholeFile] has
// all. A command that ends with an exit
// status other than the story says ends it with INTERNAL. Play also returns
// INVALID_ARGS, WRITE_FAILED, READ_FAILED and what Pause returns.
func (p *Player) Play(ctx context.Context) error {
	if err := unpack(p.Folder); err != nil {
		return err
	}
	if p.Width > 0 && p.Pause == nil {
		whole, err := os.OpenFile(filepath.Join(p.Folder, WholeFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return tidegate.Errorf(tidegate.WriteFailed, tidegate.Pairs("folder", p.Folder), "the story cannot be written: %w", err)
		}
		defer whole.Close()
		p.whole = whole
	}
	p.printf("%s\n\n%s\n\n  %s\n\n%s\n\n", p.strong("Should a harbour buy electric tugs? A demo of tidegate"),
		p.fill("Everything below really happens, offline, in a folder that stays there for you to look at:"), p.Folder,
		p.fill("The lines that begin with $ are what you would type in that folder, after export TIDEGATE_HOME=$PWD."))
	for i, s := range story {
		if i > 0 && p.Pause != nil {
			if err := p.Pause(ctx); err != nil {
				return err
			}
		}
		p.printf("%s\n\n%s\n\n", p.strong(fmt.Sprintf("%d. %s", i+1, s.title)), p.fill(s.text))
		for _, a := range s.actions {
			if err := p.act(ctx, i+1, a); err != nil {
				return err
			}
		}
	}
	p.printf("%s\n\n%s", p.strong("The end"), p.fill(strings.ReplaceAll(ending, "{folder}", p.Folder)))
	return nil
}

func (p *Player) act(ctx context.Context, number int, a action) error {
	p.printf("%s\n\n", p.strong("$ "+a.line()))
	if err := cmp.Or(ctx.Err(), p.lost); err != nil {
		return err
	}
	if a.show != "" {
		text, err := os.ReadFile(filepath.Join(p.Folder, filepath.FromSlash(a.show)))
		if err != nil {
			return tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("file", a.show), "step %d cannot show %s: %w", number, a.show, err)
		}
		p.short(func(out io.Writer) { _, _ = out.Write(text) }) // where the output is gone, there is nobody to tell
		p.printf("\n")
	} else {
		status := 0
		p.short(func(out io.Writer) { status = p.Run(ctx, a.args, out) })
		p.printf("\n")
		if err := ctx.Err(); err != nil {
			return err
		}
		if status != a.status {
			return tidegate.Errorf(tidegate.Internal, tidegate.Pairs("command", a.line(), "status", status, "expected", a.status),
				"step %d ended with exit status %d, and the story expects %d: %s", number, status, a.status, a.line())
		}
	}
	if a.after != "" {
		p.printf("%s\n\n", p.fill(a.after))
	}
	return nil
}

// line is what a user would type.
func (a action) line() string {
	if a.show != "" {
		return "cat " + a.show
	}
	words := []string{"tidegate"}
	for _, arg := range a.args {
		if strings.ContainsAny(arg, " ?*") {
			arg = `"` + arg + `"`
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// short has something printed, of which a terminal is shown a part.
func (p *Player) short(print func(out io.Writer)) {
	if p.whole == nil {
		print(p.Out)
		return
	}
	s := &shortened{out: p.Out, whole: p.whole}
	print(s)
	s.end()
}

// printf prints until the output is lost.
func (p *Player) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if _, err := io.WriteString(p.Out, text); err != nil && p.lost == nil {
		p.lost = tidegate.Errorf(tidegate.WriteFailed, nil, "the story cannot be printed: %w", err)
	}
	if p.whole != nil {
		_, _ = p.whole.Write(colors().ReplaceAll([]byte(text), nil))
	}
}

func (p *Player) strong(text string) string {
	if !p.Color {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// fill breaks running text into lines of at most 78 columns.
func (p *Player) fill(text string) string {
	width := 78
	if p.Width > 0 {
		width = min(p.Width, width)
	}
	return report.Filled(text, width)
}
