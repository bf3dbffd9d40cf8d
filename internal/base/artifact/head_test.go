package artifact_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

const auditLog, auditHead = "logs/audit.jsonl", "logs/audit.head"

// record adds lines that are part of their transaction, one in each.
func record(t testing.TB, f *artifact.Folder, lines ...any) {
	t.Helper()
	l := must.Get(f.Lock(t.Context(), pinned))(t)
	defer l.Unlock()
	for _, line := range lines {
		tx := l.Begin()
		must.Do(t, errors.Join(tx.Record(auditLog, line), tx.Commit()))
	}
}

// recorded is a folder whose log has n lines and a head.
func recorded(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	f := must.Get(artifact.Everywhere.Open("dir", dir))(t)
	defer f.Close()
	for i := range n {
		record(t, f, event{N: i + 1})
	}
	return dir
}

// headOf is the head file of a log that says what it should.
func headOf(log string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
	return fmt.Sprintf(`{"lines":%d,"digest":%q,"size":%d}`+"\n", len(lines), codec.DigestBytes([]byte(lines[len(lines)-1])), len(log))
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))(t)
	return string(data)
}

func write(t testing.TB, dir, name, text string) {
	put(t.(*testing.T), dir, map[string]string{name: text})
}

// checkLog looks at the log of a folder, as a process that opens it does.
func checkLog(t testing.TB, dir string) (artifact.LogState, error) {
	t.Helper()
	f := must.Get(artifact.Everywhere.Open("dir", dir))(t)
	defer f.Close()
	l := must.Get(f.Lock(t.Context(), pinned))(t)
	defer l.Unlock()
	return l.CheckLog(auditLog)
}

func TestEveryLineMovesTheHead(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	expect := func(when string, lines int) {
		t.Helper()
		log := read(t, dir, auditLog)
		if got := read(t, dir, auditHead); got != headOf(log) {
			t.Errorf("%s: head is %s, want %s", when, got, headOf(log))
		}
		if report := verify(t, log); report.Lines != lines || report.Broken+report.Unchained > 0 {
			t.Errorf("%s: %+v, want %d chained lines", when, report, lines)
		}
		state, err := checkLog(t, dir)
		want := artifact.LogState{Lines: lines, Digest: verify(t, log).Head, Headed: true}
		if err != nil || state != want {
			t.Errorf("%s: %+v, %v; want %+v", when, state, err, want)
		}
	}
	if state, err := checkLog(t, dir); err != nil || state != (artifact.LogState{Digest: artifact.FirstPrev}) {
		t.Errorf("no log: %+v, %v", state, err)
	}
	record(t, f, event{N: 1})
	expect("recorded", 1)
	record(t, f, event{N: 2}, event{N: 3})
	expect("recorded again", 3)
	addTo(t, f, auditLog, event{N: 4})
	expect("logged", 4)
	l := locked(t, f)
	tx := l.Begin()
	tx.Log(auditLog, event{N: 5})
	must.Do(t, errors.Join(tx.Write("a.json", nil), tx.Record(auditLog, event{N: 6}), tx.Commit(), tx.LogError()))
	tx.Log(auditLog, event{N: 7})
	l.Unlock()
	expect("with a file", 6)
	if info, err := os.Stat(filepath.Join(dir, "logs", "audit.head")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestALogGetsAHeadByItsFirstRecord(t *testing.T) {
	for what, begun := range map[string]string{
		"none":              "",
		"of others":         "x\n{}\n",
		"without end":       "x\n{}",
		"of an older":       strings.Join(writtenLog(t, 3, false), ""),
		"of an older, torn": strings.Join(writtenLog(t, 3, false), "") + `{"n":`,
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			if begun != "" {
				write(t, dir, auditLog, begun)
			}
			state, err := checkLog(t, dir)
			if err != nil || state.Headed {
				t.Errorf("before: %+v, %v", state, err)
			}
			f := open(t, dir)
			addTo(t, f, auditLog, event{N: 1})
			if _, err := os.Stat(filepath.Join(dir, "logs", "audit.head")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a line of Log began a head: %v", err)
			}
			if next, err := checkLog(t, dir); err != nil || next.Lines != state.Lines+1 || next.Headed {
				t.Errorf("after a line of Log: %+v, %v, before %+v", next, err, state)
			}
			record(t, f, event{N: 2})
			log := read(t, dir, auditLog)
			if !strings.HasPrefix(log, begun) {
				t.Error("what was there is not there any more")
			}
			if got := read(t, dir, auditHead); got != headOf(log) {
				t.Errorf("head is %s, want %s", got, headOf(log))
			}
			lines := strings.SplitAfter(log, "\n")
			if want := `"prev":"` + codec.DigestBytes([]byte(strings.TrimSuffix(lines[state.Lines], "\n"))) + `"}`; !strings.Contains(lines[state.Lines+1], want) {
				t.Errorf("line %d is %s, want %s", state.Lines+2, lines[state.Lines+1], want)
			}
		})
	}
}

func TestTheNameOfAHead(t *testing.T) {
	dir := t.TempDir()
	l := locked(t, open(t, dir))
	for _, name := range []string{"log.jsonl", "deep/audit.jsonl", "other.log"} {
		tx := l.Begin()
		must.Do(t, errors.Join(tx.Record(name, event{}), tx.Commit()))
	}
	state := tree(t, dir)
	for _, name := range []string{"log.head", "deep/audit.head", "other.log.head"} {
		if state[name] == "" {
			t.Errorf("no %s in %v", name, state)
		}
	}
}

// What a killed process leaves is rolled forward: lines that follow from the
// head, and a line without end after them.
func TestALogThatIsLongerThanItsHeadIsRolledForward(t *testing.T) {
	for _, torn := range []string{"", "{", `{"ts":"","kind":"","n":5,"prev":"sha256:`, "\x00\x00"} {
		for behind := range 4 {
			dir := recorded(t, 4-behind)
			old := read(t, dir, auditHead)
			f := open(t, dir)
			for n := 4 - behind; n < 4; n++ {
				record(t, f, event{N: n + 1})
			}
			log := read(t, dir, auditLog)
			write(t, dir, auditHead, old)
			write(t, dir, auditLog, log+torn)
			state, err := checkLog(t, dir)
			if want := (artifact.LogState{Lines: 4, Digest: verify(t, log).Head, Headed: true}); err != nil || state != want {
				t.Errorf("%d behind, torn %q: %+v, %v; want %+v", behind, torn, state, err, want)
			}
			if got := read(t, dir, auditHead); got != headOf(log) {
				t.Errorf("%d behind, torn %q: head is %s", behind, torn, got)
			}
			write(t, dir, auditHead, old)
			record(t, f, event{N: 5})
			after := read(t, dir, auditLog)
			if got := read(t, dir, auditHead); got != headOf(after) || !strings.HasPrefix(after, log) {
				t.Errorf("%d behind, torn %q: head %s of\n%s", behind, torn, got, after)
			}
			if report := verify(t, after); report.Lines != 5 || report.Broken+report.Unchained > 0 || report.Torn {
				t.Errorf("%d behind, torn %q: %+v", behind, torn, report)
			}
		}
	}
}

// tamperings are ways to change a log of four lines or its head, by what the
// reason then says.
var tamperings = []struct {
	name, reason string
	tamper       func(log []string, head string) (string, string)
}{
	{"the last line removed", "shorter", func(log []string, head string) (string, string) {
		return strings.Join(log[:3], ""), head
	}},
	{"the log emptied", "shorter", func(log []string, head string) (string, string) { return "", head }},
	{"the log removed", "shorter", func(log []string, head string) (string, string) { return "none", head }},
	{"the last byte removed", "shorter", func(log []string, head string) (string, string) {
		whole := strings.Join(log, "")
		return whole[:len(whole)-1], head
	}},
	{"the last line changed", "line 4 is another", func(log []string, head string) (string, string) {
		return strings.Join(log[:3], "") + strings.Replace(log[3], `"n":4`, `"n":5`, 1), head
	}},
	{"the last two lines in another order", "line 4 is another", func(log []string, head string) (string, string) {
		return log[0] + log[1] + log[3] + log[2], head
	}},
	{"a line removed and another added", "line 4 is another", func(log []string, head string) (string, string) {
		return log[0] + log[1] + log[2] + next(log[2]) + strings.Repeat("x", 500) + "\n", head
	}},
	{"an early line removed and others added", "line 4 is another", func(log []string, head string) (string, string) {
		return log[1] + log[2] + log[3] + strings.Repeat("x", 500) + "\n", head
	}},
	{"an early line changed in length", "line 4 is another", func(log []string, head string) (string, string) {
		return strings.Replace(log[0], `"n":1`, `"n":12`, 1) + log[1] + log[2] + log[3] + "\n", head
	}},
	{"a line of others added", "line 5 was added", func(log []string, head string) (string, string) {
		return strings.Join(log, "") + `{"n":5}` + "\n", head
	}},
	{"a blank line added", "line 5 was added", func(log []string, head string) (string, string) {
		return strings.Join(log, "") + "\n", head
	}},
	{"a line added that follows from another", "line 5 was added", func(log []string, head string) (string, string) {
		return strings.Join(log, "") + next(log[2]), head
	}},
	{"a line of others after one that follows", "line 6 was added", func(log []string, head string) (string, string) {
		return strings.Join(log, "") + next(log[3]) + "{}\n", head
	}},
	{"the head emptied", "head is not one", func(log []string, head string) (string, string) { return strings.Join(log, ""), "" }},
	{"the head without its newline", "head is not one", func(log []string, head string) (string, string) {
		return strings.Join(log, ""), strings.TrimSuffix(head, "\n")
	}},
	{"the head no JSON", "head is not one", func(log []string, head string) (string, string) { return strings.Join(log, ""), "4\n" }},
	{"the head not UTF-8", "head is not one", func(log []string, head string) (string, string) { return strings.Join(log, ""), "\xff\xfe" }},
	{"the head very long", "head is not one", func(log []string, head string) (string, string) {
		return strings.Join(log, ""), head + strings.Repeat(" ", 1<<20)
	}},
	{"the head that of nothing", "head is not one", func(log []string, head string) (string, string) {
		return strings.Join(log, ""), `{"lines":0,"digest":"` + artifact.FirstPrev + `","size":0}` + "\n"
	}},
	{"the head negative", "head is not one", func(log []string, head string) (string, string) {
		return strings.Join(log, ""), `{"lines":4,"digest":"` + artifact.FirstPrev + `","size":-5}` + "\n"
	}},
	{"a line of others added, the head of another number", "line 9 was added", func(log []string, head string) (string, string) {
		return strings.Join(log, "") + "{}\n", strings.Replace(head, `"lines":4`, `"lines":8`, 1)
	}},
	{"the head of another size", "line 4 is another", func(log []string, head string) (string, string) {
		return strings.Join(log, ""), strings.Replace(headOf(strings.Join(log, "")), `"size":4`, `"size":3`, 1)
	}},
}

// next is a line that follows from a line.
func next(line string) string {
	return `{"n":0,"prev":"` + codec.DigestBytes([]byte(strings.TrimSuffix(line, "\n"))) + `"}` + "\n"
}

// tampered is a folder whose log was tampered with.
func tampered(t *testing.T, tamper func([]string, string) (string, string)) string {
	t.Helper()
	dir := recorded(t, 4)
	before, head := read(t, dir, auditLog), read(t, dir, auditHead)
	log, head := tamper(slices.Collect(strings.Lines(before)), head)
	write(t, dir, auditHead, head)
	write(t, dir, auditLog, log)
	if log == "none" {
		must.Do(t, os.Remove(filepath.Join(dir, "logs", "audit.jsonl")))
	}
	return dir
}

func TestALogThatIsNotTheOneOfItsHead(t *testing.T) {
	for _, test := range tamperings {
		t.Run(test.name, func(t *testing.T) {
			dir := tampered(t, test.tamper)
			before := tree(t, dir)
			_, err := checkLog(t, dir)
			reason, _ := tidegate.AsError(err).Details.Get("reason")
			path, _ := tidegate.AsError(err).Details.Get("path")
			if tidegate.CodeOf(err) != tidegate.Tampered || !strings.Contains(fmt.Sprint(reason), test.reason) || path != filepath.Join(dir, "logs", "audit.jsonl") {
				t.Errorf("%v, want TAMPERED with %q", err, test.reason)
			}
			l := locked(t, open(t, dir))
			tx := l.Begin()
			if err := errors.Join(tx.Write("a.json", nil), tx.Record(auditLog, event{N: 5}), tx.Commit()); tidegate.CodeOf(err) != tidegate.Tampered {
				t.Errorf("a recorded line: %v, want TAMPERED", err)
			}
			tx = l.Begin()
			if err := errors.Join(tx.Record(auditLog, event{N: 5}), tx.Commit()); tidegate.CodeOf(err) != tidegate.Tampered {
				t.Errorf("a recorded line alone: %v, want TAMPERED", err)
			}
			tx = l.Begin()
			tx.Log(auditLog, event{N: 5})
			if err := tx.Commit(); err != nil || tidegate.CodeOf(tx.LogError()) != tidegate.Tampered {
				t.Errorf("a logged line: %v, %v, want TAMPERED", err, tx.LogError())
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
			l.Unlock()
		})
	}
}

func TestALogCanBeAcceptedAsItIsFound(t *testing.T) {
	for _, test := range tamperings {
		for _, alone := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, alone %v", test.name, alone), func(t *testing.T) {
				dir := tampered(t, test.tamper)
				before := tree(t, dir)[auditLog]
				l := locked(t, open(t, dir))
				tx := l.Begin()
				if !alone {
					tx.Write("a.json", []byte("a\n"))
				}
				must.Do(t, errors.Join(tx.Accept(auditLog), tx.Record(auditLog, event{Kind: "accept"}), tx.Commit()))
				l.Unlock()
				log := read(t, dir, auditLog)
				if !strings.HasPrefix(log, before) || strings.Count(log, `"kind":"accept"`) != 1 || !strings.Contains(log[len(before):], `"prev":`) {
					t.Errorf("log is\n%s, was\n%s", log, before)
				}
				if got := read(t, dir, auditHead); got != headOf(log) {
					t.Errorf("head is %s, want %s", got, headOf(log))
				}
				record(t, open(t, dir), event{Kind: "after"})
				if _, err := checkLog(t, dir); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestAcceptingAloneAddsNothing(t *testing.T) {
	dir := recorded(t, 2)
	before := tree(t, dir)
	tx := locked(t, open(t, dir)).Begin()
	if err := errors.Join(tx.Accept(auditLog), tx.Accept("none.jsonl"), tx.Commit()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

func TestWhatCannotBeRecordedChangesNothing(t *testing.T) {
	for what, test := range map[string]struct {
		prepare func(dir string)
		name    string
		line    any
		want    tidegate.Code
	}{
		"no line":                 {name: auditLog, line: []int{1}, want: tidegate.Internal},
		"no name":                 {name: "../log.jsonl", line: event{}, want: tidegate.PathNotAllowed},
		"a folder for the log":    {func(dir string) { put(t, dir, map[string]string{auditLog + "/x": "x"}) }, auditLog, event{}, tidegate.WriteFailed},
		"a folder for the head":   {func(dir string) { put(t, dir, map[string]string{auditHead + "/x": "x"}) }, auditLog, event{}, tidegate.ReadFailed},
		"a file for the folder":   {func(dir string) { put(t, dir, map[string]string{"logs": "x"}) }, auditLog, event{}, tidegate.WriteFailed},
		"a link that leads out":   {func(dir string) { os.Symlink("/", filepath.Join(dir, "logs")) }, auditLog, event{}, tidegate.PathNotAllowed},
		"a second log in the way": {func(dir string) { put(t, dir, map[string]string{"second.jsonl/x": "x"}) }, "second.jsonl", event{}, tidegate.WriteFailed},
	} {
		for _, alone := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, alone %v", what, alone), func(t *testing.T) {
				dir := t.TempDir()
				put(t, dir, map[string]string{"a.json": "old\n", ".tidegate.lock": ""})
				if test.prepare != nil {
					test.prepare(dir)
				}
				before := tree(t, dir)
				tx := locked(t, open(t, dir)).Begin()
				if !alone {
					tx.Write("a.json", []byte("new\n"))
					tx.Write("deep/b.json", []byte("new\n"))
					tx.Record("first/log.jsonl", event{})
				}
				tx.Record(test.name, test.line)
				if err := tx.Commit(); tidegate.CodeOf(err) != test.want {
					t.Errorf("%v, want %s", err, test.want)
				}
				if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
					t.Errorf("files (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// What the next lock does with a transaction whose files are changed: it adds the
// missing line, or takes the changes back where it cannot; a success that may
// have been reported stays.
func TestWhatTheNextLockMakesOfARecordedLine(t *testing.T) {
	dir := recorded(t, 4)
	lines := slices.Collect(strings.Lines(read(t, dir, auditLog)))
	before, line := strings.Join(lines[:3], ""), lines[3]
	body := line[:strings.Index(line, `,"prev"`)] + "}"
	for what, test := range map[string]struct {
		log, head         string // as they are found
		wantLog, wantHead string
		isNew             bool
	}{
		"no line yet":                     {before, headOf(before), before + line, headOf(before + line), true},
		"a part of the line":              {before + line[:9], headOf(before), before + line, headOf(before + line), true},
		"the line":                        {before + line, headOf(before), before + line, headOf(before + line), true},
		"the line and the head":           {before + line, headOf(before + line), before + line, headOf(before + line), true},
		"a head that is further behind":   {before, headOf(lines[0]), before + line, headOf(before + line), true},
		"a line of others":                {before + "{}\n", headOf(before), before + "{}\n", headOf(before), false},
		"a line that follows another":     {before + next("x"), headOf(before), before + next("x"), headOf(before), false},
		"a line of others after all":      {before + line + "{}\n", headOf(before + line), before + line + "{}\n", headOf(before + line), true},
		"a line of others after the line": {before + line + "{}\n", headOf(before), before + line + "{}\n", headOf(before), false},
		"a head of others":                {before, "x", before, headOf(before), false},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			left := fmt.Sprintf(`{"schema_version":"tidegate_commit.v1","folders":["deep"],"changes":[{"name":"a","digest":%q,"replaces":true},{"name":"deep/b","digest":%q,"replaces":false}],"logs":[{"name":%q,"from":%d,"lines":[%q],"recorded":true,"accepted":false,"new":false,"head":%q}]}`,
				codec.DigestBytes([]byte("new a\n")), codec.DigestBytes([]byte("new b\n")), auditLog, len(before), body, base64.StdEncoding.EncodeToString([]byte(headOf(before))))
			put(t, dir, map[string]string{
				"a": "new a\n", "deep/b": "new b\n", auditLog: test.log, auditHead: test.head,
				".tidegate-tx/0.old": "old a\n", ".tidegate-tx/record": left + "\n" + codec.DigestBytes([]byte(left)) + "\n",
			})
			locked(t, open(t, dir)).Unlock()
			want := map[string]string{".tidegate.lock": "", "a": "old a\n", "logs": "folder", auditLog: test.wantLog, auditHead: test.wantHead}
			if test.isNew {
				want["a"], want["deep"], want["deep/b"] = "new a\n", "folder", "new b\n"
			}
			if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// What the transaction before it could not clear away comes first.
func TestALineComesAfterWhatWasLeftUnderTheSameLock(t *testing.T) {
	dir := recorded(t, 1)
	f := open(t, dir)
	l := locked(t, f)
	left := fmt.Sprintf(`{"schema_version":"tidegate_commit.v1","folders":[],"changes":[],"logs":[{"name":%q,"from":%d,"lines":["{\"n\":8}"]}]}`, auditLog, len(read(t, dir, auditLog)))
	put(t, dir, map[string]string{".tidegate-tx/record": left + "\n" + codec.DigestBytes([]byte(left)) + "\n"})
	tx := l.Begin()
	must.Do(t, errors.Join(tx.Record(auditLog, event{N: 9}), tx.Commit()))
	log := read(t, dir, auditLog)
	if eight, nine := strings.Index(log, `"n":8`), strings.Index(log, `"n":9`); eight < 0 || nine < eight || read(t, dir, auditHead) != headOf(log) || f.Interrupted() {
		t.Errorf("log is\n%s", log)
	}
}

func TestARecordedLineOfADraft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	must.Do(t, artifact.Everywhere.CreateFolder("root", dir, func(d *artifact.Draft) error {
		return errors.Join(d.Record(auditLog, event{N: 1}), d.Write("a.json", nil), d.Record(auditLog, event{N: 2}))
	}))
	state, err := checkLog(t, dir)
	log := read(t, dir, auditLog)
	if want := (artifact.LogState{Lines: 2, Digest: verify(t, log).Head, Headed: true}); err != nil || state != want || read(t, dir, auditHead) != headOf(log) {
		t.Errorf("%+v, %v; want %+v", state, err, want)
	}
}

// verifyFolder is what a look at the log and its head shows.
func verifyFolder(t *testing.T, dir string) artifact.LogReport {
	t.Helper()
	report := must.Get(open(t, dir).VerifyLog(auditLog))(t)
	return report
}

func TestVerifyingALogWithItsHead(t *testing.T) {
	dir := recorded(t, 4)
	want := verify(t, read(t, dir, auditLog))
	want.Headed = true
	if diff := cmp.Diff(want, verifyFolder(t, dir)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	write(t, dir, auditHead, headOf(strings.Join(slices.Collect(strings.Lines(read(t, dir, auditLog)))[:2], "")))
	if diff := cmp.Diff(want, verifyFolder(t, dir)); diff != "" {
		t.Errorf("report of a head that is behind (-want +got):\n%s", diff)
	}
	write(t, dir, auditHead, strings.Replace(headOf(read(t, dir, auditLog)), `"lines":4`, `"lines":3`, 1))
	if report := verifyFolder(t, dir); report.Mismatch == "" {
		t.Error("another number of lines is not found")
	}
	must.Do(t, os.Remove(filepath.Join(dir, "logs", "audit.head")))
	if report := verifyFolder(t, dir); report.Headed || report.Mismatch != "" {
		t.Errorf("without a head: %+v", report)
	}
	if _, err := open(t, t.TempDir()).VerifyLog(auditLog); tidegate.CodeOf(err) != tidegate.FileNotFound {
		t.Errorf("nothing there: %v", err)
	}
	for _, test := range tamperings {
		// It counts the lines, and may find another reason first.
		if report := verifyFolder(t, tampered(t, test.tamper)); report.Mismatch == "" {
			t.Errorf("%s is not found", test.name)
		}
	}
}

func TestAnyChangeOfAByteOfALogOrItsHeadIsFound(t *testing.T) {
	dir := recorded(t, 3)
	f := open(t, dir)
	for _, name := range []string{auditLog, auditHead} {
		whole := read(t, dir, name)
		for at := range whole {
			for _, changed := range []string{
				whole[:at] + string(whole[at]^1) + whole[at+1:], whole[:at] + whole[at+1:], whole[:at] + "x" + whole[at:], whole[:at],
			} {
				write(t, dir, name, changed)
				report := must.Get(f.VerifyLog(auditLog))(t)
				if report.Mismatch == "" && report.Broken == 0 {
					t.Errorf("a change of byte %d of %s is not found:\n%s", at, name, changed)
				}
			}
		}
		write(t, dir, name, whole)
	}
}

// Whatever stands in a log and its head: it is refused and left as it is, or
// continued; and it can be accepted.
func FuzzCheckLog(f *testing.F) {
	line := `{"n":1,"prev":"` + artifact.FirstPrev + `"}` + "\n"
	f.Add([]byte(line), []byte(headOf(line)))
	f.Add([]byte(line+"{"), []byte(headOf(line)))
	f.Add([]byte(line+next(line)), []byte(headOf(line)))
	f.Add([]byte("x\n\n"), []byte(headOf("x\n")))
	f.Add([]byte(""), []byte(`{"lines":9223372036854775807,"digest":"","size":9223372036854775807}`+"\n"))
	f.Fuzz(func(t *testing.T, log, head []byte) {
		dir := t.TempDir()
		put(t, dir, map[string]string{auditLog: string(log), auditHead: string(head)})
		before := tree(t, dir)
		state, err := checkLog(t, dir)
		if err != nil && tidegate.CodeOf(err) != tidegate.Tampered {
			t.Fatal(err)
		}
		l := locked(t, open(t, dir))
		tx := l.Begin()
		if err != nil {
			tx.Accept(auditLog)
			before[".tidegate.lock"] = ""
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Fatalf("files (-before +after):\n%s", diff)
			}
		}
		must.Do(t, errors.Join(tx.Record(auditLog, event{N: 1}), tx.Commit()))
		after, again := l.CheckLog(auditLog)
		if again != nil || !after.Headed || err == nil && (after.Lines != state.Lines+1 || !strings.Contains(read(t, dir, auditLog), `"prev":"`+state.Digest+`"}`)) {
			t.Fatalf("%+v, %v became %+v, %v", state, err, after, again)
		}
		if err == nil || read(t, dir, auditHead) == headOf(read(t, dir, auditLog)) {
			return
		}
		t.Fatalf("head is %s of\n%s", read(t, dir, auditHead), read(t, dir, auditLog))
	})
}
