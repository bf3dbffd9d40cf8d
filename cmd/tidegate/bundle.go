package main

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/tool"
)

// exportBundle writes what a person names into one file.
func exportBundle(ctx context.Context, env *catalog.Env, call cli.Invocation, file string) error {
	id, data, err := library.Export(ctx, env.Desk(artifact.Everywhere), env.Home, env.Dir, call.Args[0])
	if err != nil {
		return err
	}
	if err := artifact.Everywhere.WriteFile("bundle", file, data); err != nil {
		return err
	}
	out := report.Report{Name: "run_export", Title: "Bundle of " + id, Status: report.Pass, Summary: "all of it is in one file"}
	out.Add(report.Fields{{Name: "file", Value: file}, {Name: "bytes", Value: strconv.Itoa(len(data))}})
	return call.Show(out, "text")
}

func importCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "import", Operands: []tool.Operand{{Name: "FILE", About: "the bundle"}},
		Flags: []tool.Flag{formatFlag("text", "markdown")},
		Run: func(ctx context.Context, call cli.Invocation) error {
			path := call.Args[0]
			if !filepath.IsAbs(path) {
				path = filepath.Join(env.Dir, path)
			}
			data, err := readBundle(ctx, path)
			if err != nil {
				return err
			}
			imported, err := library.Import(ctx, env.Desk(artifact.Everywhere), env.Home, data)
			if err != nil {
				return tidegate.WithDetails(err, tidegate.Pairs("FILE", path))
			}
			return call.Show(imported.Report(), call.Flag("format"))
		},
	}
}

// readBundle reads a file that begins like a bundle and is not larger than one can be.
func readBundle(ctx context.Context, path string) ([]byte, error) {
	file, err := artifact.Everywhere.OpenFile("FILE", path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	begins := make([]byte, 64)
	if err == nil {
		n, _ := file.ReadAt(begins, 0)
		if !seal.BeginsBundle(begins[:n]) || info.Size() > math.MaxUint32 {
			return nil, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("FILE", path), "%s is not a bundle", path)
		}
		data := make([]byte, info.Size()) // at once, because growing takes three times as much
		if _, err = io.ReadFull(artifact.Until(ctx, file), data); err == nil {
			return data, nil
		}
	}
	return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("FILE", path), "%s cannot be read: %w", path, err)
}
