// Command generate writes a sample wave:
//
//	go run ./bench/generate -dir /tmp/wave -outputs 10000
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/tidegate/tidegate/bench/sample"
)

func main() {
	var wave sample.Wave
	dir := flag.String("dir", "", "an existing folder to write perspectives.json and wave-1 into")
	flag.IntVar(&wave.Outputs, "outputs", 1000, "number of outputs")
	flag.IntVar(&wave.Words, "words", 850, "words of each output, about")
	flag.Float64Var(&wave.NonASCII, "non-ascii", 0, "share of words with letters outside ASCII")
	flag.Float64Var(&wave.Failing, "failing", 0.1, "share of outputs that break their contract")
	flag.Parse()
	if *dir == "" {
		fmt.Fprintln(os.Stderr, "generate: -dir is required")
		os.Exit(2)
	}
	if err := wave.Write(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
