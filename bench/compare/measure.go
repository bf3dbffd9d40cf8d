package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// program is one thing to measure.
type program struct {
	argv   []string
	dir    string
	judges bool // may end with status 1, which says that it found something
}

func review(binary, folder string) program {
	return program{[]string{binary, "wave", "review", filepath.Join(folder, "perspectives.json"), filepath.Join(folder, "wave-1"), "--format", "json"}, folder, true}
}

// wordCount counts the words of the same outputs.
func wordCount(folder string) (program, error) {
	outputs := filepath.Join(folder, "wave-1")
	entries, err := os.ReadDir(outputs)
	if err != nil {
		return program{}, err
	}
	argv := []string{"wc", "-w"}
	for _, e := range entries {
		argv = append(argv, e.Name())
	}
	return program{argv, outputs, false}, nil
}

// run returns the wall time in milliseconds and the most memory in KiB.
func (p program) run() (elapsed float64, memory int64, err error) {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	begin := time.Now()
	err = cmd.Run()
	elapsed = float64(time.Since(begin)) / 1e6
	if cmd.ProcessState == nil {
		return 0, 0, err
	}
	if err != nil && !(p.judges && cmd.ProcessState.ExitCode() == 1) {
		return 0, 0, fmt.Errorf("%s: %w", p.argv[0], err)
	}
	return elapsed, maxMemory(cmd.ProcessState), nil
}

// pairs is what runs of two programs in turn show; times are medians.
type pairs struct {
	first, second      float64
	ratio, least, most float64 // of first to second, pair by pair
	memory             int64   // of the first, the most of all runs
}

// alternate runs the two programs in turn, after one run of each that does not
// count and fills the cache.
func (o options) alternate(first, second program) (pairs, error) {
	var p pairs
	var firsts, seconds, ratios []float64
	for i := range o.pairs + 1 {
		a, memory, err := first.run()
		if err != nil {
			return p, err
		}
		b, _, err := second.run()
		if err != nil {
			return p, err
		}
		p.memory = max(p.memory, memory)
		if i == 0 && o.pairs > 1 {
			continue
		}
		firsts, seconds, ratios = append(firsts, a), append(seconds, b), append(ratios, a/b)
		if o.pairs == 1 {
			break
		}
	}
	p.first, p.second, p.ratio = median(firsts), median(seconds), median(ratios)
	p.least, p.most = slices.Min(ratios), slices.Max(ratios)
	return p, nil
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// sizeOf is the number of bytes of the outputs.
func sizeOf(folder string) (size int64, err error) {
	entries, err := os.ReadDir(filepath.Join(folder, "wave-1"))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, err
}
