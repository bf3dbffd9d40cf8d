package change

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/review"
)

// The files of a change folder.
const (
	stateFile  = "STATE.yaml"
	reviewFile = "REVIEW.md"
)

// The keys of STATE.yaml that the package reads or writes.
const (
	keyPhase       = "phase"
	keyIteration   = "iteration"
	keyUpdatedAt   = "updated_at"
	keyLastAction  = "last_action"
	keyNeedsPerson = "needs_person"
	keyCounted     = "counted_review"
	keyMaxRounds   = "max_rounds"
	keyWorktree    = "worktree"
)

// state is what STATE.yaml says.
type state struct {
	doc         *document
	phase       string // by its present name
	written     string // the phase as the file spells it
	iteration   int64
	lastAction  string
	updatedAt   string
	needsPerson string // why a person is needed; "" when none is
	counted     string // the review that the last fix round was counted for
	maxRounds   *int64 // the limit of fix rounds; nil when the file gives none
	worktree    string // where the change is implemented; "" for the project
}

// parseState reads a STATE.yaml. It demands what the package uses and ignores
// the rest. It returns SCHEMA_VALIDATION_FAILED with the place in details.path.
func parseState(path string, text []byte) (*state, error) {
	wrong := func(at, format string, args ...any) error {
		return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("state_path", path, "path", at),
			filepath.Base(path)+": "+format, args...)
	}
	doc, err := parseDocument(text)
	if err != nil {
		return nil, wrong("$", "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	s := &state{doc: doc, iteration: 1}
	phase := doc.get(keyPhase)
	if phase == nil {
		return nil, wrong("$.phase", "phase is missing; it must be one of %s", strings.Join(Phases, ", "))
	}
	s.written = phase.Value
	var known bool
	if s.phase, known = phaseNamed(phase.Value); !known || phase.Kind != yaml.ScalarNode {
		return nil, wrong("$.phase", "phase must be one of %s, got %q", strings.Join(Phases, ", "), tidegate.Cut(phase.Value))
	}
	count := func(key string) (*int64, error) {
		n := doc.get(key)
		if n == nil {
			return nil, nil
		}
		number, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil || number < 0 || number > math.MaxInt32 || n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
			return nil, wrong("$."+key, "%s must be an integer from 0 to 2147483647, got %q", key, tidegate.Cut(n.Value))
		}
		return &number, nil
	}
	iteration, err := count(keyIteration)
	if err != nil {
		return nil, err
	}
	if iteration != nil {
		s.iteration = max(*iteration, 1) // the first is 1; a file that counts from 0 means the same
	}
	if s.maxRounds, err = count(keyMaxRounds); err != nil {
		return nil, err
	}
	for _, field := range []struct {
		key string
		to  *string
	}{{keyLastAction, &s.lastAction}, {keyUpdatedAt, &s.updatedAt}, {keyNeedsPerson, &s.needsPerson}, {keyCounted, &s.counted}, {keyWorktree, &s.worktree}} {
		n := doc.get(field.key)
		if n == nil {
			continue
		}
		if n.Kind != yaml.ScalarNode {
			return nil, wrong("$."+field.key, "%s must be a text", field.key)
		}
		*field.to = n.Value
	}
	return s, nil
}

// fresh is the STATE.yaml of a change that had none. It is planned, and begins
// with the move that follows.
func fresh(id string, now time.Time) []byte {
	at := tidegate.Stamp(now)
	return []byte("change_id: " + edit{value: id}.written() + "\nschema_version: '2.0'\ncreated_at: " + at + "\nupdated_at: " + at +
		"\nphase: " + Planned + "\niteration: 1\nlast_action: null\n")
}

// What last_action says after a move, where the file has that key.
const (
	actionStarted  = "change-started"
	actionApproved = "review-approved"
	actionNeedsFix = "review-needs-fix"
	actionPerson   = "needs-person"
	actionAccepted = "accepted-by-person"
	actionLimit    = "max-rounds-set"
	actionRebased  = "rebased"
	actionMerged   = "merged"
	actionAbandon  = "abandoned"
)

// edited is the text of the state with the edits made. updated_at and
// last_action follow where the file has them.
func (s *state) edited(path, action string, now time.Time, edits []edit) ([]byte, error) {
	if s.doc.find(keyUpdatedAt) >= 0 {
		edits = append(edits, edit{key: keyUpdatedAt, value: tidegate.Stamp(now), bare: true})
	}
	if s.doc.find(keyLastAction) >= 0 {
		edits = append(edits, edit{key: keyLastAction, value: action})
	}
	text, err := s.doc.apply(keyPhase, edits)
	if err != nil {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("state_path", path),
			"STATE.yaml cannot be changed in place: %v", err)
	}
	return text, nil
}

// The phases of a change, as they are written.
const (
	Clarifying     = "clarifying"
	Drafting       = "drafting"
	SpecsGenerated = "specs_generated"
	TasksGenerated = "tasks_generated"
	Planned        = "planned"
	Implementing   = "implementing"
	Testing        = "testing"
	CodeReviewing  = "code_reviewing"
	Complete       = "complete"
	Merging        = "merging"
	Archived       = "archived"
	Rejected       = "rejected"
)

// Phases are all phases in the order of a change's life.
var Phases = []string{Clarifying, Drafting, SpecsGenerated, TasksGenerated, Planned,
	Implementing, Testing, CodeReviewing, Complete, Merging, Archived, Rejected}

// otherNames are the names that files also use for a phase.
var otherNames = map[string]string{
	"proposed":    Drafting,
	"challenged":  Planned,
	"implemented": Complete,
}

// phaseNamed is the phase that a file means by name.
func phaseNamed(name string) (phase string, ok bool) {
	if phase, ok = otherNames[name]; ok {
		return phase, true
	}
	return name, slices.Contains(Phases, name)
}

var (
	// reviewedPhases are those from which a review moves a change on.
	reviewedPhases = []string{Implementing, Testing, CodeReviewing}
	// startedPhases are those in which a change has been started already.
	startedPhases = reviewedPhases
	// endedPhases are those that nothing follows.
	endedPhases = []string{Archived, Rejected}
)

// nextStep says what moves a change on from a phase.
func nextStep(id, phase string) string {
	switch {
	case phase == Planned:
		return "tidegate change start " + id
	case slices.Contains(reviewedPhases, phase):
		return "tidegate review create PAYLOAD"
	case phase == Complete:
		return "merge the change"
	case phase == Merging:
		return "finish the merge"
	case slices.Contains(endedPhases, phase):
		return "nothing: the change has ended"
	}
	return "finish the plan and set the phase to " + Planned
}

// cause says which rule asks for a person.
type cause string

const (
	causeMajor cause = "major_issues"
	causeLimit cause = "limit"
	causeDoubt cause = "doubtful_approval"
)

// move is what a review, or a person, does to a state.
type move struct {
	phase       string
	iteration   int64
	needsPerson string
	cause       cause
	event       string // for the log
	action      string // for last_action
	message     string
	edits       []edit // none when the state already says it all
}

// decide is the rule of the fix loop. What is already as it should be is not
// edited, so that advancing twice by one review writes once.
func decide(s *state, r *record, j judged) move {
	m := newMove(s, r)
	if s.phase == Complete {
		m.phase = Implementing
	}
	used, limit := m.iteration-1, r.maxRounds()
	needsPerson := cmp.Or(r.needsPerson, s.needsPerson)
	switch {
	case j.kept() && needsPerson != "":
		m.askPerson(needsPerson, r.cause)
	case j.verdict == review.Approved && j.counted(s, r):
		m.event, m.action, m.message = eventRebased, actionRebased, "the change was rebased since this review, and is reviewed again"
	case j.verdict == review.Approved && len(j.doubts) > 0:
		m.askPerson("the review approves, but "+strings.Join(j.doubts, ", and "), causeDoubt)
	case j.verdict == review.Approved && j.setAside == "":
		m.complete()
	case j.counted(s, r):
		m.event, m.action = eventRound, actionNeedsFix
		if m.message = fmt.Sprintf("fix round %d of %d is under way for this review already", used, limit); j.verdict == review.MajorIssues {
			m.message = "a person resumed the change after this review: fix what it found"
		}
	case j.verdict == review.MajorIssues:
		m.askPerson("the review found major issues", causeMajor)
	case j.setAside != "":
		m.askPerson(j.setAside, causeMajor)
	case used >= limit:
		m.askPerson(fmt.Sprintf("the review asks for fixes, but %d of %d fix rounds are used", used, limit), causeLimit)
	default:
		m.fix(j)
		m.message = fmt.Sprintf("needs fixes: round %d of %d", used+1, limit)
	}
	m.edit(s)
	return m
}

// newMove is a move that leads nowhere yet. Rounds that are in the log are used,
// whatever STATE.yaml says.
func newMove(s *state, r *record) move {
	return move{phase: s.phase, iteration: max(s.iteration, r.iteration)}
}

// counted reports whether a fix round has already begun for the review, or a
// person let the change go on after it. For a review that was kept the log knows.
func (j judged) counted(s *state, r *record) bool {
	if j.kept() {
		return r.counted == j.number
	}
	return s.counted == j.identity
}

func (m *move) askPerson(why string, c cause) {
	m.needsPerson, m.cause, m.event, m.action = why, c, eventPerson, actionPerson
	m.message = "a person is needed: " + why
}

func (m *move) complete() {
	m.phase, m.event, m.action, m.message = Complete, eventCompleted, actionApproved, "approved: the change is complete"
}

// fix begins another fix round for a review.
func (m *move) fix(j judged) {
	m.phase, m.iteration, m.event, m.action = Implementing, m.iteration+1, eventRound, actionNeedsFix
	m.edits = append(m.edits, edit{key: keyCounted, value: j.identity},
		edit{key: keyIteration, value: strconv.FormatInt(m.iteration, 10), bare: true})
}

// edit adds the edits by which the state says where the move leads.
func (m *move) edit(s *state) {
	if m.phase != s.phase {
		m.edits = append(m.edits, edit{key: keyPhase, value: m.phase})
	}
	switch {
	case m.needsPerson == s.needsPerson:
	case m.needsPerson == "":
		m.edits = append(m.edits, edit{key: keyNeedsPerson, remove: true})
	default:
		m.edits = append(m.edits, edit{key: keyNeedsPerson, value: m.needsPerson})
	}
}

func (m move) describe(r *Advanced, j judged) {
	r.Verdict, r.Phase, r.Iteration, r.NeedsPerson, r.Message = string(j.verdict), m.phase, m.iteration, m.needsPerson, m.message
}

// document is a YAML mapping that is changed in its text: yaml finds where a
// value stands, and only its characters are replaced. Every change is checked
// by reading the result again.
type document struct {
	text    []byte
	mapping *yaml.Node
}

var errNotMapping = errors.New("the document must be a mapping of names to values")

func parseDocument(text []byte) (*document, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the document is not valid UTF-8")
	}
	var root, more yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&root); err != nil && err != io.EOF {
		return nil, err
	}
	if err := documents.Decode(&more); err != io.EOF {
		return nil, errors.New("there must be one document in the file")
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, errNotMapping
	}
	d := &document{text: text, mapping: root.Content[0]}
	seen := map[string]bool{}
	for i := 0; i < len(d.mapping.Content); i += 2 {
		key := d.mapping.Content[i]
		if key.Kind == yaml.ScalarNode && seen[key.Value] {
			return nil, fmt.Errorf("the key %q occurs twice", key.Value)
		}
		seen[key.Value] = true
	}
	return d, nil
}

// find is the position of a key in the mapping, -1 when it is not there.
func (d *document) find(key string) int {
	for i := 0; i < len(d.mapping.Content); i += 2 {
		if k := d.mapping.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return i
		}
	}
	return -1
}

// get is the value of a key, or what it is an alias of; nil when it is not there
// or null.
func (d *document) get(key string) *yaml.Node {
	i := d.find(key)
	if i < 0 {
		return nil
	}
	value := d.mapping.Content[i+1]
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	if value.Tag == "!!null" {
		return nil
	}
	return value
}

// edit is one change of a document.
type edit struct {
	key    string
	value  string // as a reader sees it
	bare   bool   // a number or a time, which needs no quotes
	remove bool
}

// apply makes the edits and returns the new text. A key that is not there is
// put on a line of its own below the key after. When the text cannot be changed
// in place without touching anything else, it fails and nothing is changed.
func (d *document) apply(after string, edits []edit) ([]byte, error) {
	changed := d
	for _, e := range edits {
		text, err := changed.splice(after, e)
		if err != nil {
			return nil, err
		}
		next, err := parseDocument(text)
		if err != nil || !changed.differsOnlyBy(next, e) {
			return nil, fmt.Errorf("%s cannot be changed without touching other values", e.key)
		}
		changed = next
	}
	return changed.text, nil
}

func (d *document) splice(after string, e edit) ([]byte, error) {
	i := d.find(e.key)
	switch {
	case i >= 0 && e.remove:
		return d.cutEntry(i), nil
	case e.remove:
		return d.text, nil
	case i < 0:
		return d.insertEntry(d.find(after), e), nil
	}
	key, value := d.mapping.Content[i], d.mapping.Content[i+1]
	start := d.offset(value.Line, value.Column)
	length, ok := writtenLength(d.text[start:], value)
	if !ok {
		return nil, fmt.Errorf("the value of %s must be a word or a quoted text on the line of its key", e.key)
	}
	written := e.written()
	if length == 0 {
		// An empty value has no place of its own: it goes after the colon.
		start = d.offset(key.Line, key.Column)
		colon := bytes.IndexByte(d.text[start:], ':')
		if colon < 0 {
			return nil, fmt.Errorf("the key %s must be followed by a colon on its line", e.key)
		}
		start, written = start+colon+1, " "+written
	}
	return join(d.text[:start], written, d.text[start+length:]), nil
}

// writtenLength is how many bytes of text, which begins where the value stands,
// are the value.
func writtenLength(text []byte, value *yaml.Node) (int, bool) {
	if value.Kind != yaml.ScalarNode || value.Anchor != "" || value.Style&yaml.TaggedStyle != 0 {
		return 0, false
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case value.Style&yaml.SingleQuotedStyle != 0:
		written := "'" + strings.ReplaceAll(value.Value, "'", "''") + "'"
		return len(written), bytes.HasPrefix(line, []byte(written))
	case value.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '"':
				return i + 1, line[0] == '"'
			}
		}
		return 0, false
	case value.Style != 0:
		return 0, false
	}
	return len(value.Value), bytes.HasPrefix(line, []byte(value.Value))
}

// insertEntry puts a line below the entry at i.
func (d *document) insertEntry(i int, e edit) []byte {
	key := d.mapping.Content[i]
	end := d.lineEnd(d.mapping.Content[i+1].Line)
	newline := "\n"
	if bytes.HasSuffix(d.text[:end], []byte("\r\n")) {
		newline = "\r\n"
	}
	line := strings.Repeat(" ", key.Column-1) + e.key + ": " + e.written()
	if bytes.HasSuffix(d.text[:end], []byte("\n")) {
		return join(d.text[:end], line+newline, d.text[end:])
	}
	return join(d.text[:end], newline+line, d.text[end:])
}

// cutEntry removes the lines of the entry at i: that of its key and those below
// it that are indented further.
func (d *document) cutEntry(i int) []byte {
	key := d.mapping.Content[i]
	start := d.offset(key.Line, 1)
	line := key.Line
	for end := d.lineEnd(line); end < len(d.text); end = d.lineEnd(line) {
		rest := d.text[end:]
		indent := len(rest) - len(bytes.TrimLeft(rest, " "))
		if indent < key.Column {
			break
		}
		line++
	}
	return join(d.text[:start], "", d.text[d.lineEnd(line):])
}

// offset is where a line and column, both counted from 1 and the column in
// characters, stand in the text.
func (d *document) offset(line, column int) int {
	at := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(d.text[at:], '\n')
		if next < 0 {
			return len(d.text)
		}
		at += next + 1
	}
	if at == 0 {
		at = len(d.text) - len(bytes.TrimPrefix(d.text, []byte("\ufeff")))
	}
	for ; column > 1 && at < len(d.text); column-- {
		_, width := utf8.DecodeRune(d.text[at:])
		at += width
	}
	return at
}

// lineEnd is where the next line begins.
func (d *document) lineEnd(line int) int {
	at := d.offset(line, 1)
	if next := bytes.IndexByte(d.text[at:], '\n'); next >= 0 {
		return at + next + 1
	}
	return len(d.text)
}

// differsOnlyBy reports whether next is d with exactly that edit made.
func (d *document) differsOnlyBy(next *document, e edit) bool {
	i := next.find(e.key)
	if e.remove != (i < 0) {
		return false
	}
	if i >= 0 && next.mapping.Content[i+1].Value != e.value {
		return false
	}
	return d.without(e.key) == next.without(e.key)
}

// without is the document as data, without one key and without comments, in a
// form that shows every other difference.
func (d *document) without(key string) string {
	rest := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(d.mapping.Content); i += 2 {
		if i != d.find(key) {
			rest.Content = append(rest.Content, uncommented(d.mapping.Content[i]), uncommented(d.mapping.Content[i+1]))
		}
	}
	out, err := yaml.Marshal(rest)
	if err != nil {
		return "unprintable: " + err.Error()
	}
	return string(out)
}

func uncommented(n *yaml.Node) *yaml.Node {
	bare := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value, Anchor: n.Anchor, Alias: n.Alias}
	for _, child := range n.Content {
		bare.Content = append(bare.Content, uncommented(child))
	}
	return bare
}

func (e edit) written() string {
	if e.bare || bareWord(e.value) {
		return e.value
	}
	return "'" + strings.ReplaceAll(e.value, "'", "''") + "'"
}

// bareWord holds for texts that YAML takes as they are, without quotes.
func bareWord(s string) bool {
	var node yaml.Node
	err := yaml.Unmarshal([]byte("k: "+s+"\n"), &node)
	if err != nil || s == "" || strings.ContainsAny(s, "\n#:'\"") {
		return false
	}
	value := node.Content[0].Content[1]
	return value.Kind == yaml.ScalarNode && value.Tag == "!!str" && value.Value == s && value.Style == 0
}

func join(before []byte, middle string, after []byte) []byte {
	out := make([]byte, 0, len(before)+len(middle)+len(after))
	out = append(out, before...)
	out = append(out, middle...)
	return append(out, after...)
}
