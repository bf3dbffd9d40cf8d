package codereview

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/tool"
)

// lifeCommands begin and end changes.
func lifeCommands(env commands) []cli.Command {
	return []cli.Command{{
		Path: "change new", Operands: []tool.Operand{{Name: "WANTED", About: "what the change is to do"}},
		Run: env.changeNew,
	}, {
		Path: "change merge", Operands: changeOperand,
		Flags: []tool.Flag{{Name: "squash", About: "make one commit of the change", Kind: tool.Switch}},
		Run:   env.changeMerge,
	}, {
		Path: "change abandon", Operands: changeOperand,
		Run: env.changeAbandon,
	}, {
		Path: "change clean",
		Run:  env.changeClean,
	}}
}

func byTerminal(ctx context.Context) context.Context {
	return tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
}

// changeOperand is the change that a person names.
var changeOperand = []tool.Operand{{Name: "ID", About: "the change, as its folder is named"}}

func (e commands) changeNew(ctx context.Context, call cli.Invocation) error {
	started, made, err := change.New(byTerminal(ctx), e.OwnDesk(), e.Project, call.Args[0])
	if err != nil {
		return err
	}
	r := report.Report{Name: "change_new", Title: "Change " + started.ChangeID, Summary: started.Message}
	if made != "" {
		r.Add(report.Paragraph(madeFolder(made)))
	}
	r.Add(report.Fields{{Name: "Proposal", Value: e.OwnDesk().ChangesFolder() + "/changes/" + started.ChangeID + "/proposal.md"}, {Name: "Next", Value: "tidegate change run " + started.ChangeID}})
	return call.Render(r)
}

// madeFolder says that the folder of changes was made.
func madeFolder(path string) string {
	return fmt.Sprintf("The project had no folder of changes: %s was made. The key `changes` of your own tidegate.toml names another place.", path)
}

func (e commands) changeMerge(ctx context.Context, call cli.Invocation) error {
	id := call.Args[0]
	loaded, err := config.Load(ctx, config.Places{Dir: e.Project, User: e.ConfigDir, Getenv: e.Getenv})
	if err != nil {
		return err
	}
	merged, err := change.Merge(byTerminal(ctx), e.OwnDesk(), e.Project, id, loaded.Change.Author,
		loaded.Change.Message, call.Flag("squash") == "true")
	if err != nil {
		return err
	}
	r := report.Report{Name: "change_merge", Title: "Change " + id, Summary: fmt.Sprintf("merged: %.12s has what was reviewed", merged.Commit)}
	r.Add(report.Fields{{Name: "Files", Value: fmt.Sprintf("%d added, %d changed, %d deleted", merged.Added, merged.Changed, merged.Deleted)},
		{Name: "Next", Value: "tidegate change clean"}})
	return call.Render(r)
}

func (e commands) changeAbandon(ctx context.Context, call cli.Invocation) error {
	id := call.Args[0]
	if err := change.Abandon(byTerminal(ctx), e.OwnDesk(), e.Project, id); err != nil {
		return err
	}
	r := report.Report{Name: "change_abandon", Title: "Change " + id, Summary: "abandoned"}
	r.Add(report.Fields{{Name: "Next", Value: "tidegate change clean"}})
	return call.Render(r)
}

func (e commands) changeClean(ctx context.Context, call cli.Invocation) error {
	removed, err := change.Clean(byTerminal(ctx), e.OwnDesk(), e.Project)
	if err != nil {
		return err
	}
	r := report.Report{Name: "change_clean", Title: "Changes that have ended", Summary: report.Counted(len(removed), "change") + " cleaned up"}
	var lines report.Bullets
	for _, one := range removed {
		lines = append(lines, fmt.Sprintf("%s, which led to %s, and its worktree", one.Branch, one.Commit))
	}
	if len(lines) > 0 {
		r.Add(lines)
	}
	return call.Render(r)
}
