package client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/agents"
)

// standIn is what a stand-in for the client of that name does.
func standIn(name, scene string) {
	if name == "keeper" {
		keeper()
		return
	}
	if name == "home" {
		home()
		return
	}
	d := dialects[name]
	if d.version != "" && d.inquiry(scene) {
		return
	}
	switch scene {
	case "hang at start":
		hang()
	case "child":
		child()
	case "wrong version": // of the protocol
		expect("initialize", `{"protocolVersion":99}`)
		io.Copy(io.Discard, input)
	}
	prompt := d.prompt()
	switch scene {
	case "plain":
		d.answer(1)
	case "split":
		d.answer(40)
	case "echo":
		d.begin()
		d.say(prompt)
		d.finish(prompt)
	case "environment":
		text := strings.Join(os.Environ(), "\n")
		d.begin()
		d.say(text)
		d.finish(text)
	case "switches":
		settings, _ := os.ReadFile(".gemini/settings.json")
		text := strings.Join(os.Args, " ") + " " + os.Getenv("OPENCODE_CONFIG_CONTENT") + " " + string(settings)
		d.begin()
		d.say(text)
		d.finish(text)
	case "hang after the answer":
		d.answer(1)
		hang()
	case "deaf after the answer":
		signal.Ignore(syscall.SIGTERM)
		d.answer(1)
		hang()
	case "half a line":
		d.begin()
		half := d.written(func() { d.say(agents.Answer) })
		os.Stdout.Write(half[:len(half)/2])
	case "garbage":
		os.Stdout.Write(garbage())
	case "garbage around":
		os.Stdout.Write(garbage())
		d.answer(2)
	case "unknown events":
		d.begin()
		fmt.Println(strings.Join(oddLines, "\n"))
		d.say(agents.Answer)
		fmt.Println(strings.Join(oddLines, "\n"))
		d.finish(agents.Answer)
	case "100 MB":
		d.begin()
		line := bytes.Repeat([]byte("x"), 1<<20)
		for range 100 {
			if _, err := os.Stdout.Write(line); err != nil {
				return
			}
		}
		d.finish(agents.Answer)
	case "long answer":
		long := strings.Repeat("many words ", 60_000)
		d.begin()
		d.say(long)
		d.finish(long)
	case "no answer":
		d.begin()
		d.finish("")
	case "exit 1":
		d.begin()
		fmt.Fprintln(os.Stderr, "\x1b[31mout of\tpaper\x1b[0m")
		os.Exit(1)
	case "exit 1 after the answer":
		d.answer(1)
		os.Exit(1)
	case "exit 0 without result":
		d.begin()
	case "killed":
		d.begin()
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	case "child left behind":
		leaveChild()
		d.answer(1)
	case "children at the deadline":
		leaveChild()
		signal.Ignore(syscall.SIGTERM)
		d.begin()
		hang()
	case "locked folder":
		os.MkdirAll("a/b", 0o700)
		os.WriteFile("a/b/c", nil, 0o400)
		os.Chmod("a/b", 0)
		os.Chmod("a", 0)
		d.answer(1)
	case "outside":
		// Its folder is full of ways out of it, and is itself no longer where it was.
		victim := os.Getenv("VICTIM")
		os.Symlink(victim, "link")
		os.Symlink("../../../../..", "up")
		os.Symlink("loop", "loop")
		os.Mkdir("locked", 0o700)
		os.Symlink(victim, "locked/link")
		os.Chmod("locked", 0)
		work, _ := os.Getwd()
		os.Rename(work+"/../tmp", work+"/../elsewhere")
		os.Symlink(victim, work+"/../tmp")
		d.answer(1)
	case "deep folder":
		for range 3000 { // longer than a path can be
			os.Mkdir("d", 0o700)
			os.Chdir("d")
		}
		syscall.Mkfifo("pipe", 0o600)
		d.answer(1)
	case "closed output":
		d.begin()
		os.Stdout.Close()
		os.Stderr.Close()
		hang()
	case "endless output":
		d.begin()
		syscall.Ftruncate(1, 1<<42)
		hang()
	case "rewritten output":
		d.begin()
		d.say(agents.Answer)
		syscall.Ftruncate(1, 0)
		os.Exit(0)
	case "many lines":
		d.begin()
		for range 100 {
			os.Stdout.WriteString(strings.Repeat("{\"a\": \"b\"}\n", 500))
		}
		d.say(agents.Answer)
		d.finish(agents.Answer)
	case "answer after its death":
		d.begin()
		leaveHeir(name)
	case "heir":
		for parent := os.Getppid(); parent == os.Getppid(); {
			time.Sleep(time.Millisecond)
		}
		d.say(agents.Answer)
		d.finish(agents.Answer)
		hang()
	case "not UTF-8":
		d.begin()
		d.say("a\xffb")
		d.finish("a\xffb")
	case "supervisor killed":
		leaveChild()
		if syscall.Kill(os.Getppid(), syscall.SIGKILL) == syscall.EPERM {
			d.answer(1) // its cell keeps it from it
			return
		}
		d.begin()
		hang()
	case "rate limit":
		d.begin()
		d.fail(429)
	case "login missing":
		d.begin()
		d.fail(401)
	case "overloaded":
		d.begin()
		d.fail(503)
	default:
		panic("no such scene: " + scene)
	}
}

// keeper is a program that has an answer which may be repaired, until it is killed.
func keeper() {
	d, err := client.New(driver.Settings{Driver: "claude"}, driver.Host{})
	if err != nil {
		panic(err)
	}
	answer, err := d.Run(context.Background(), driver.Task{Turn: 1, Prompt: "begin"}, func(driver.Event) {})
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(answer.Session + "\n")
	hang()
}

// home is a program that drives an agent until the program is killed.
func home() {
	os.Setenv("STANDIN", "children at the deadline")
	d, err := client.New(driver.Settings{Driver: "exec:program", Env: []string{"STANDIN", "MARK"}}, driver.Host{})
	if err != nil {
		panic(err)
	}
	d.Run(context.Background(), driver.Task{}, func(driver.Event) {})
}

func (d dialect) answer(parts int) {
	d.begin()
	size := len([]rune(agents.Answer))/parts + 1
	for rest := []rune(agents.Answer); len(rest) > 0; {
		n := min(size, len(rest))
		d.say(string(rest[:n]))
		rest = rest[n:]
	}
	d.finish(agents.Answer)
}

// written is what do writes to standard output.
func (d dialect) written(do func()) []byte {
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	stdout := os.Stdout
	os.Stdout = write
	do()
	os.Stdout = stdout
	write.Close()
	text, _ := io.ReadAll(read)
	return text
}

// hang waits until it is killed.
func hang() {
	for {
		syscall.Pause()
	}
}

// leaveChild starts a process in a session of its own that will not end, with
// one more below it, and returns when both are there.
func leaveChild() {
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "STANDIN=child")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.ExtraFiles = []*os.File{write}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		panic(err)
	}
	write.Close()
	read.Read(make([]byte, 10))
	read.Close()
}

// leaveHeir starts a process that answers in its parent's place once that is gone.
func leaveHeir(name string) {
	heir := exec.Command(os.Args[0])
	heir.Args[0] = name
	heir.Env = append(os.Environ(), "STANDIN=heir")
	heir.Stdout = os.Stdout
	heir.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := heir.Start(); err != nil {
		panic(err)
	}
}

// child is what a process that was left behind does.
func child() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	if os.Getenv("GENERATION") == "" {
		os.Setenv("GENERATION", "2")
		leaveChild()
	}
	fmt.Fprintln(os.NewFile(3, "ready"), "ready")
	hang()
}

// garbage is every byte there is, in lines.
func garbage() []byte {
	var all []byte
	for i := range 4096 {
		all = append(all, byte(i*7), byte(i))
	}
	return append(all, '\n')
}
