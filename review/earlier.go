package review

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Answer is what a reviewer answers: the payload, and what became of the issues of
// the review before.
type Answer struct {
	Payload
	Warnings []string
	Closed   []string // ids of earlier issues that are gone
}

// ParseAnswer turns a reviewer's answer into a payload, as [Parse] does. Beside the
// keys of the payload an answer may have an id in an issue, which says that the
// issue is an earlier one, and closed, the ids of earlier ones that are gone. An
// issue with an id keeps category and title of the earlier one, however the
// reviewer words it, and its file where the reviewer names none, so that the next
// review recognises it, too. In a file of another name it is another issue.
// Without the id it is recognised as [Identify] does.
//
// Warnings also name the High issues that are closed or less grave: the word of the
// reviewer is all that there is for it.
//
// Faults are about ids: one that no earlier issue has, one that stands twice, and
// an earlier issue that the answer does not mention. It returns the errors of
// Parse.
func ParseAnswer(v *codec.Value, earlier []Identified) (Answer, []Remark, error) {
	known := map[string]Identified{}
	for _, issue := range earlier {
		known[issue.ID] = issue
	}
	var faults []Remark
	mentioned := map[string]bool{}
	mention := func(id, path string) {
		_, there := known[id]
		switch {
		case !there:
			faults = append(faults, Remark{tidegate.SchemaValidationFailed, path, fmt.Sprintf("no issue of the review before has the id %q", tidegate.Cut(id)),
				"Use an id of the list of earlier issues, or leave it out."})
		case mentioned[id]:
			faults = append(faults, Remark{tidegate.SchemaValidationFailed, path, fmt.Sprintf("the earlier issue %s stands twice", id),
				"Name each earlier issue once: among the issues when it is still there, in closed when it is gone."})
		}
		mentioned[id] = true
	}
	plain := v
	if v.Kind() == codec.Object {
		plain = v.Clone()
		plain.Delete("closed")
	}
	repeated := map[int]string{} // the id that an issue names, by its index
	for i, issue := range plain.Get("issues").Elems() {
		if issue.Kind() != codec.Object {
			continue
		}
		id := issue.Get("id").Str()
		issue.Delete("id")
		if id == "" {
			continue
		}
		mention(id, "$.issues["+strconv.Itoa(i)+"].id")
		if was, there := known[id]; there {
			repeated[i] = id
			issue.Set("title", codec.Of(was.Title))
			issue.Set("category", codec.Of(was.Category))
			if was.File != "" && issue.Get("file").Str() == "" {
				issue.Set("file", codec.Of(was.File))
			}
		}
	}
	a := Answer{Closed: []string{}}
	var err error
	if a.Payload, a.Warnings, err = Parse(plain, false); err != nil {
		return Answer{}, nil, err
	}
	for i, id := range v.Get("closed").Elems() {
		mention(id.Str(), "$.closed["+strconv.Itoa(i)+"]")
		a.Closed = append(a.Closed, id.Str())
	}
	// What is worded as before is the same issue, whether or not it has the id.
	high := map[string]bool{}
	for i, issue := range Identify(a.Issues) {
		if issue.Severity == High {
			high[issue.ID], high[repeated[i]] = true, true
		}
		if slices.Contains(a.Closed, issue.ID) {
			faults = append(faults, Remark{tidegate.SchemaValidationFailed, "$.closed", fmt.Sprintf("the earlier issue %s is closed and still among the issues", issue.ID),
				"Name each earlier issue once: among the issues when it is still there, in closed when it is gone."})
		}
		mentioned[issue.ID] = true
	}
	for _, issue := range earlier {
		if !mentioned[issue.ID] {
			faults = append(faults, Remark{tidegate.SchemaValidationFailed, "$.closed", fmt.Sprintf("the answer does not mention the earlier issue %s", issue.ID),
				"Repeat it among the issues with its id, or put the id into closed."})
		}
	}
	for _, issue := range earlier {
		if issue.Severity == High && !high[issue.ID] {
			a.Warnings = append(a.Warnings, fmt.Sprintf("the review before had the issue %q as High; the reviewer says that it is gone, or less grave", issue.Title))
		}
	}
	return a, faults, nil
}
