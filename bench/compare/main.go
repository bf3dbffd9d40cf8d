// Command compare measures tidegate against outside programs on the same files,
// in one run, and prints the ratios of docs/evidence.md:
//
//	go run ./bench/compare
//	go run ./bench/compare -npm      also markdownlint-cli2 and rumdl, installed into a temporary folder
//
// It must be started in the root of the module. Runs of two programs alternate, so
// that whatever else the machine does affects both. The tables show the median of
// the ratios of neighbouring runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tidegate/tidegate/bench/sample"
)

type options struct {
	outputs int
	pairs   int
	npm     bool
}

func main() {
	var o options
	flag.IntVar(&o.outputs, "outputs", 10000, "outputs of the large waves")
	flag.IntVar(&o.pairs, "pairs", 11, "pairs of runs of which the median is taken")
	flag.BoolVar(&o.npm, "npm", false, "install and measure markdownlint-cli2 and rumdl, once each")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func (o options) run() error {
	dir, err := os.MkdirTemp("", "tidegate-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "tidegate")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/tidegate") // as internal/release does
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the program cannot be built: %w\n%s", err, out)
	}
	fmt.Println(machine())
	waves := []struct {
		name string
		wave sample.Wave
	}{
		{"ASCII", sample.Wave{Outputs: o.outputs, Words: 850, Failing: 0.1}},
		{"5 % non-ASCII words", sample.Wave{Outputs: o.outputs, Words: 850, NonASCII: 0.05, Failing: 0.1}},
		{"a tenth of the outputs", sample.Wave{Outputs: o.outputs / 10, Words: 850, Failing: 0.1}},
	}
	folders := make([]string, len(waves))
	for i, w := range waves {
		folders[i] = filepath.Join(dir, fmt.Sprint("wave", i))
		if err := os.Mkdir(folders[i], 0o700); err != nil {
			return err
		}
		if err := w.wave.Write(folders[i]); err != nil {
			return err
		}
	}
	fmt.Printf("| wave | bytes | wave review | wc -w | ratio | spread | CPU time | CPU time of wc -w | memory |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for i, w := range waves[:2] {
		count, err := wordCount(folders[i])
		if err != nil {
			return err
		}
		p, err := alternate(o.pairs, review(binary, folders[i]), count)
		if err != nil {
			return err
		}
		size, err := sizeOf(folders[i])
		if err != nil {
			return err
		}
		fmt.Printf("| %d outputs, %s | %.1f MB | %.0f ms | %.0f ms | %.2f | %.2f–%.2f | %.0f ms | %.0f ms | %.0f MiB |\n", w.wave.Outputs, w.name,
			float64(size)/1e6, p.first.wall, p.second.wall, p.ratio, p.least, p.most, p.first.cpu, p.second.cpu, float64(p.first.memory)/1024)
	}
	if err := o.growth(binary, folders); err != nil {
		return err
	}
	if err := o.cold(binary, folders[2]); err != nil {
		return err
	}
	if o.npm {
		return o.linters(binary, dir, folders[2])
	}
	return nil
}

// growth compares the time per output of a large wave with that of a wave a tenth
// of its size.
func (o options) growth(binary string, folders []string) error {
	p, err := alternate(o.pairs, review(binary, folders[0]), review(binary, folders[2]))
	if err != nil {
		return err
	}
	fmt.Printf("\n| outputs | wave review | per output | ratio per output |\n| ---: | ---: | ---: | ---: |\n")
	small := o.outputs / 10
	fmt.Printf("| %d | %.0f ms | %.1f µs | 1 |\n", small, p.second.wall, 1000*p.second.wall/float64(small))
	fmt.Printf("| %d | %.0f ms | %.1f µs | %.2f |\n", o.outputs, p.first.wall, 1000*p.first.wall/float64(o.outputs), p.ratio*float64(small)/float64(o.outputs))
	return nil
}

// cold compares one call from the start of the process with the start of node.
func (o options) cold(binary, folder string) error {
	node, err := exec.LookPath("node")
	if err != nil {
		fmt.Println("\nnode is absent: the cold start is not compared.")
		return nil
	}
	args := fmt.Sprintf(`{"perspectives_path":%q,"perspective_id":"p00001","markdown_path":%q}`,
		filepath.Join(folder, "one.json"), filepath.Join(folder, "wave-1", "p00001.md"))
	one := `{"schema_version":"perspectives.v1","perspectives":[{"id":"p00001","prompt_contract":{"max_words":2000,"max_sources":12,"must_include_sections":["Sources"]}}]}`
	if err := os.WriteFile(filepath.Join(folder, "one.json"), []byte(one), 0o600); err != nil {
		return err
	}
	p, err := alternate(o.pairs,
		program{[]string{binary, "call", "deep_research_wave_output_validate", "--args", args}, folder, false},
		program{[]string{node, "-e", "0"}, folder, false})
	if err != nil {
		return err
	}
	fmt.Printf("\n| cold start | time | ratio |\n| --- | ---: | ---: |\n| tidegate call deep_research_wave_output_validate | %.1f ms | %.2f |\n| node -e 0 | %.1f ms | 1 |\n", p.first.wall, p.ratio, p.second.wall)
	return nil
}

// linters runs two Markdown linters over the files of the small wave, each once
// next to a review. They check other things; the figures give a sense of scale.
func (o options) linters(binary, dir, folder string) error {
	install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, "markdownlint-cli2", "rumdl")
	if out, err := install.CombinedOutput(); err != nil {
		fmt.Printf("\nThe linters cannot be installed: %v %s\n", err, out)
		return nil
	}
	fmt.Printf("\n| program, on %d outputs | time | wave review beside it | ratio |\n| --- | ---: | ---: | ---: |\n", o.outputs/10)
	for _, linter := range []struct {
		name string
		args []string
	}{
		{"markdownlint-cli2", []string{"*.md"}},
		{"rumdl", []string{"check", "--no-cache", "."}},
	} {
		argv := append([]string{filepath.Join(dir, "node_modules", ".bin", linter.name)}, linter.args...)
		p, err := alternate(1, review(binary, folder), program{argv, filepath.Join(folder, "wave-1"), true})
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f s | %.3f s | %.4f |\n", linter.name, p.second.wall/1000, p.first.wall/1000, p.ratio)
	}
	return nil
}
