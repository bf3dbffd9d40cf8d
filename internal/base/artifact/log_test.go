package artifact_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// addTo appends lines to a log, each in a transaction of its own.
func addTo(t testing.TB, f *artifact.Folder, name string, lines ...any) {
	t.Helper()
	l := must.Get(f.Lock(t.Context(), pinned))(t)
	defer l.Unlock()
	for _, line := range lines {
		tx := l.Begin()
		tx.Log(name, line)
		must.Do(t, errors.Join(tx.Commit(), tx.LogError()))
	}
}

type event struct {
	TS   string `json:"ts"`
	Kind string `json:"kind"`
	N    int    `json:"n"`
}

func TestLogLines(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	addTo(t, f, "logs/audit.jsonl", event{"2026-02-14T12:00:00.000Z", "a <b> & c", 1}, struct{}{})
	first := `{"ts":"2026-02-14T12:00:00.000Z","kind":"a <b> & c","n":1,"prev":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}`
	want := first + "\n" + `{"prev":"` + codec.DigestBytes([]byte(first)) + `"}` + "\n"
	if diff := cmp.Diff(want, tree(t, dir)["logs/audit.jsonl"]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(dir, "logs", "audit.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestLinesOfOneTransactionAreChainedToo(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	l := locked(t, f)
	tx := l.Begin()
	tx.Log("a.jsonl", event{N: 1})
	tx.Log("b.jsonl", event{N: 2})
	tx.Log("./a.jsonl", event{N: 3})
	must.Do(t, errors.Join(tx.Commit(), tx.LogError()))
	for name, want := range map[string]int{"a.jsonl": 2, "b.jsonl": 1} {
		if report := verify(t, tree(t, dir)[name]); report.Lines != want || report.Broken+report.Unchained > 0 {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

func TestWhatIsNoLogLine(t *testing.T) {
	for what, line := range map[string]any{
		"no object":           []int{1},
		"not JSON":            func() {},
		"with its own prev":   map[string]string{"prev": "sha256:x"},
		"longer than a line":  map[string]string{"text": strings.Repeat("x", artifact.MaxLine)},
		"no room for its own": map[string]string{"text": strings.Repeat("x", artifact.MaxLine-20)},
	} {
		dir := t.TempDir()
		l := locked(t, open(t, dir))
		tx := l.Begin()
		tx.Write("a.json", []byte("a\n"))
		tx.Log("log.jsonl", line)
		if err := tx.Commit(); err != nil {
			t.Errorf("%s: the commit failed: %v", what, err)
		}
		if tidegate.CodeOf(tx.LogError()) != tidegate.Internal {
			t.Errorf("%s: %v", what, tx.LogError())
		}
		want := map[string]string{"a.json": "a\n", ".tidegate.lock": ""}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", what, diff)
		}
		l.Unlock()
	}
}

func TestALogThatCannotBeWrittenChangesNothingElse(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"log.jsonl/in-the-way": "x\n"})
	l := locked(t, open(t, dir))
	tx := l.Begin()
	tx.Write("a.json", []byte("a\n"))
	tx.Log("log.jsonl", event{N: 1})
	if err := tx.Commit(); err != nil {
		t.Errorf("the commit failed: %v", err)
	}
	if tidegate.CodeOf(tx.LogError()) != tidegate.WriteFailed {
		t.Errorf("%v, want WRITE_FAILED", tx.LogError())
	}
	if got := tree(t, dir)["a.json"]; got != "a\n" {
		t.Errorf("%q", got)
	}
}

func verify(t testing.TB, log string) artifact.LogReport {
	t.Helper()
	report := must.Get(artifact.VerifyLog(strings.NewReader(log)))(t)
	return report
}

func TestALogBegunByOthersIsContinued(t *testing.T) {
	for what, begun := range map[string]string{
		"empty":                "",
		"a line":               `{"n":0}` + "\n",
		"a blank line":         "\n",
		"a torn line":          `{"n":0}` + "\n" + `{"n":`,
		"a line without end":   `{"n":0}`,
		"no JSON":              "hello\r\nworld\n",
		"zero bytes":           "\x00\x00\x00",
		"a very long line":     strings.Repeat("x", 3*artifact.MaxLine) + "\n",
		"a very long torn one": strings.Repeat("x", 3*artifact.MaxLine),
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, map[string]string{"log.jsonl": begun})
			addTo(t, open(t, dir), "log.jsonl", event{N: 1}, event{N: 2})
			log := tree(t, dir)["log.jsonl"]
			if !strings.HasPrefix(log, begun) {
				t.Fatal("what was there is not there any more")
			}
			foreign := strings.Count(begun, "\n")
			if begun != "" && !strings.HasSuffix(begun, "\n") {
				foreign++
			}
			report := verify(t, log)
			if report.Lines != foreign+2 || report.Unchained != foreign || report.Broken > 0 || report.Torn {
				t.Errorf("%+v, want %d foreign and 2 chained lines", report, foreign)
			}
		})
	}
}

// A log that is longer than could be read is continued from its end.
func TestAppendingDoesNotReadTheLog(t *testing.T) {
	for _, headed := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "logs", "audit.jsonl")
		const size = 1 << 40
		put(t, dir, map[string]string{auditLog: ""})
		if err := os.Truncate(path, size); err != nil {
			t.Skipf("no file with a hole can be made here: %v", err)
		}
		const last = `{"n":0}`
		appendTo(t, dir, "\n"+last+"\n")
		if f := open(t, dir); headed {
			head := fmt.Sprintf(`{"lines":2,"digest":%q,"size":%d}`+"\n", codec.DigestBytes([]byte(last)), size+len(last)+2)
			write(t, dir, auditHead, head)
			if state, err := checkLog(t, dir); err != nil || state.Lines != 2 {
				t.Errorf("%+v, %v", state, err)
			}
			record(t, f, event{N: 1})
		} else {
			addTo(t, f, auditLog, event{N: 1})
		}
		f := must.Get(os.Open(path))(t)
		defer f.Close()
		f.Seek(size, 0)
		var tail bytes.Buffer
		tail.ReadFrom(f)
		want := "\n" + last + "\n" + `{"ts":"","kind":"","n":1,"prev":"` + codec.DigestBytes([]byte(last)) + `"}` + "\n"
		if diff := cmp.Diff(want, tail.String()); diff != "" {
			t.Errorf("headed %v: end of the log (-want +got):\n%s", headed, diff)
		}
	}
}

// writtenLog is a log of n lines, some of them by others when mixed is set.
func writtenLog(t *testing.T, n int, mixed bool) []string {
	t.Helper()
	dir := t.TempDir()
	f := open(t, dir)
	for i := range n {
		if mixed && i%3 == 1 {
			file := must.Get(os.OpenFile(filepath.Join(dir, "log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))(t)
			fmt.Fprintf(file, `{"foreign":%d}`+"\n", i)
			file.Close()
			continue
		}
		addTo(t, f, "log.jsonl", event{Kind: "k", N: i})
	}
	return slices.Collect(strings.Lines(tree(t, dir)["log.jsonl"]))
}

// A line is covered by the prev of the line after it: every change of one that
// is followed by a line of ours is found, whoever wrote it.
func TestAnyChangeOfALineThatOneOfOursFollowsIsFound(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		lines := writtenLog(t, 13, mixed)
		whole := verify(t, strings.Join(lines, ""))
		if whole.Broken > 0 || whole.Lines != 13 || whole.Unchained > 0 != mixed {
			t.Fatalf("%+v", whole)
		}
		found := func(changed []string, what string, args ...any) {
			t.Helper()
			if report := verify(t, strings.Join(changed, "")); report.Broken == 0 {
				t.Errorf("mixed %v: %s is not found: %+v", mixed, fmt.Sprintf(what, args...), report)
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range len(lines) - 1 {
			if !strings.Contains(lines[i+1], "prev") {
				continue
			}
			found(slices.Delete(slices.Clone(lines), i, i+1), "removal of line %d", i+1)
			for at := range lines[i] {
				changed := slices.Clone(lines)
				bytes := []byte(lines[i])
				bytes[at] ^= byte(1 + random.IntN(255))
				changed[i] = string(bytes)
				found(changed, "change of byte %d of line %d", at, i+1)
			}
			for j := range lines {
				if i == j {
					continue
				}
				swapped := slices.Clone(lines)
				swapped[i], swapped[j] = lines[j], lines[i]
				found(swapped, "swap of lines %d and %d", i+1, j+1)
				inserted := slices.Insert(slices.Clone(lines), i+1, lines[j])
				found(inserted, "line %d again after line %d", j+1, i+1)
			}
		}
	}
}

// No line follows the last one that could show what happened to it, but the
// head of the log does.
func TestAnyChangeOfTheLastLineShowsInTheHead(t *testing.T) {
	lines := writtenLog(t, 3, false)
	whole := verify(t, strings.Join(lines, ""))
	before, last := strings.Join(lines[:2], ""), lines[2]
	if verify(t, before).Head == whole.Head {
		t.Error("its removal does not show")
	}
	for at := range last {
		changed := []byte(last)
		changed[at] ^= 1
		if report := verify(t, before+string(changed)); report.Head == whole.Head && !report.Torn {
			t.Errorf("change of byte %d does not show: %+v", at, report)
		}
	}
}

func TestTheReportNamesTheLines(t *testing.T) {
	lines := writtenLog(t, 7, true)
	lines[4] = `{"foreign":"changed"}` + "\n"
	report := verify(t, strings.Join(lines, "")+`{"torn`)
	want := artifact.LogReport{
		Lines: 7, Unchained: 2, Foreign: []int{2, 5}, Broken: 1, Torn: true, Head: codec.DigestBytes([]byte(strings.TrimSuffix(lines[6], "\n"))),
		Breaks: []artifact.Break{{Line: 6, Want: codec.DigestBytes([]byte(`{"foreign":"changed"}`)), Got: codec.DigestBytes([]byte(`{"foreign":4}`))}},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(artifact.LogReport{Head: artifact.FirstPrev, Foreign: []int{}, Breaks: []artifact.Break{}}, verify(t, "")); diff != "" {
		t.Errorf("report of nothing (-want +got):\n%s", diff)
	}
	if report := verify(t, strings.Repeat("x\n", 1000)); report.Unchained != 1000 || len(report.Foreign) != artifact.MaxListed {
		t.Errorf("%d unchained, %d listed", report.Unchained, len(report.Foreign))
	}
}

// A log of ours whose end was lost at any byte is continued, and what is left
// of the torn line is ended.
func TestALogTornAnywhereIsContinued(t *testing.T) {
	whole := strings.Join(writtenLog(t, 3, false), "")
	for at := range len(whole) + 1 {
		dir := t.TempDir()
		put(t, dir, map[string]string{"log.jsonl": whole[:at]})
		addTo(t, open(t, dir), "log.jsonl", event{Kind: "next", N: 9})
		log := tree(t, dir)["log.jsonl"]
		report := verify(t, log)
		if !strings.HasPrefix(log, whole[:at]) || report.Broken > 0 || report.Torn || report.Unchained > 1 || !strings.Contains(log, `"kind":"next"`) {
			t.Fatalf("torn at %d: %+v\n%s", at, report, log)
		}
	}
}

func TestReadingALog(t *testing.T) {
	long := strings.Repeat("y", artifact.MaxLine+1)
	chainedLong := `{"text":"` + long + `","prev":"` + codec.DigestBytes([]byte("x")) + `"}`
	var got []string
	for line, err := range artifact.ReadLog(strings.NewReader("x\n" + chainedLong + "\n\nend")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintln(line.Number, len(line.Text), line.Cut, line.Torn, line.Prev, line.Digest))
	}
	want := []string{
		fmt.Sprintln(1, 1, false, false, "", codec.DigestBytes([]byte("x"))),
		fmt.Sprintln(2, artifact.MaxLine, true, false, codec.DigestBytes([]byte("x")), codec.DigestBytes([]byte(chainedLong))),
		fmt.Sprintln(3, 0, false, false, "", codec.DigestBytes(nil)),
		fmt.Sprintln(4, 3, false, true, "", codec.DigestBytes([]byte("end"))),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	for line, err := range artifact.ReadLog(strings.NewReader("x\ny\n")) {
		if err != nil || line.Number != 1 {
			t.Fatalf("%+v, %v", line, err)
		}
		break
	}
	broken := iotest.ErrReader(errors.New("the disk is broken"))
	if _, err := artifact.VerifyLog(broken); tidegate.CodeOf(err) != tidegate.ReadFailed {
		t.Errorf("%v, want READ_FAILED", err)
	}
}

// Where a line is cut into pieces on reading makes no difference.
func TestPrevOfLongLines(t *testing.T) {
	prev := codec.DigestBytes([]byte("x"))
	for _, around := range []int{64 << 10, artifact.MaxLine} {
		for length := around - 100; length < around+100; length += full.Stride(200, 20) {
			end := `","prev":"` + prev + `"}`
			text := `{"t":"` + strings.Repeat("y", length-len(end)-6) + end
			for line := range artifact.ReadLog(strings.NewReader(text + "\n")) {
				if line.Prev != prev || line.Cut != (length > artifact.MaxLine) || line.Digest != codec.DigestBytes([]byte(text)) {
					t.Fatalf("line of %d bytes: prev %q, cut %v", length, line.Prev, line.Cut)
				}
			}
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"n":1,"prev":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}` + "\n" + `{"n":2`))
	f.Add([]byte("{\"prev\":\"sha256:\"}\r\n\x00\xff"))
	f.Fuzz(func(t *testing.T, log []byte) {
		var again []byte
		number := 0
		for line, err := range artifact.ReadLog(bytes.NewReader(log)) {
			if err != nil {
				t.Fatal(err)
			}
			number++
			if line.Number != number || line.Digest != codec.DigestBytes(line.Text) || line.Cut {
				t.Fatalf("%+v", line)
			}
			if line.Prev != "" && !bytes.HasSuffix(line.Text, []byte(`"prev":"`+line.Prev+`"}`)) {
				t.Fatalf("prev %s of %q", line.Prev, line.Text)
			}
			again = append(again, line.Text...)
			if !line.Torn {
				again = append(again, '\n')
			}
		}
		if !bytes.Equal(again, log) {
			t.Fatalf("read %q from %q", again, log)
		}
	})
}

func FuzzContinueLog(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("x"))
	f.Add([]byte("x\n\ny\n"))
	f.Add([]byte(`{"ts":"","kind":"","n":1,"prev":"sha256:00000`))
	f.Fuzz(func(t *testing.T, log []byte) {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "log.jsonl"), log, 0o600))
		folder := must.Get(artifact.Everywhere.Open("dir", dir))(t)
		defer folder.Close()
		addTo(t, folder, "log.jsonl", event{N: 1}, event{N: 2})
		data := must.Get(folder.Read("log.jsonl"))(t)
		before, after := verify(t, string(log)), verify(t, string(data))
		if !bytes.HasPrefix(data, log) || after.Torn || after.Lines-before.Lines < 2 || after.Broken > before.Broken+1 || after.Broken > before.Broken && !before.Torn {
			t.Fatalf("%+v became %+v\n%q", before, after, data)
		}
	})
}
