package change

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// StatusOf says where a change stands. It returns INVALID_ARGS for a bad id,
// NOT_FOUND naming the folder or STATE.yaml, SCHEMA_VALIDATION_FAILED for a
// STATE.yaml that cannot be understood, and READ_FAILED.
func StatusOf(ctx context.Context, desk run.Desk, project, id string) (Status, error) {
	folder, err := open(desk, project, id)
	if err != nil {
		return Status{}, err
	}
	defer folder.Close()
	s, err := readState(folder)
	if err != nil {
		return Status{}, err
	}
	numbers, err := history(folder)
	if err != nil {
		return Status{}, err
	}
	r, err := readRecord(desk, folder, id)
	if err != nil {
		return Status{}, err
	}
	status := Status{
		ChangeID: id, Phase: s.phase, PhaseInFile: s.written, Iteration: s.iteration, NeedsPerson: cmp.Or(r.needsPerson, s.needsPerson),
		LastAction: s.lastAction, UpdatedAt: s.updatedAt, Reviews: len(numbers),
		StatePath: filepath.Join(folder.Path(), stateFile), Been: r.been,
	}
	if status.Review, err = currentReview(folder, r, id, s); err != nil {
		return Status{}, err
	}
	status.Next, err = next(ctx, folder, r, id, s)
	return status, err
}

// next says what moves a change on. A review that has not moved it yet comes
// before another one.
func next(ctx context.Context, folder *artifact.Folder, r *record, id string, s *state) (string, error) {
	resume := "tidegate change resume " + id + " --accept --reason TEXT"
	if code := tidegate.CodeOf(r.checkFiles(folder, id)); code == tidegate.Tampered {
		return "a person looks at what was changed; then " + resume, nil
	}
	if s.phase == Complete {
		again, err := reopens(folder, r)
		if err != nil || again {
			return "tidegate change advance " + id, err
		}
	}
	switch {
	case s.phase == Complete && r.worktree != nil:
		return "tidegate change merge " + id, nil
	case !slices.Contains(reviewedPhases, s.phase):
		return nextStep(id, s.phase), nil
	case r.cause == causeLimit:
		return "a person decides: " + resume + ", or tidegate change start " + id + " --max-rounds N", nil
	case r.needsPerson != "" || s.needsPerson != "":
		return "a person decides: " + resume, nil
	}
	j, err := judge(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal}), folder, r, id)
	switch {
	case err != nil: // there is no review that could move it
		return nextStep(id, s.phase), nil
	case j.counted(s, r):
		return "fix what the review found; then " + nextStep(id, s.phase), nil
	}
	return "tidegate change advance " + id, nil
}

// currentReview is what REVIEW.md says, nil when there is none. What keeps it
// from moving the change is among its problems.
func currentReview(folder *artifact.Folder, r *record, id string, s *state) (*ReviewStatus, error) {
	data, err := folder.ReadIfThere(reviewFile)
	if data == nil || err != nil {
		return nil, err
	}
	shown := review.Show(filepath.Join(folder.Path(), reviewFile), data)
	current := &ReviewStatus{
		Path: shown.ReviewPath, Verdict: shown.Verdict, AgentdVerdict: shown.AgentdVerdict,
		Complete: shown.Complete, Issues: shown.Counts, Problems: shown.Problems,
	}
	doubts := []error{r.checkFiles(folder, id), r.checkLimit(folder, id, s)}
	if last := r.last(); last != nil && doubts[0] == nil {
		doubts = append(doubts, lastKept(folder, r, last.number, data))
		if s.phase == Complete && r.phase != Complete {
			current.Problems = append(current.Problems, "STATE.yaml says complete, but the log of the change does not")
		}
	}
	for _, doubt := range doubts {
		if doubt != nil {
			current.Problems = append(current.Problems, tidegate.AsError(doubt).Message)
		}
	}
	return current, nil
}

// All lists the changes of a project in byte order of their ids. A change whose
// files cannot be read or understood is listed with the reason. It returns
// INVALID_ARGS for a relative project, NOT_FOUND when the project is not a folder,
// and READ_FAILED.
func All(desk run.Desk, project string) (List, error) {
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return List{}, err
	}
	defer root.Close()
	found, err := root.List(git.ChangesDir(desk))
	if err != nil {
		return List{}, err
	}
	list := List{Changes: []ListEntry{}}
	for _, entry := range found {
		id := entry.Name()
		if !review.ValidChangeID(id) {
			continue
		}
		folder, err := root.Folder(git.ChangesDir(desk) + "/" + id)
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue // a file among the folders
		}
		if err != nil {
			list.Changes = append(list.Changes, ListEntry{ChangeID: id, Problem: tidegate.AsError(err).Message})
			continue
		}
		list.Changes = append(list.Changes, listed(desk, folder, id))
		folder.Close()
	}
	return list, nil
}

func listed(desk run.Desk, folder *artifact.Folder, id string) ListEntry {
	entry := ListEntry{ChangeID: id}
	note := func(err error) {
		if err != nil && entry.Problem == "" {
			entry.Problem = tidegate.AsError(err).Message
		}
	}
	s, err := readState(folder)
	note(err)
	r, recordErr := readRecord(desk, folder, id)
	note(recordErr)
	if err == nil && recordErr == nil {
		entry.Phase, entry.Iteration, entry.NeedsPerson = s.phase, s.iteration, cmp.Or(r.needsPerson, s.needsPerson)
		note(r.checkFiles(folder, id))
	}
	data, err := folder.ReadIfThere(reviewFile)
	note(err)
	if data != nil {
		entry.Verdict = review.Read(data).Verdict.String()
	}
	if data != nil && recordErr == nil && r.last() != nil && entry.Problem == "" {
		note(lastKept(folder, r, r.last().number, data))
	}
	numbers, err := history(folder)
	note(err)
	entry.Reviews = len(numbers)
	return entry
}

// ReviewOf is the path of the REVIEW.md of a change; ok says whether the project
// has the change.
func ReviewOf(desk run.Desk, project, id string) (path string, ok bool) {
	folder, err := open(desk, project, id)
	if err != nil {
		return "", false
	}
	defer folder.Close()
	return filepath.Join(folder.Path(), reviewFile), true
}

// ShowReview reads the REVIEW.md at an absolute path, by our own rule and by
// Agentd's. It returns NOT_FOUND and READ_FAILED.
func ShowReview(desk run.Desk, path string) (review.Shown, error) {
	data, err := desk.Reach.ReadFile("review_path", path)
	if err != nil {
		return review.Shown{}, err
	}
	return review.Show(path, data), nil
}

// open opens the folder of a change to read from it. It returns INVALID_ARGS for
// an id that cannot be one, NOT_FOUND when the project or the change has no
// folder, and PATH_NOT_ALLOWED when a link leads out of the project.
func open(desk run.Desk, project, id string) (*artifact.Folder, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Folder(git.ChangesDir(desk) + "/" + id)
}

// OpenFolder opens the folder of a change that is written to. In a repository, which
// people share, what is made gets the modes of other files. It returns INVALID_ARGS,
// NOT_FOUND and PATH_NOT_ALLOWED.
func OpenFolder(ctx context.Context, desk run.Desk, project, id string) (*artifact.Folder, error) {
	folder, err := open(desk, project, id)
	if err == nil && git.InRepository(ctx, desk, project) {
		folder.Share()
	}
	return folder, err
}

// openOrMake is OpenFolder for a change that may be new; made says that it was.
func openOrMake(ctx context.Context, desk run.Desk, project, id string) (folder *artifact.Folder, made bool, err error) {
	folder, err = OpenFolder(ctx, desk, project, id)
	if tidegate.CodeOf(err) != tidegate.FileNotFound {
		return folder, false, err
	}
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	if git.InRepository(ctx, desk, project) {
		root.Share()
	}
	if err := root.MakeFolder(git.ChangesDir(desk) + "/" + id); err != nil {
		return nil, false, err
	}
	folder, err = root.Folder(git.ChangesDir(desk) + "/" + id)
	return folder, true, err
}

func checkID(id string) error {
	if review.ValidChangeID(id) {
		return nil
	}
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("change_id", tidegate.Cut(id)),
		"change_id must be %s, got %q", review.ChangeIDRule, tidegate.Cut(id))
}

// ignoreFile keeps locks and unfinished writes, and itself, out of what git
// reports.
const (
	ignoreFile = ".gitignore"
	ignored    = "/.gitignore\n/.tidegate.lock\n/.tidegate.home\n/.tidegate.tools\n/.tidegate-tx/\n.tidegate-*.tmp\n"
)

// lock takes the lock of the folder of a change. It returns the errors of
// [artifact.Folder.Lock].
func lock(ctx context.Context, desk run.Desk, folder *artifact.Folder) (*artifact.Lock, error) {
	held, err := folder.Lock(ctx, desk.Now)
	if err != nil {
		return nil, err
	}
	if there, err := folder.Exists(ignoreFile); err == nil && !there && git.InRepository(ctx, desk, folder.Path()) {
		// Without it git reports one more file; nothing else is wrong.
		_ = folder.Write(ignoreFile, []byte(ignored))
	}
	return held, nil
}

// UnnamedIn are the files that documents do not name: neither by path, nor by a name with an
// extension, nor by a folder above them that ends with a slash or has one in it.
func UnnamedIn(documents []git.Document, files []string) []string {
	words := map[string]bool{}
	for _, d := range documents {
		for _, word := range strings.FieldsFunc(d.Text, func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("_-./+@~", r)
		}) {
			words[strings.TrimPrefix(strings.TrimRight(word, "."), "./")] = true
		}
	}
	named := func(file string) bool {
		if base := path.Base(file); words[file] || words[base] && path.Ext(base) != "" {
			return true
		}
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if words[dir+"/"] || words[dir] && strings.Contains(dir, "/") {
				return true
			}
		}
		return false
	}
	var unnamed []string
	for _, file := range files {
		if !named(file) {
			unnamed = append(unnamed, file)
		}
	}
	return unnamed
}

const proposalFile = "proposal.md"

// New begins a change that does what is wanted: the text becomes its proposal.md, and
// its first words the id. Made is the folder of changes where the project had none,
// otherwise "".
//
// It returns INVALID_ARGS for a text that is blank, too long or not UTF-8, and
// otherwise what [Start] returns.
func New(ctx context.Context, desk run.Desk, project, wanted string) (started Started, made string, err error) {
	title, text := proposal(wanted)
	if title == "" || len(wanted) > maxBrief/2 || !utf8.ValidString(wanted) {
		return Started{}, "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("wanted", tidegate.Cut(wanted)),
			"what is wanted must be said, in UTF-8 and at most %d bytes", maxBrief/2)
	}
	root, err := git.OpenProject(desk, project)
	if err != nil {
		return Started{}, "", err
	}
	defer root.Close()
	there, err := root.List(git.ChangesDir(desk))
	if err != nil {
		return Started{}, "", err
	}
	taken := map[string]bool{}
	for _, e := range there {
		taken[strings.ToLower(e.Name())] = true
	}
	named := idOf(title)
	id := named
	for n := 2; taken[id]; n++ {
		id = named + "-" + strconv.Itoa(n)
	}
	if there == nil {
		made = git.ChangesDir(desk)
	}
	if err := writeProposal(ctx, desk, project, id, text); err != nil {
		return Started{}, "", err
	}
	started, err = Start(ctx, desk, project, id, nil)
	return started, made, err
}

// proposal is the first line of what is wanted, and the text of its proposal.md.
func proposal(wanted string) (title, text string) {
	title, rest, _ := strings.Cut(strings.TrimSpace(wanted), "\n")
	if rest = strings.TrimSpace(rest); rest == "" {
		return title, title + "\n"
	}
	return title, "# " + strings.TrimLeft(title, "# ") + "\n\n" + rest + "\n"
}

// UnderWay is the change that does what is wanted, as [New] began it, and has not
// ended; "" where there is none. It returns the errors of [All].
func UnderWay(desk run.Desk, project, wanted string) (string, error) {
	list, err := All(desk, project)
	if err != nil {
		return "", err
	}
	_, text := proposal(wanted)
	for _, entry := range list.Changes {
		if slices.Contains(endedPhases, entry.Phase) {
			continue
		}
		if documents, err := Brief(desk, project, entry.ChangeID); err == nil && documents[0] == (git.Document{Name: proposalFile, Text: text}) {
			return entry.ChangeID, nil
		}
	}
	return "", nil
}

func writeProposal(ctx context.Context, desk run.Desk, project, id, text string) error {
	folder, _, err := openOrMake(ctx, desk, project, id)
	if err != nil {
		return err
	}
	defer folder.Close()
	held, err := lock(ctx, desk, folder)
	if err != nil {
		return err
	}
	defer held.Unlock()
	tx := held.Begin()
	tx.Write(proposalFile, []byte(text))
	return tx.Commit()
}

var notInID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })

// idOf makes an id of the first words of a text.
func idOf(text string) string {
	const most = 40
	id := strings.Trim(notInID().ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(id) > most {
		id = id[:most]
		if at := strings.LastIndex(id, "-"); at > 0 {
			id = id[:at]
		}
	}
	if id == "" {
		return "change"
	}
	return id
}

// maxBrief is how many bytes the documents of a change may have together.
const maxBrief = 256 << 10

// Brief is what a change is to do: the Markdown files of its folder and of the
// folder specs in it, except its reviews, in byte order, proposal.md first. It
// returns INVALID_STATE where there is none, SIZE_CAP_EXCEEDED, and what [StatusOf]
// returns for a change that does not exist.
func Brief(desk run.Desk, project, id string) ([]git.Document, error) {
	folder, err := open(desk, project, id)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	var names []string
	for _, dir := range []string{".", "specs"} {
		entries, err := folder.List(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.Type()&fs.ModeType == 0 && path.Ext(name) == ".md" && !strings.Contains(name, "REVIEW") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	if i, found := slices.BinarySearch(names, "proposal.md"); found {
		names = slices.Concat([]string{"proposal.md"}, names[:i], names[i+1:])
	}
	if len(names) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("change_id", id, "folder", folder.Path()),
			"nothing says what change %s is to do: write %s", id, filepath.Join(folder.Path(), "proposal.md"))
	}
	var documents []git.Document
	size := 0
	for _, name := range names {
		data, err := folder.ReadDocument(name)
		if err != nil {
			return nil, err
		}
		if size += len(data); size > maxBrief {
			return nil, tidegate.Errorf(tidegate.SizeCapExceeded, tidegate.Pairs("change_id", id, "max_bytes", maxBrief), "the documents of change %s have more than %d bytes", id, maxBrief)
		}
		documents = append(documents, git.Document{Name: name, Text: string(data)})
	}
	return documents, nil
}
