package change_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

func now() time.Time { return time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC) }

var desk = run.Desk{Now: now}

// agent and person are the contexts of calls on their authority.
var (
	agent  = tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Agent})
	person = tidegate.WithActor(context.Background(), tidegate.Actor{Kind: tidegate.Person})
)

// project is a folder with the given files.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	must.Write(t, path, text)
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join(root, filepath.FromSlash(name))))(t)
	return string(data)
}

// tree lists all files of a project with their text.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root+string(filepath.Separator))] = string(data)
		return err
	}))
	return files
}

func payload(id string, verdict review.Verdict, summary string, titles ...string) *codec.Value {
	p := review.Payload{ChangeID: id, Verdict: verdict, Summary: summary}
	for _, title := range titles {
		p.Issues = append(p.Issues, review.Issue{Title: title, Severity: review.High, Category: "Bug", Description: "d"})
	}
	return codec.Of(p)
}

func create(t *testing.T, root string, v *codec.Value) change.Created {
	t.Helper()
	created := must.Get(change.CreateReview(agent, desk, root, v, false))(t)
	return created
}

func advance(t *testing.T, root, id string) change.Advanced {
	t.Helper()
	advanced := must.Get(change.Advance(agent, desk, root, id))(t)
	return advanced
}

// limit lets a person set how many fix rounds there may be.
func limit(t *testing.T, root, id string, rounds int64) {
	t.Helper()
	must.Get(change.Start(person, desk, root, id, &rounds))(t)
}

// refused checks the code of an error and that it names what it must.
func refused(t *testing.T, err error, code tidegate.Code, naming string) {
	t.Helper()
	if tidegate.CodeOf(err) != code {
		t.Fatalf("got error %v, want %s", err, code)
	}
	if !strings.Contains(err.Error(), naming) {
		t.Errorf("error %q does not name %q", err, naming)
	}
}

func TestCreateReview(t *testing.T) {
	root := project(t, map[string]string{"agentd/changes/c/STATE.yaml": "phase: implementing\n"})
	got := create(t, root, payload("c", review.NeedsFix, "s", "one", "two"))
	want := change.Created{
		Message:  "Review written to agentd/changes/c/REVIEW.md: NEEDS_FIX, 2 issues",
		ChangeID: "c", Verdict: "NEEDS_FIX", ReviewPath: filepath.Join(root, "agentd", "changes", "c", "REVIEW.md"),
		Issues: review.Counts{High: 2}, Warnings: []string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	text := read(t, root, "agentd/changes/c/REVIEW.md")
	if !strings.HasPrefix(text, "# Verdict: NEEDS_FIX\n") || text != read(t, root, "agentd/changes/c/reviews/0001.md") {
		t.Errorf("REVIEW.md is not the kept review:\n%s", text)
	}
	if got := read(t, root, "agentd/changes/c/STATE.yaml"); got != "phase: implementing\n" {
		t.Errorf("STATE.yaml was changed: %s", got)
	}
	line := must.Get(codec.MarshalLine(got))(t)
	if prefix := `{"ok":true,"message":"Review written`; !strings.HasPrefix(string(line), prefix) {
		t.Errorf("result %s, want it to begin with %s", line, prefix)
	}
}

func TestAnInvalidPayloadChangesNothing(t *testing.T) {
	for _, folder := range []bool{true, false} {
		root := t.TempDir()
		if folder {
			write(t, root, "agentd/changes/c/REVIEW.md", "old")
		}
		before := tree(t, root)
		v := payload("c", "LGTM", "s")
		_, err := change.CreateReview(agent, desk, root, v, false)
		refused(t, err, tidegate.InvalidArgs, `validation failed: verdict must be one of APPROVED, NEEDS_FIX, MAJOR_ISSUES, got "LGTM"`)
		if diff := cmp.Diff(before, tree(t, root)); diff != "" {
			t.Errorf("files (-before +after):\n%s", diff)
		}
		if _, err := os.Stat(filepath.Join(root, "agentd")); folder != (err == nil) {
			t.Errorf("agentd was made: %v", err)
		}
	}
}

func TestAMissingChangeFolder(t *testing.T) {
	root := t.TempDir()
	_, err := change.CreateReview(agent, desk, root, payload("c", review.Approved, "s"), true)
	refused(t, err, tidegate.FileNotFound, filepath.Join("agentd", "changes", "c"))
	if files, err := os.ReadDir(root); err != nil || len(files) > 0 {
		t.Errorf("strict mode made %v (error %v)", files, err)
	}
	created := create(t, root, payload("c", review.Approved, "s"))
	if want := []string{"change folder agentd/changes/c did not exist and was created"}; !slices.Equal(created.Warnings, want) {
		t.Errorf("warnings %q, want %q", created.Warnings, want)
	}
	if strings.Contains(read(t, root, "agentd/changes/c/REVIEW.md"), "Warnings") {
		t.Error("the file carries a warning that is not about the review")
	}
	_, err = change.CreateReview(agent, desk, filepath.Join(root, "absent"), payload("c", review.Approved, "s"), false)
	refused(t, err, tidegate.FileNotFound, "absent")
	_, err = change.CreateReview(agent, desk, "relative", payload("c", review.Approved, "s"), false)
	refused(t, err, tidegate.InvalidArgs, "absolute")
}

func TestProjectPath(t *testing.T) {
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, test := range []struct {
		path any
		ok   bool
	}{
		{root, true}, {root + "/", true}, {link, true}, {".", true}, {nil, true},
		{t.TempDir(), false}, {"/", false}, {"", false}, {"elsewhere", false}, {7, false}, {[]string{root}, false},
	} {
		v := payload("c", review.Approved, "s")
		v.Set("project_path", codec.Of(test.path))
		created, err := change.CreateReview(agent, desk, root, v, false)
		if (err == nil) != test.ok {
			t.Errorf("project_path %v: error %v, want accepted %v", test.path, err, test.ok)
		}
		if err != nil && tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("project_path %v: got %v, want INVALID_ARGS", test.path, err)
		}
		if slices.ContainsFunc(created.Warnings, func(w string) bool { return strings.Contains(w, "project_path") }) {
			t.Errorf("project_path %v: warnings %q", test.path, created.Warnings)
		}
	}
}

func TestNothingLeavesTheProject(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(root, "agentd", "changes"), 0o755))
	if err := os.Symlink(outside, filepath.Join(root, "agentd", "changes", "c")); err != nil {
		t.Skip("no symbolic links here")
	}
	_, err := change.CreateReview(agent, desk, root, payload("c", review.Approved, "s"), false)
	refused(t, err, tidegate.PathNotAllowed, "")
	if files, err := os.ReadDir(outside); err != nil || len(files) > 0 {
		t.Errorf("files outside the project: %v (error %v)", files, err)
	}
	for _, id := range []string{"", ".", "..", "../x", "a/b", "a\\b", ".hidden", "-x", "a b", "é", strings.Repeat("a", 129), "a\n"} {
		_, err := change.StatusOf(t.Context(), desk, root, id)
		if tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("id %q: got %v, want INVALID_ARGS", id, err)
		}
		_, err = change.Start(agent, desk, root, id, nil)
		if tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("start of id %q: got %v, want INVALID_ARGS", id, err)
		}
	}
}

func TestEarlierReviewsStay(t *testing.T) {
	root := project(t, map[string]string{"agentd/changes/c/REVIEW.md": "## Verdict\nMAJOR_ISSUES\n"})
	create(t, root, payload("c", review.NeedsFix, "first", "one", "two"))
	create(t, root, payload("c", review.NeedsFix, "second", "two", "three"))
	list, err := change.Reviews(desk, root, "c")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list.Reviews {
		got = append(got, fmt.Sprintf("%d %s %v %d", r.Number, r.Verdict, r.Complete, r.Issues.Total()))
	}
	want := []string{"1 MAJOR_ISSUES false 0", "2 NEEDS_FIX true 2", "3 NEEDS_FIX true 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reviews (-want +got):\n%s", diff)
	}

	diff := must.Get(change.ReviewDiff(desk, root, "c", 0, 0))(t)
	if diff.From != 2 || diff.To != 3 || len(diff.New) != 1 || diff.New[0].Title != "three" ||
		len(diff.Still) != 1 || diff.Still[0].Title != "two" || len(diff.Gone) != 1 || diff.Gone[0].Title != "one" {
		t.Errorf("diff %+v", diff)
	}
	if _, err := change.ReviewDiff(desk, root, "c", 1, 3); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("a hand-written review: got %v, want INVALID_STATE", err)
	}
	_, err = change.ReviewDiff(desk, root, "c", 2, 9)
	refused(t, err, tidegate.FileNotFound, "no review 9")
	_, err = change.ReviewDiff(desk, root, "c", -1, 0)
	refused(t, err, tidegate.InvalidArgs, "from")

	// A file that was written by other means is listed before it is kept.
	write(t, root, "agentd/changes/c/REVIEW.md", "## Verdict\nAPPROVED\n")
	if list, err = change.Reviews(desk, root, "c"); err != nil || len(list.Reviews) != 4 || list.Reviews[3].Verdict != "APPROVED" || list.Reviews[3].Number != 4 {
		t.Errorf("reviews %+v, error %v", list, err)
	}
}

func TestDiffOfAFirstReview(t *testing.T) {
	root := t.TempDir()
	create(t, root, payload("c", review.NeedsFix, "first", "one"))
	diff, err := change.ReviewDiff(desk, root, "c", 0, 0)
	if err != nil || diff.From != 0 || diff.To != 1 || len(diff.New) != 1 {
		t.Errorf("diff %+v, error %v", diff, err)
	}
	root = project(t, map[string]string{"agentd/changes/c/STATE.yaml": "phase: planned\n"})
	_, err = change.ReviewDiff(desk, root, "c", 0, 0)
	refused(t, err, tidegate.FileNotFound, "REVIEW.md")
}

func TestConcurrentReviewsAreAllKept(t *testing.T) {
	const writers = 40
	root := project(t, map[string]string{"agentd/changes/c/STATE.yaml": "phase: implementing\niteration: 1\n"})
	limit(t, root, "c", 1000)
	var group sync.WaitGroup
	errs := make([]error, 2*writers)
	for i := range writers {
		group.Go(func() {
			_, errs[2*i] = change.CreateReview(agent, desk, root, payload("c", review.NeedsFix, fmt.Sprintf("review %d", i), "one"), false)
		})
		group.Go(func() {
			if i%4 == 0 {
				_, errs[2*i+1] = change.Advance(agent, desk, root, "c")
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
			t.Error(err)
		}
	}
	seen := map[string]bool{}
	for n := 1; n <= writers; n++ {
		reading := review.Read([]byte(read(t, root, fmt.Sprintf("agentd/changes/c/reviews/%04d.md", n))))
		seen[reading.Payload.Summary] = true
	}
	if len(seen) != writers {
		t.Errorf("%d different reviews are kept, want %d", len(seen), writers)
	}
	if read(t, root, "agentd/changes/c/REVIEW.md") != read(t, root, fmt.Sprintf("agentd/changes/c/reviews/%04d.md", writers)) {
		t.Error("REVIEW.md is not the newest kept review")
	}
}
