package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/temporal/server"
	"github.com/tidegate/tidegate/tool"
)

func devCommand() cli.Command {
	return cli.Command{
		Path:  "dev",
		Short: "Run a Temporal server inside this program, to try things out",
		Long: `Run a Temporal server inside this program, until interrupted. It listens on the
loopback alone, asks nobody who they are, and keeps everything in memory, or in a
file. It is for trying out a pool on one machine, not for a team.`,
		Example: "tidegate-worker dev\ntidegate-worker dev --port 7233 --file server.db",
		Flags: []cli.Flag{
			{Name: "port", About: "the port; 0 for any", Default: "7233"},
			{Name: "file", About: "keep everything in this `file`, instead of in memory", Kind: tool.PathFlag},
			{Name: "namespace", About: "the namespace that there is", Default: "default"},
		},
		Run: func(ctx context.Context, call cli.Invocation) error {
			port, err := strconv.Atoi(call.Flag("port"))
			if err != nil || port < 0 || port > 65535 {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("port", tidegate.Cut(call.Flag("port"))), "--port must be a number from 0 to 65535, got %q", tidegate.Cut(call.Flag("port")))
			}
			s, err := server.Start(server.Options{Port: port, File: call.Flag("file"), Namespace: call.Flag("namespace")})
			if err != nil {
				return err
			}
			fmt.Fprintf(call.Stdout, "The server listens at %s, namespace %s. Ctrl-C ends it.\n", s.Address, call.Flag("namespace"))
			<-ctx.Done()
			return s.Stop()
		},
	}
}
