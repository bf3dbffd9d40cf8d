package change

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

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
	if err := tx.Write(proposalFile, []byte(text)); err != nil {
		return err
	}
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
