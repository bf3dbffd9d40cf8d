package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/replay"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

func reportCommand(env *catalog.Env) cli.Command {
	var formats []string
	for _, f := range reporting.Formats {
		formats = append(formats, f.Name)
	}
	return cli.Command{
		Path:     "report",
		Operands: []tool.Operand{{Name: "RUN", About: "the run, by its id, the beginning of it, or its folder"}},
		Flags: []tool.Flag{
			{Name: "format", About: "how to print the report (default by the ending of the file, else text on a terminal, else markdown)", Enum: formats},
			{Name: "output", About: "the `file` to write instead of printing", Kind: tool.PathFlag},
			{Name: "partial", About: "show what there is of a run that is not completed", Kind: tool.Switch},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			r, err := namedRun(ctx, env, call)
			if err != nil {
				return err
			}
			defer r.Close()
			reported, err := reporting.ReadReport(ctx, r, call.Flag("partial") == "true", env.Program)
			if err != nil {
				return err
			}
			return exportReport(ctx, call, reported)
		},
	}
}

// exportReport prints or writes a report. Charts of a Markdown file are files beside it.
func exportReport(ctx context.Context, call cli.Invocation, reported reporting.Reported) error {
	format, path := call.Flag("format"), call.Flag("output")
	onTerminal := path == "" && call.Terminal.Width > 0
	if format == "" && onTerminal {
		format = "text"
	}
	var files []string // the formats that a terminal cannot show
	for _, f := range reporting.Formats {
		if format == "" && path != "" && strings.EqualFold(filepath.Ext(path), "."+f.Ending) {
			format = f.Name
		}
		if f.Binary || f.Name == "html" && onTerminal {
			files = append(files, f.Name)
		}
	}
	var beside []paper.File
	format = cmp.Or(format, "markdown")
	var data []byte
	var err error
	switch {
	case path == "" && slices.Contains(files, format):
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("output", nil), "--format %s needs --output FILE: it is not for a terminal", format)
	case format == "text" && onTerminal:
		data = reported.Report.Text(call.Terminal.Width, call.Terminal.Color)
	case format == "markdown" && path != "":
		data, beside = reported.Report.MarkdownFiles(filepath.Base(path))
	default:
		data, err = reported.Export(ctx, format, printPDF)
	}
	if err != nil {
		return err
	}
	if path == "" {
		_, err = call.Stdout.Write(data)
		return err
	}
	for _, chart := range beside {
		if err := artifact.Everywhere.WriteFile("output", filepath.Join(filepath.Dir(path), chart.Name), chart.Data); err != nil {
			return err
		}
	}
	return artifact.Everywhere.WriteFile("output", path, data)
}

// namedRun opens for reading the run that a person names by its id, the beginning of
// its id, or its folder.
func namedRun(ctx context.Context, env *catalog.Env, call cli.Invocation) (*run.Run, error) {
	manifest, _, err := run.FindByBeginning(env.Desk(artifact.Everywhere), env.Home, env.Dir, call.Args[0])
	if err != nil {
		return nil, err
	}
	return run.Open(ctx, env.Desk(artifact.Everywhere), manifest)
}

func sealCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:     "run seal",
		Operands: []tool.Operand{{Name: "RUN", About: "the run or audit, by its id, the beginning of it, or its folder"}},
		Flags: []tool.Flag{
			{Name: "format", About: "what to write", Default: "sealed", Enum: []string{"sealed", "wacz"}},
			{Name: "output", About: "the `file` to write (default RUN.sealed or RUN.wacz in the working folder)", Kind: tool.PathFlag},
			{Name: "statements", About: "write in-toto statements about the gates of a run beside it, with the ending .intoto.jsonl", Kind: tool.Switch},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			if env.SignKey == "" {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("sign", nil), "a seal is a signature: name your key with --sign, or in TIDEGATE_SIGN_KEY")
			}
			key, err := env.SealKey()
			if err != nil {
				return err
			}
			format := call.Flag("format")
			id, data, stated, err := sealed(ctx, env, call, key, format == "wacz")
			if err != nil {
				return err
			}
			output := cmp.Or(call.Flag("output"), filepath.Join(env.Dir, id+"."+format))
			shown := replay.SealReport(id, output, len(data), key, format == "wacz")
			if err := artifact.Everywhere.WriteFile("output", output, data); err != nil {
				return err
			}
			if stated != nil {
				beside := output + ".intoto.jsonl"
				if err := artifact.Everywhere.WriteFile("output", beside, stated); err != nil {
					return err
				}
				shown.Add(report.Fields{{Name: "statements", Value: beside}})
			}
			return call.Show(shown, "text")
		},
	}
}

// sealed seals the run or the audit that a person names. Stated are statements about the
// gates of a run, where they are asked for.
func sealed(ctx context.Context, env *catalog.Env, call cli.Invocation, key *seal.Key, wacz bool) (id string, data, stated []byte, err error) {
	states := call.Flag("statements") == "true"
	r, err := namedRun(ctx, env, call)
	if tidegate.CodeOf(err) == tidegate.FileNotFound && !states {
		if path, ok := env.FindAudit(call.Args[0]); ok {
			id, data, err = replay.SealAudit(ctx, env.Desk(artifact.Everywhere), path, key, env.Program, wacz)
			return id, data, nil, err
		}
	}
	if err != nil {
		return "", nil, nil, err
	}
	defer r.Close()
	if states {
		data, stated, err = replay.SealAndState(ctx, r, key, env.Program, wacz)
	} else {
		data, err = replay.Seal(ctx, r, key, env.Program, wacz)
	}
	return r.ID(), data, stated, err
}

func verifyCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:     "verify",
		Operands: []tool.Operand{{Name: "FILE", About: "the sealed run, or what the home keeps, by its id"}},
		Flags: []tool.Flag{
			{Name: "signers", About: "an OpenSSH allowed_signers `file` that says whose signatures count", Kind: tool.PathFlag},
			formatFlag("text", "markdown", "junit"),
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			path := call.Args[0]
			if path, ok := env.FindAudit(path); ok {
				verified, err := audit.Verify(ctx, env.Desk(artifact.Everywhere), path, env.Program)
				if err != nil {
					return err
				}
				return call.Show(verified.Report(), call.Flag("format"))
			}
			if path, ok := library.FindKept(env.Desk(artifact.Everywhere), env.Home, env.Dir, path); ok {
				verified, err := library.Verify(ctx, env.Desk(artifact.Everywhere), env.Home, path)
				if err != nil {
					return err
				}
				return call.Show(verified.Report(), call.Flag("format"))
			}
			if !filepath.IsAbs(path) {
				path = filepath.Join(env.Dir, path)
			}
			data, err := artifact.Everywhere.ReadFile("FILE", path)
			listed := cmp.Or(call.Flag("signers"), env.Config.Signers)
			if listed == "" {
				typed := call.Args[0]
				if _, _, found := run.FindByBeginning(env.Desk(artifact.Everywhere), env.Home, env.Dir, typed); err != nil && found == nil {
					return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("FILE", tidegate.Cut(typed)),
						"%s is a run: `tidegate run verify %[1]s` holds it against its log; this command verifies the file that `tidegate run seal` writes", report.ShellWord(tidegate.Cut(typed)))
				}
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("signers", nil), "--signers must name an allowed_signers file: a signature shows nothing unless you know whose it is")
			}
			if err != nil {
				return err
			}
			signers, err := seal.ReadSigners(artifact.Everywhere, "signers", listed)
			if err != nil {
				return err
			}
			unsealed, err := replay.Unseal(ctx, env.Desk(artifact.Everywhere), replay.UnsealInput{Data: data, Signers: signers, At: env.Now(), Program: env.Program})
			if err != nil {
				return err
			}
			return call.Show(unsealed.Report(), call.Flag("format"))
		},
	}
}
