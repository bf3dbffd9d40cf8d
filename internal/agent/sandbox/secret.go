package sandbox

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/text/link"
)

// shortestSecret is how many bytes a value must have to be looked for: shorter ones
// stand in texts by chance.
const shortestSecret = 12

var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|_)(KEY|TOKEN|SECRET|PASSWORD)($|_)`) })

// secretsIn are the values of the named variables whose names say that they are
// secret.
func secretsIn(env, named []string) []string {
	var list []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if allows(named, name) && secretName().MatchString(name) {
			list = append(list, value)
		}
	}
	return list
}

// Hide has what is returned from the sandbox be free of secrets, in every form that forms
// lists.
func (l *Sandbox) Hide(secrets ...string) {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			l.secrets = append(l.secrets, forms(secret)...)
		}
	}
	slices.SortFunc(l.secrets, func(x, y string) int { return len(y) - len(x) }) // one may be a part of another
}

// forms are a secret as it is and as any program writes it with one call: in UTF-16,
// backwards, in base64, in hex and percent-encoded.
func forms(secret string) []string {
	little, big, percent, back := "", "", "", ""
	for i := range len(secret) {
		little, big = little+secret[i:i+1]+"\x00", big+"\x00"+secret[i:i+1]
		percent += fmt.Sprintf("%%%02x", secret[i])
		back = secret[i:i+1] + back
	}
	inHex := hex.EncodeToString([]byte(secret))
	list := []string{secret, little, big, back, inHex, strings.ToUpper(inHex), percent, strings.ToUpper(percent)}
	// Its letters in base64 depend on how many bytes stand before it; those that it
	// shares with what stands around it are left.
	for before := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte("\x00\x00"[:before] + secret))
			list = append(list, text[(before*8+5)/6:(before+len(secret))*8/6])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// mask puts [link.SecretMask] in the place of every secret in a text.
func mask(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, link.SecretMask)
	}
	return text
}

// RunIn is [attempt.run] for a program in a cell: what its door let through is
// recorded, and the secrets that the agent was given are in nothing that it returns.
func (a *Attempt) RunIn(ctx context.Context, l *Sandbox, c Command, f *Folder) (driver.Answer, error) {
	secrets := l.secrets
	plain := a.Event
	a.Event = func(e driver.Event) {
		e.Text, e.Raw = mask(e.Text, secrets), mask(e.Raw, secrets)
		plain(e)
	}
	variables, err := l.machine.lendRepository(ctx, f, a.Task, l)
	if err != nil {
		return driver.Answer{}, err
	}
	c.Env = append(c.Env, variables...)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.door.listen(func(address string) { stop(withoutNetwork(a.Name, address)) })
	answer, err := a.run(ctx, c, f)
	if hopeless, ok := context.Cause(ctx).(*driver.Error); ok && err != nil {
		err = hopeless
	}
	l.door.record(a.Event)
	answer.Text, answer.Kept = mask(answer.Text, secrets), l.keeps(c.cell)
	if masked, unmasked := maskFiles(f, a.Task, secrets); unmasked != nil {
		return driver.Answer{}, driver.Failf(driver.Unavailable, "what %s left in %s cannot be kept free of its token: %v", a.Name, a.Task.Folder, unmasked)
	} else if masked > 0 {
		a.Event(driver.Event{Kind: driver.Warning, Text: fmt.Sprintf("a token or key of the agent stood in %d of the files that it left, and was masked", masked)})
	}
	failure, ok := err.(*driver.Error)
	if !ok {
		return answer, err
	}
	if c.cell.Confined && failure.Help == "" && slices.Contains([]driver.Kind{driver.Died, driver.Unavailable, driver.Idle, driver.Deadline}, failure.Kind) {
		failure.Help = refusedInCell(failure.Message)
	}
	failure.Message = mask(failure.Message, secrets)
	return answer, failure
}

// keeps says how a program is kept by a policy there.
func (l *Sandbox) keeps(p cell.Policy) *driver.Kept {
	k := &driver.Kept{Confined: p.Confined, System: p.System.Name, ABI: p.System.ABI}
	if p.Confined {
		k.Network = p.System.Held(p.Network)
		if l.address != "" {
			k.Network += " at " + l.address
		}
	}
	return k
}

// longestPath is that of a file in a folder that can be committed: git takes no longer one.
const longestPath = 4096

func maskIn(root *os.Root, dir string, secrets []string) (masked int, err error) {
	if len(dir) > longestPath {
		return 0, nil
	}
	entries, _ := fs.ReadDir(root.FS(), dir)
	for _, entry := range entries {
		at := path.Join(dir, entry.Name())
		named, text, found := path.Join(dir, mask(entry.Name(), secrets)), "", false
		switch {
		case entry.IsDir() && named == at:
			n, err := maskIn(root, at, secrets)
			if masked += n; err != nil {
				return masked, err
			}
			continue
		case entry.Type()&fs.ModeSymlink != 0:
			text, _ = root.Readlink(at)
			found = mask(text, secrets) != text
		case entry.Type().IsRegular():
			text, found = readSecret(root, at, secrets)
		}
		if !found && named == at {
			continue
		}
		masked++
		if err := root.RemoveAll(at); err != nil {
			return masked, err
		}
		if err := root.WriteFile(named, []byte(mask(text, secrets)), 0o600); err != nil {
			return masked, err
		}
	}
	return masked, nil
}

// readSecret is a file that has a secret in it, and the mask alone for a large one. It
// reads in small parts: an agent can make files that are larger than memory.
func readSecret(root *os.Root, name string, secrets []string) (text string, found bool) {
	file, err := root.Open(name)
	if err != nil {
		return "", false
	}
	defer file.Close()
	longest := len(slices.MaxFunc(secrets, func(x, y string) int { return len(x) - len(y) }))
	buffer := make([]byte, 1<<20+longest)
	for kept := 0; ; {
		n, err := io.ReadFull(file, buffer[kept:])
		part := buffer[:kept+n]
		if slices.ContainsFunc(secrets, func(s string) bool { return bytes.Contains(part, []byte(s)) }) {
			break
		}
		if err != nil {
			return "", false
		}
		kept = copy(buffer, part[len(part)-longest:])
	}
	if size(file) > MaxOutput {
		return link.SecretMask, true
	}
	whole, err := root.ReadFile(name)
	return string(whole), err == nil
}
