package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// seen are changes whose defect shows only beside a file that they do not touch: what
// the diff has looks fine.
var seen = []struct {
	name          string
	file          string // that the change edits
	before, after string
	where         string // the file that shows the defect
	text, quote   string // of it
}{
	{"a caller: one more argument", "store.go", "func Save(key string) {}\n", "func Save(key string, ttl int) {}\n", "cmd/main.go", "func main() {\n\tSave(\"a\")\n}\n", "\tSave(\"a\")"},
	{"a caller: the order of arguments", "copy.py", "def copy(src, dst): pass\n", "def copy(dst, src): pass\n", "jobs/backup.py", "from copy import copy\ncopy('/data', '/backup')\n", "copy('/data', '/backup')"},
	{"a caller: another unit", "timeout.js", "export const wait = 5 // seconds\n", "export const wait = 5000 // milliseconds\n", "client.js", "import { wait } from './timeout.js'\nsetTimeout(retry, wait * 1000)\n", "setTimeout(retry, wait * 1000)"},
	{"a caller: null is returned", "find.ts", "export function find(id: string): User { return all[id] ?? guest }\n", "export function find(id: string): User | null { return all[id] ?? null }\n", "page.ts", "const name = find(id).name\n", "const name = find(id).name"},
	{"a caller: an error is dropped", "write.go", "func Write(b []byte) { must(put(b)) }\n", "func Write(b []byte) error { return put(b) }\n", "log.go", "func Log(b []byte) {\n\tWrite(b)\n}\n", "\tWrite(b)"},
	{"a caller: a renamed column", "schema.sql", "create table users (mail text);\n", "create table users (email text);\n", "report.sql", "select mail from users;\n", "select mail from users;"},
	{"an invariant: sorted for a search", "names.py", "names = sorted(load())\n", "names = load()\n", "lookup.py", "from bisect import bisect_left\ni = bisect_left(names, wanted)\n", "i = bisect_left(names, wanted)"},
	{"an invariant: the lock order", "b.go", "func B() { mu1.Lock(); mu2.Lock() }\n", "func B() { mu2.Lock(); mu1.Lock() }\n", "a.go", "func A() { mu1.Lock(); mu2.Lock() }\n", "func A() { mu1.Lock(); mu2.Lock() }"},
	{"an invariant: two lists of the same length", "labels.go", "var labels = []string{\"a\", \"b\"}\n", "var labels = []string{\"a\", \"b\", \"c\"}\n", "colors.go", "// one for each label\nvar colors = [2]string{\"red\", \"blue\"}\n", "var colors = [2]string{\"red\", \"blue\"}"},
	{"an invariant: a code is kept on disk", "kinds.go", "const ( Text = iota; Image )\n", "const ( Video = iota; Text; Image )\n", "saved/format.md", "Kinds are written as numbers: 0 is text, 1 an image.\n", "Kinds are written as numbers: 0 is text, 1 an image."},
	{"an invariant: ids are never negative", "next.go", "func next() int { return last + 1 }\n", "func next() int { return last - 1 }\n", "table.go", "func row(id int) *Row { return &rows[id] }\n", "func row(id int) *Row { return &rows[id] }"},
	{"an invariant: the cache is keyed by tenant", "cache.rb", "key = \"#{tenant}/#{id}\"\n", "key = id.to_s\n", "ids.rb", "# ids begin at 1 for every tenant\ndef next_id(tenant) = counter[tenant] += 1\n", "def next_id(tenant) = counter[tenant] += 1"},
	{"a deleted check: the path stays inside", "open.go", "func open(p string) { if !local(p) { return }; read(p) }\n", "func open(p string) { read(p) }\n", "handler.go", "func serve(r *Request) { open(r.Query(\"file\")) }\n", "func serve(r *Request) { open(r.Query(\"file\")) }"},
	{"a deleted check: who may do it", "remove.py", "def remove(user, id):\n    require(user, 'admin')\n    delete(id)\n", "def remove(user, id):\n    delete(id)\n", "routes.py", "route('/remove', remove, login=False)\n", "route('/remove', remove, login=False)"},
	{"a deleted check: division by zero", "mean.c", "int mean(int s, int n) { return n ? s / n : 0; }\n", "int mean(int s, int n) { return s / n; }\n", "empty.c", "int none = mean(0, 0);\n", "int none = mean(0, 0);"},
	{"a deleted check: escaping elsewhere", "render.js", "export const show = t => escape(t)\n", "export const show = t => t\n", "comment.js", "el.innerHTML = show(comment.body)\n", "el.innerHTML = show(comment.body)"},
	{"a deleted check: the size of an upload", "limit.go", "func accept(n int) bool { return n < max }\n", "func accept(n int) bool { return true }\n", "buffer.go", "var buffer [max]byte // accept keeps within it\n", "var buffer [max]byte // accept keeps within it"},
	{"a weakened test: the case that mattered", "sum_test.go", "check(sum(-1, 1), 0)\ncheck(sum(1, 1), 2)\n", "check(sum(1, 1), 2)\n", "sum.go", "func sum(a, b int) int { return abs(a) + b }\n", "func sum(a, b int) int { return abs(a) + b }"},
	{"a weakened test: it accepts everything", "parse_test.py", "assert parse('x') == Error\n", "assert parse('x') is not None\n", "parse.py", "def parse(t): return t\n", "def parse(t): return t"},
	{"a weakened test: the stand-in answers itself", "pay_test.js", "const bank = realBank()\n", "const bank = { pay: () => true }\n", "pay.js", "export const pay = (bank, n) => bank.pay(n, undefined)\n", "export const pay = (bank, n) => bank.pay(n, undefined)"},
}

// TestDefectsThatNeedTheRepository: what shows a defect stands in no prompt and in every
// tree, so that a reviewer who looks finds it, with a finding that holds; one who cannot
// look and quotes from memory is refused.
func TestDefectsThatNeedTheRepository(t *testing.T) {
	t.Parallel()
	if len(seen) != 20 {
		t.Errorf("there are %d", len(seen))
	}
	for i := 0; i < len(seen); i += full.Stride(len(seen), 2) {
		tt := seen[i]
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{tt.file: tt.before, tt.where: tt.text})
			gitIn(t, dir, "init", "-q", "-b", "main")
			gitIn(t, dir, "add", ".")
			gitIn(t, dir, "commit", "-q", "-m", "first")
			writeFiles(t, dir, map[string]string{tt.file: tt.after})
			answer := func(line int, quote string) string {
				return fmt.Sprintf(`{"change_id":"work","verdict":"NEEDS_FIX","summary":"s","issues":[{"title":"Broken elsewhere","severity":"Medium","category":"Bug","file":%q,"line":%d,"quote":%q,"description":"d"}]}`, tt.where, line, quote)
			}
			for name, reviewer := range map[string]func(driver.Task) string{
				"looks": func(task driver.Task) string {
					if strings.Contains(task.Prompt, strings.TrimSpace(tt.quote)) {
						t.Error("the prompt shows it")
					}
					text, err := os.ReadFile(filepath.Join(task.Tree, tt.where))
					if err != nil {
						t.Error(err)
					}
					before, _, found := strings.Cut(string(text), tt.quote)
					if !found {
						t.Errorf("the tree has %q", text)
					}
					return answer(strings.Count(before, "\n")+1, tt.quote)
				},
				"guesses": func(driver.Task) string { return answer(1, "something like it") },
			} {
				r := must.Get(engine.OpenCodeReview(t.Context(), reviewClock, engine.CodeReviewInput{Project: dir, Home: t.TempDir(), Name: "work", Budget: run.DefaultBudget(nil), DiffInput: git.DiffInput{Base: "HEAD"}}))(t)
				v := must.Get(r.Begin(t.Context()))(t)
				out, err := v.Drive(t.Context(), engine.Options{Desk: reviewClock, Pool: reviewers(func(_ context.Context, task driver.Task) (string, error) { return reviewer(task), nil })})
				r.Close()
				if err != nil || out.WaitingFor != engine.ForNothing {
					t.Fatalf("%s: %v, %s", name, err, out.Reason)
				}
				if holds := len(out.Findings) == 1 && len(out.Dropped) == 0; holds != (name == "looks") {
					t.Errorf("%s: %+v holds, %+v does not", name, out.Findings, out.Dropped)
				}
			}
		})
	}
}
