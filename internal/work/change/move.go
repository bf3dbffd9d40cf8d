package change

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/review"
)

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
