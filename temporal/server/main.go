package server

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/cli"
)

const about = `tidegate-temporal-dev runs a Temporal server until it is interrupted. It listens on the
loopback alone, asks nobody who they are, and keeps everything in memory, or in a file.
It is for trying out a pool on one machine, not for a team.

`

// Main runs a server as a command line asks for it, and returns the exit status.
func Main(args []string) int {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	flags := flag.NewFlagSet("tidegate-temporal-dev", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), about)
		flags.PrintDefaults()
	}
	var o Options
	flags.IntVar(&o.Port, "port", 7233, "the `port`; 0 for any")
	flags.StringVar(&o.File, "file", "", "keep everything in this `file`, instead of in memory")
	flags.StringVar(&o.Namespace, "namespace", "default", "the `namespace` that there is")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return cli.Status(tidegate.ClassOf(tidegate.InvalidArgs))
	case flags.NArg() > 0 || o.Port < 0 || o.Port > 65535:
		err = tidegate.Errorf(tidegate.InvalidArgs, nil, "expected --port from 0 to 65535, --file and --namespace, and nothing else")
	default:
		err = serve(o, stop)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tidegate-temporal-dev:", err)
	}
	return cli.Status(tidegate.ClassOf(tidegate.CodeOf(err)))
}

// serve runs a server until it is told to stop.
func serve(o Options, stop <-chan os.Signal) error {
	s, err := Start(o)
	if err != nil {
		return err
	}
	fmt.Printf("The server listens at %s, namespace %s. Ctrl-C ends it.\n", s.Address, o.Namespace)
	<-stop
	return s.Stop()
}
