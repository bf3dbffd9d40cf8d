package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/test/must"
)

// block is the block of docs/machines.md that is written in a language.
func block(t *testing.T, language string) string {
	t.Helper()
	text := must.Get(os.ReadFile("../../../docs/machines.md"))(t)
	found := regexp.MustCompile("(?s)\n```" + language + "\n(.*?)\n```").FindSubmatch(text)
	if found == nil {
		t.Fatalf("docs/machines.md has no block of %s", language)
	}
	return string(found[1])
}

// TestComposeFile reads the compose file of docs/machines.md: it names what it uses, keeps
// its password elsewhere, and opens the server to this machine alone.
func TestComposeFile(t *testing.T) {
	type service struct {
		Image       string            `yaml:"image"`
		DependsOn   []string          `yaml:"depends_on"`
		Environment map[string]string `yaml:"environment"`
		Ports       []string          `yaml:"ports"`
		Volumes     []string          `yaml:"volumes"`
	}
	var compose struct {
		Services map[string]service  `yaml:"services"`
		Volumes  map[string]struct{} `yaml:"volumes"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(block(t, "yaml")))
	decoder.KnownFields(true)
	must.Do(t, decoder.Decode(&compose))
	if len(compose.Services) != 2 || !slices.Equal(compose.Services["temporal"].Ports, []string{"127.0.0.1:7233:7233"}) {
		t.Errorf("the services are %+v", compose.Services)
	}
	pinned := regexp.MustCompile(`^[a-z/-]+:[0-9.]+$`)
	for name, s := range compose.Services {
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %q names no version", name, s.Image)
		}
		for _, other := range s.DependsOn {
			if _, there := compose.Services[other]; !there {
				t.Errorf("%s depends on %s, which is not there", name, other)
			}
		}
		for _, volume := range s.Volumes {
			volume, _, _ = strings.Cut(volume, ":")
			if _, there := compose.Volumes[volume]; !there {
				t.Errorf("%s uses the volume %s, which is not there", name, volume)
			}
		}
		for key, value := range s.Environment {
			if (strings.Contains(key, "PASSWORD") || strings.Contains(key, "PWD")) && value != "${POSTGRES_PASSWORD:?}" {
				t.Errorf("%s: %s is %q", name, key, value)
			}
		}
	}
	if _, there := compose.Services[compose.Services["temporal"].Environment["POSTGRES_SEEDS"]]; !there {
		t.Error("the server's database is not among the services")
	}
}

// TestUnitOfSystemd has systemd judge the unit of docs/machines.md, where it is installed.
// It begins again with a pause.
func TestUnitOfSystemd(t *testing.T) {
	if !regexp.MustCompile(`(?m)^Restart=on-failure\nRestartSec=\d+$`).MatchString(block(t, "ini")) {
		t.Error("a worker that fails is not started again, or without a pause")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	program := must.Get(os.Executable())(t)
	unit := block(t, "ini")
	verify := func(text string) string {
		file := filepath.Join(t.TempDir(), "tidegate-worker.service")
		must.Do(t, os.WriteFile(file, []byte(strings.Replace(text, "/usr/local/bin/tidegate-worker", program, 1)), 0o600))
		said, err := exec.Command(analyze, "verify", file).CombinedOutput()
		if err != nil {
			return err.Error() + ": " + string(said)
		}
		return string(said)
	}
	if said := verify(unit); said != "" {
		t.Error(said)
	}
	if said := verify(unit + "\nNonsense=1\n"); !strings.Contains(said, "Nonsense") {
		t.Errorf("systemd does not mind nonsense: %q", said)
	}
}

// TestCommandsOfTheDocument holds every command line of docs/machines.md to the program:
// each of its flags stands in the help of its command.
func TestCommandsOfTheDocument(t *testing.T) {
	text := must.Get(os.ReadFile("../../../docs/machines.md"))(t)
	helps := map[string]string{}
	flag := regexp.MustCompile(`--[a-z-]+`)
	lines := 0
	for _, line := range regexp.MustCompile("(?m)(?:^|/bin/|`)tidegate-worker( [^`\n]*)").FindAllStringSubmatch(string(text), -1) {
		command := regexp.MustCompile(`^ (research|run continue|--[a-z])`).FindString(line[1])
		switch {
		case command == "":
			continue
		case strings.HasPrefix(command, " --"):
			command = "work"
		}
		command = strings.TrimSpace(command)
		if helps[command] == "" {
			p := begin(t, nil, append(strings.Fields(command), "--help")...)
			if status := p.ends(); status != 0 {
				t.Fatalf("%s --help: exit status %d", command, status)
			}
			helps[command] = p.text()
		}
		lines++
		for _, name := range flag.FindAllString(line[1], -1) {
			if !regexp.MustCompile(name + `\b`).MatchString(helps[command]) {
				t.Errorf("%s has no %s: tidegate-worker%s", command, name, line[1])
			}
		}
	}
	if lines < 6 || len(helps) < 3 {
		t.Errorf("only %d command lines of %d commands were read", lines, len(helps))
	}
	for _, name := range []string{"--tls", "--tls-ca", "--tls-server-name", "--tls-cert", "--tls-key", "--api-key", "--payload-key", "--storage", "--lost-after", "--patience", "--models", "--no-network", "--parallel", "--metrics"} {
		if !strings.Contains(string(text), name) || !strings.Contains(helps["work"]+helps["research"], name) {
			t.Errorf("%s is not in the document, or not in the program", name)
		}
	}
}
