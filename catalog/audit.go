package catalog

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/tool"
)

// auditIn are the arguments of the commands that take an audit and nothing else.
type auditIn struct {
	AuditPath string `json:"audit_path" path:"absolute" jsonschema:"absolute path of the audit.json of an audit"`
}

var auditOperand = []tool.Operand{{Name: "AUDIT", About: "the audit, by its id, the beginning of it, or its folder"}}

// fillAudit turns the AUDIT that a person typed into the path of its file.
func (e tools) fillAudit(_ context.Context, typed tool.Typed, args *codec.Value) error {
	path, err := audit.Find(e.Desk(artifact.Everywhere), store.Audits.Home(e.Home), e.Dir, typed.Operands["AUDIT"])
	if err != nil {
		return err
	}
	args.Set("audit_path", codec.Of(path))
	return nil
}

// fillRunOrAudit is fillReadRun for a command that takes an audit, too.
func (e tools) fillRunOrAudit(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	err := e.fillReadRun(ctx, typed, args)
	if name := typed.Operands["RUN"]; name != "" && tidegate.CodeOf(err) == tidegate.FileNotFound {
		if path, ok := e.FindAudit(name); ok {
			args.Set("manifest_path", codec.Of(path))
			return nil
		}
	}
	return err
}

// fillReport takes the report that a person names: a file, an address, or standard
// input.
func (e tools) fillReport(ctx context.Context, typed tool.Typed, args *codec.Value) error {
	switch name := typed.Operands["REPORT"]; {
	case name == tool.Stdin:
		data, err := tool.ReadInput(ctx, typed.Input, "the report")
		if err != nil {
			return err
		}
		args.Set("report", codec.Of(string(data)))
	case strings.Contains(name, "://"):
		args.Set("url", codec.Of(name))
	case name != "":
		if !filepath.IsAbs(name) {
			name = filepath.Join(e.Dir, name)
		}
		args.Set("report_path", codec.Of(name))
	case !args.Get("demo").Bool():
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("REPORT", nil), "name the report: a file, its address, - for standard input, or --demo for a sample")
	}
	return nil
}

// withExports is a result that can be had as a page, and together with what was fetched,
// signed where a person names a key.
func (e tools) withExports(ctx context.Context, result foreign.Result) foreign.Result {
	page := func() ([]byte, error) { return paper.AuditOf(&result).HTML(), nil }
	archive := func() ([]byte, error) {
		var key *seal.Key
		if e.SignKey != "" {
			var err error
			if key, err = e.SealKey(); err != nil {
				return nil, err
			}
		}
		_, data, err := replay.SealAudit(ctx, e.Desk(artifact.Everywhere), filepath.Join(result.AuditPath, audit.File), key, e.Program, true)
		return data, err
	}
	result.Exports = map[string]func() ([]byte, error){"html": page, "wacz": archive}
	return result
}

func auditTools(env tools) []*tool.Tool {
	hidden := []string{"audit_path"}
	return []*tool.Tool{
		declare(tool.Spec{
			Name: "report_audit", Set: "citation", Core: true, Effect: tool.Writes, OpenWorld: true,
			PersonArgs: []string{"fail_on", "pages", "offline", "url", "explain", "compare", "demo", "verifier", "max_cost", "max_tokens"},
			Command: &tool.Command{
				Path: "audit", Operands: []tool.Operand{{Name: "REPORT", About: "the report: a file, its address, or - for standard input", Optional: true}},
				Hide: []string{"report_path", "report", "url"}, Fill: env.fillReport, Formats: []string{"markdown", "html", "wacz", "sarif", "github"},
			},
		}, func(ctx context.Context, call tool.Caller, in audit.Input) (foreign.Result, error) {
			in.Dir, in.Home = env.Dir, store.Audits.Home(env.Home)
			fetch := env.Pages(call)
			if in.Demo && env.Sample == nil {
				return foreign.Result{}, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no sample report here")
			}
			if in.Demo {
				in.Name, in.Report, fetch = env.Sample.Name, env.Sample.Report, env.Sample.Fetch
			}
			budget := map[string]float64{}
			for name, most := range map[string]float64{"max_cost_usd": in.MaxCost, "max_tokens": in.MaxTokens} {
				if most > 0 {
					budget[name] = most
				}
			}
			done := func() {}
			defer func() { done() }()
			switch {
			case in.Verifier == "none":
				in.Verifier = ""
			case in.Verifier == "" && call.Ask != nil && !in.Demo:
				in.Offer = func(ctx context.Context, sentences int) (name string, read audit.Reader, err error) {
					name, read, done, err = env.OfferReader(ctx, sentences, budget, call.Ask, call.Say)
					return name, read, err
				}
			case in.Verifier != "":
				if call.Say == nil {
					return foreign.Result{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("verifier", in.Verifier), "only the command audit drives agents")
				}
				read, end, err := env.SecondReader(ctx, in.Verifier, budget, call.Say)
				if err != nil {
					return foreign.Result{}, err
				}
				in.Read, done = read, end
			}
			result, err := audit.Make(ctx, env.Desk(call.Reach), fetch, in)
			if err == nil && tidegate.ActorOf(ctx).Kind == tidegate.Agent {
				return result.ForAgent(), nil
			}
			return env.withExports(ctx, result), err
		}),
		declare(tool.Spec{
			Name: "audit_list", Set: "citation", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{Path: "audit list", Formats: []string{"markdown"}},
		}, func(ctx context.Context, call tool.Caller, _ none) (audit.Listed, error) {
			return audit.List(ctx, env.Desk(call.Reach), store.Audits.Home(env.Home))
		}),
		declare(tool.Spec{
			Name: "audit_show", Set: "citation", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{Path: "audit show", Operands: auditOperand, Hide: hidden, Fill: env.fillAudit, Formats: []string{"markdown", "html", "wacz", "sarif", "github"}},
		}, func(ctx context.Context, call tool.Caller, in auditIn) (foreign.Result, error) {
			result, err := audit.Show(ctx, env.Desk(call.Reach), in.AuditPath)
			return env.withExports(ctx, result), err
		}),
		declare(tool.Spec{
			Name: "audit_verify", Set: "citation", Effect: tool.Reads, Idempotent: true, Person: true,
			Command: &tool.Command{Path: "audit verify", Operands: auditOperand, Hide: hidden, Fill: env.fillAudit, Formats: []string{"markdown", "junit"}},
		}, func(ctx context.Context, call tool.Caller, in auditIn) (audit.Verified, error) {
			return audit.Verify(ctx, env.Desk(call.Reach), in.AuditPath, env.Program)
		}),
	}
}
