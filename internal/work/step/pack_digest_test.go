package step_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TestInputsDigestIsOverTheDeclaredObject computes the digest a second time, in
// the plain way.
func TestInputsDigestIsOverTheDeclaredObject(t *testing.T) {
	r := newPackRun(t)
	r.write("citations/citations.jsonl", pool+`{"cid":"é\"\\\u0001","status":"valid"}`+"\n")
	parse := func(name string) *codec.Value {
		doc := must.Get(codec.Parse([]byte(r.read(name))))(t)
		return doc
	}
	want := codec.Digest(map[string]any{
		"schema":              "summary_pack_build.inputs.v1",
		"mode":                "fixture",
		"manifest_digest":     codec.Digest(parse("manifest.json")),
		"perspectives_digest": codec.Digest(parse("perspectives.json")),
		"validated_cids":      []string{"cid_a", "cid_b", "é\"\\\x01"},
		"summaries": map[string]string{
			"p1": codec.DigestBytes([]byte("## Findings\n\n- Fuel use fell by a third [@cid_a].\n")),
			"p2": codec.DigestBytes([]byte("Prices doubled [@cid_b].\n")),
		},
	})
	if got := r.mustBuild().InputsDigest; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// change is one way to change the inputs of a build.
type change struct {
	name     string
	declared bool // it changes an input of the digest
	make     func(r *packRun, n int) func(*step.PackInput)
}

func stays(*step.PackInput) {}

var changes = []change{
	{"a field of the manifest", true, func(r *packRun, n int) func(*step.PackInput) {
		r.manifest(strings.Replace(r.read("manifest.json"), "{", `{"note":`+quoted(n)+`,`, 1))
		return stays
	}},
	{"a limit", true, func(r *packRun, n int) func(*step.PackInput) {
		r.limits(100+n, 900)
		return stays
	}},
	{"a field of the perspectives", true, func(r *packRun, n int) func(*step.PackInput) {
		r.write("perspectives.json", strings.Replace(r.read("perspectives.json"), `{"id":"p2"`, `{"id":"p2","title":`+quoted(n), 1))
		return stays
	}},
	{"a perspective", true, func(r *packRun, n int) func(*step.PackInput) {
		id := "q" + strings.Trim(quoted(n), `"`)
		r.fixture(id, "Text.\n")
		r.write("perspectives.json", strings.Replace(r.read("perspectives.json"), `{"id":"p2"`, `{"id":"`+id+`"},{"id":"p2"`, 1))
		return stays
	}},
	{"the order of the perspectives", true, func(r *packRun, n int) func(*step.PackInput) {
		r.write("perspectives.json", `{"schema_version":"perspectives.v1","run_id":"r1","perspectives":[{"id":"p1"},{"id":"p2"}]}`)
		return stays
	}},
	{"a validated citation more", true, func(r *packRun, n int) func(*step.PackInput) {
		r.write("citations/citations.jsonl", r.read("citations/citations.jsonl")+`{"cid":`+quoted(n)+`,"status":"valid"}`+"\n")
		return stays
	}},
	{"a validated citation less", true, func(r *packRun, n int) func(*step.PackInput) {
		r.fixture("p2", "No citation.\n")
		r.write("citations/citations.jsonl", strings.ReplaceAll(r.read("citations/citations.jsonl"), "paywalled", "blocked"))
		return stays
	}},
	{"a byte of a summary", true, func(r *packRun, n int) func(*step.PackInput) {
		r.fixture("p1", "Text "+quoted(n)+"\n")
		return stays
	}},
	{"white space at the end of a summary", true, func(r *packRun, n int) func(*step.PackInput) {
		data, _ := os.ReadFile(filepath.Join(r.fixtures, "p1.md"))
		r.fixture("p1", string(data)+"\n")
		return stays
	}},
	{"the mode", true, func(r *packRun, n int) func(*step.PackInput) {
		// The same bytes, made by rule.
		r.fixture("p1", "- Same [@cid_a].\n")
		r.fixture("p2", "- Same.\n")
		r.mustBuild(dryRun)
		r.write("wave-1/p1.md", "Same [@cid_a].")
		r.write("wave-1/p2.md", "Same.")
		return generated
	}},

	{"the layout of the manifest", false, func(r *packRun, n int) func(*step.PackInput) {
		r.manifest(strings.Repeat(" ", n+1) + strings.ReplaceAll(r.read("manifest.json"), ":", " :\n "))
		return stays
	}},
	{"the spelling of a number", false, func(r *packRun, n int) func(*step.PackInput) {
		r.manifest(strings.ReplaceAll(r.read("manifest.json"), `"max_summary_kb":5,`, `"max_summary_kb":5.0,`))
		return stays
	}},
	{"the order of keys", false, func(r *packRun, n int) func(*step.PackInput) {
		doc := must.Get(codec.Parse([]byte(r.read("manifest.json"))))(r.t)
		first := doc.Members()[0]
		doc.Delete(first.Key)
		doc.Set(first.Key, first.Value)
		data := must.Get(codec.Marshal(doc))(r.t)
		r.manifest(string(data))
		return stays
	}},
	{"the layout of the perspectives", false, func(r *packRun, n int) func(*step.PackInput) {
		r.write("perspectives.json", "\n"+strings.ReplaceAll(r.read("perspectives.json"), ",", ", "))
		return stays
	}},
	{"the order of the pool", false, func(r *packRun, n int) func(*step.PackInput) {
		lines := strings.Split(strings.TrimSpace(r.read("citations/citations.jsonl")), "\n")
		slices.Reverse(lines)
		r.write("citations/citations.jsonl", strings.Join(lines, "\n")+"\n")
		return stays
	}},
	{"a citation that is not validated", false, func(r *packRun, n int) func(*step.PackInput) {
		r.write("citations/citations.jsonl", `{"cid":`+quoted(n)+`,"status":"invalid"}`+"\n"+r.read("citations/citations.jsonl"))
		return stays
	}},
	{"a citation that is there already", false, func(r *packRun, n int) func(*step.PackInput) {
		r.write("citations/citations.jsonl", `{"cid":"cid_a","status":"paywalled"}`+"\n\n"+r.read("citations/citations.jsonl"))
		return stays
	}},
	{"a title in the pool", false, func(r *packRun, n int) func(*step.PackInput) {
		r.write("citations/citations.jsonl", strings.ReplaceAll(r.read("citations/citations.jsonl"), `{"schema_version"`, `{"title":`+quoted(n)+`,"schema_version"`))
		return stays
	}},
	{"a file that no perspective names", false, func(r *packRun, n int) func(*step.PackInput) {
		r.fixture("unused", quoted(n))
		return stays
	}},
	{"a wave output", false, func(r *packRun, n int) func(*step.PackInput) {
		r.write("wave-1/p1.md", quoted(n))
		return stays
	}},
	{"where things are written, and why", false, func(r *packRun, n int) func(*step.PackInput) {
		return func(req *step.PackInput) {
			req.Reason, req.SummariesDir, req.SummaryPackPath = quoted(n), r.path("elsewhere"), r.path("elsewhere/pack.json")
		}
	}},
	{"where things are read", false, func(r *packRun, n int) func(*step.PackInput) {
		r.write("copy/perspectives.json", r.read("perspectives.json"))
		r.write("copy/pool.jsonl", r.read("citations/citations.jsonl"))
		return func(req *step.PackInput) {
			req.PerspectivesPath, req.CitationsPath = r.path("copy/perspectives.json"), r.path("copy/pool.jsonl")
		}
	}},
}

func quoted(n int) string { return `"x` + strings.Repeat("y", n) + `"` }

// TestInputsDigestChangesWithItsInputsAndOnlyThen applies changes to a run, one
// after the other in a random order, and compares before and after each.
func TestInputsDigestChangesWithItsInputsAndOnlyThen(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) { checkChange(t, newPackRun(t), c, 1) })
	}
	t.Run("in any order", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		for range 10 {
			r := newPackRun(t)
			for n, i := range random.Perm(len(changes)) {
				if changes[i].name != "the mode" && changes[i].name != "the order of the perspectives" { // these reset what others changed
					checkChange(t, r, changes[i], n+2)
				}
			}
		}
	})
}

func checkChange(t *testing.T, r *packRun, c change, n int) {
	t.Helper()
	before := r.mustBuild(dryRun).InputsDigest
	arguments := c.make(r, n)
	if c.name == "the mode" {
		before = r.mustBuild(dryRun).InputsDigest
	}
	after := r.mustBuild(dryRun, arguments).InputsDigest
	if changed := before != after; changed != c.declared {
		t.Errorf("%s: the digest changed: %v, want %v", c.name, changed, c.declared)
	}
}
