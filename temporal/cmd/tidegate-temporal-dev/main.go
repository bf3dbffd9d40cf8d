// Command tidegate-temporal-dev is a Temporal server for trying out a pool on one
// machine. It is a program of its own, because the server is many times as large as the
// worker.
package main

import (
	"os"

	"github.com/tidegate/tidegate/temporal/server"
)

func main() { os.Exit(server.Main(os.Args[1:])) }
