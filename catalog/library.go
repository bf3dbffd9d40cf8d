package catalog

import (
	"context"

	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/tool"
)

func libraryTools(env tools) []*tool.Tool {
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "ask", Set: "run", Core: true, Effect: tool.Reads, Idempotent: true,
		}, func(ctx context.Context, call tool.Caller, in library.AskInput) (library.Consulted, error) {
			in.Runs = env.Home
			return library.Consult(ctx, env.Desk(call.Reach), in)
		}),
		declare(tool.Spec{
			Name: "run_compare", Set: "run", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{
				Path: "run compare", Formats: []string{"markdown"},
				Operands: []tool.Operand{
					{Name: "A", Field: "a", About: "the earlier run or audit, by its id, the beginning of it, or its folder"},
					{Name: "B", Field: "b", About: "the later one"},
				},
			},
		}, func(ctx context.Context, call tool.Caller, in library.CompareInput) (library.Compared, error) {
			in.Runs, in.Dir = env.Home, env.Dir
			return library.Compare(ctx, env.Desk(call.Reach), in)
		}),
		declare(tool.Spec{
			Name: "find", Set: "run", Effect: tool.Writes, Idempotent: true, Person: true,
			Command: &tool.Command{
				Path: "find", Formats: []string{"markdown"}, Rename: map[string]string{"max_results": "max"},
				Operands: []tool.Operand{{Name: "WORD", Field: "words", About: "the words to look for; a word finds those that begin with it, too", Repeats: true}},
			},
		}, func(ctx context.Context, call tool.Caller, in library.FindInput) (library.FindResult, error) {
			in.Runs = env.Home
			return library.Find(ctx, env.Desk(call.Reach), in)
		}),
	}
}
