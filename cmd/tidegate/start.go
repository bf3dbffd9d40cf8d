//go:build !man

package main

import "os"

func main() { os.Exit(status()) }
