package research

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/brief"
)

// orderOf reads what was typed, and what it names. It returns INVALID_ARGS, what is wrong
// with the file of perspectives, and the errors of [dispatch.Env.Read].
func (e commands) orderOf(ctx context.Context, call cli.Invocation) (o dispatch.Order, err error) {
	if call.Flag("again") != "" {
		return e.orderAgain(ctx, call)
	}
	if len(call.Args) == 0 || strings.TrimSpace(call.Args[0]) == "" {
		return o, brief.NoQuestion()
	}
	o.Query = strings.TrimSpace(call.Args[0])
	typed := maps.Clone(call.Flags)
	if text := call.Flag("perspectives"); text != "" {
		if _, err := strconv.Atoi(text); err != nil {
			if o.Contracts, err = dispatch.ReadPerspectives(e.Absolute(text)); err != nil {
				return o, err
			}
			delete(typed, "perspectives")
		}
	}
	template, err := catalog.ReadTemplate(artifact.Everywhere, e.Dir, call.Flag("template"))
	if err != nil {
		return o, err
	}
	if template != "" {
		typed["template"] = []string{template}
	}
	if err = brief.Read(&o.Brief, brief.Options, typed); err == nil {
		err = o.Check()
	}
	if err == nil {
		err = e.Read(ctx, &o)
	}
	return o, err
}

// orderAgain is the order of a finished run once more.
func (e commands) orderAgain(ctx context.Context, call cli.Invocation) (o dispatch.Order, err error) {
	name := call.Flag("again")
	for _, other := range []struct {
		typed bool
		what  string
	}{{len(call.Args) > 0, "a question"}, {call.Flag("from") != "", "--from"}} {
		if other.typed {
			return o, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("again", tidegate.Cut(name)), "give %s or --again, which asks the question of a run", other.what)
		}
	}
	if err = brief.Read(&o.Brief, again, call.Flags); err == nil {
		o, err = e.AskAgain(ctx, o, name)
	}
	if err == nil {
		err = e.ReadDocuments(&o)
	}
	return o, err
}
