package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestEvidenceByAPersonIsSigned: in a run whose decisions are signed, a file that
// a person attached and a page that a person named count with the signature over
// that very decision; a line about one without its signature is found.
func TestEvidenceByAPersonIsSigned(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("there is no ssh-keygen here")
	}
	p := newPerson(t)
	site := p.site()
	p.must("ssh-keygen -q -t ed25519 -N '' -C person -f person")
	p.put("signers", "person@example.org "+p.read("person.pub"))
	p.put("page.html", "<title>The moon</title><p>The tide is moved by the moon, and turns twice a day.</p>")
	p.must("tidegate run init q --id r --signers signers")
	p.put("home/runs/r/wave-1/p1.md", "## Findings\n\nText.\n\n## Sources\n\n- The moon, "+site+"/moon\n- The sun, "+site+"/sun\n\n## Gaps\n\nNone.\n")
	p.must("tidegate citations check r")
	var moon, sun string
	for line := range strings.Lines(p.read("home/runs/r/citations/citations.jsonl")) {
		var record struct{ CID, URL string }
		must.Do(t, json.Unmarshal([]byte(line), &record))
		if strings.HasSuffix(record.URL, "/moon") {
			moon = record.CID
		} else {
			sun = record.CID
		}
	}
	for _, command := range []string{"attach r " + moon + " page.html", "replace r " + sun + " " + site + "/star"} {
		if out, err := p.paste("tidegate citations " + command); err == nil {
			t.Errorf("%s is granted without a key: %s", command, out)
		}
		p.must("tidegate citations " + command + " --sign person --reason 'the saved page has more'")
	}
	p.must("tidegate citations check r")
	p.must("tidegate run verify r")
	shown := p.must("tidegate run verify r --format json")
	for _, want := range []string{`"what": "attached page"`, `"what": "replaced page"`, `"by": "person@example.org"`, `"signed": true`, `"about": "` + moon + `: page.html"`, `"reason": "the saved page has more"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the decisions do not say %s:\n%s", want, shown)
		}
	}

	log := p.read("home/runs/r/logs/audit.jsonl")
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	lineOf := func(event string) map[string]any {
		for _, line := range lines {
			var entry map[string]any
			must.Do(t, json.Unmarshal([]byte(line), &entry))
			if entry["event"] == event {
				return entry
			}
		}
		t.Fatalf("the log has no line about %s:\n%s", event, log)
		return nil
	}
	for name, row := range map[string]struct {
		event string
		forge map[string]any // nil takes a field away
	}{
		"attached, unsigned":                  {"attached", map[string]any{"decision": nil, "cid": sun}},
		"attached, by an agent":               {"attached", map[string]any{"actor": "agent"}},
		"attached to another, same signature": {"attached", map[string]any{"cid": sun}},
		"another file, same signature":        {"attached", map[string]any{"file": "sha256:" + strings.Repeat("0", 64)}},
		"attached, once more":                 {"attached", map[string]any{}},
		"replaced, unsigned":                  {"replaced", map[string]any{"decision": nil, "cid": moon}},
		"replaced, by a rule":                 {"replaced", map[string]any{"actor": "rule"}},
		"another page, same signature":        {"replaced", map[string]any{"url": site + "/forged"}},
		"replaced, once more":                 {"replaced", map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			entry := lineOf(row.event)
			for field, value := range row.forge {
				entry[field] = value
				if value == nil {
					delete(entry, field)
				}
			}
			last := lines[len(lines)-1]
			var end map[string]any
			must.Do(t, json.Unmarshal([]byte(last), &end))
			entry["seq"], entry["state"], entry["prev"] = len(lines)+1, end["state"], codec.DigestBytes([]byte(last))
			forged := must.Get(json.Marshal(entry))(t)
			path := filepath.Join(p.dir, "home/runs/r/logs/audit.jsonl")
			must.Do(t, os.WriteFile(path, fmt.Appendf(nil, "%s%s\n", log, forged), 0o600))
			defer os.WriteFile(path, []byte(log), 0o600)
			out, err := p.paste("tidegate run verify r --format json")
			if err == nil || !strings.Contains(out, `"decision-unsigned"`) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	p.must("tidegate run verify r")
}
