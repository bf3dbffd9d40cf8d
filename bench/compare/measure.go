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
	judges bool // may end with status 1, which means that it found something
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

// cost is what one run took.
type cost struct {
	wall, cpu float64 // milliseconds
	memory    int64   // KiB
}

func (p program) run() (cost, error) {
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	begin := time.Now()
	err := cmd.Run()
	wall := time.Since(begin)
	state := cmd.ProcessState
	if state == nil || err != nil && !(p.judges && state.ExitCode() == 1) {
		return cost{}, fmt.Errorf("%s: %w", p.argv[0], err)
	}
	return cost{milliseconds(wall), milliseconds(state.UserTime() + state.SystemTime()), maxMemory(state)}, nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

// pairs is the result of running two programs in turn.
type pairs struct {
	first, second      cost    // medians; for memory the maximum
	ratio, least, most float64 // of the wall times, pair by pair
}

// alternate runs the two programs in turn, after one uncounted run of each that
// fills the cache.
func alternate(n int, first, second program) (pairs, error) {
	var firsts, seconds []cost
	for range n + 1 {
		a, err := first.run()
		if err != nil {
			return pairs{}, err
		}
		b, err := second.run()
		if err != nil {
			return pairs{}, err
		}
		firsts, seconds = append(firsts, a), append(seconds, b)
	}
	firsts, seconds = firsts[1:], seconds[1:]
	var ratios []float64
	for i := range firsts {
		ratios = append(ratios, firsts[i].wall/seconds[i].wall)
	}
	return pairs{middle(firsts), middle(seconds), median(ratios), slices.Min(ratios), slices.Max(ratios)}, nil
}

func middle(runs []cost) (m cost) {
	var walls, cpus []float64
	for _, r := range runs {
		walls, cpus = append(walls, r.wall), append(cpus, r.cpu)
		m.memory = max(m.memory, r.memory)
	}
	m.wall, m.cpu = median(walls), median(cpus)
	return m
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// sizeOf is the size of the outputs in bytes.
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
