package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Answer is what a reviewer answers: the payload, what ties its issues to the code,
// and what became of the issues of the review before.
type Answer struct {
	Payload
	Findings []Finding // the issues, in their order
	Warnings []string
	Closed   []string // ids of earlier issues that are gone

	Dropped []Dropped // what [Answer.SetAside] took out
}

// ParseAnswer turns a reviewer's answer into a payload, as [Parse] does, with verdict
// and severities in any letter case. Beside the keys of the payload an answer may have
// closed, the ids of earlier issues that are gone, and in an issue quote, suggestion,
// confidence and reply, and an id, which says that the issue is an earlier one. An issue with an
// id keeps category and title of the earlier one, however the reviewer words it, and
// its file where the reviewer names none. Its finding keeps the id, also where an
// issue of the same name is gone. Without the id it is recognised as [Identify] does.
//
// Warnings also name the High issues that are closed or less grave: the word of the
// reviewer is all that there is for it.
//
// Faults are about ids: one that no earlier issue has, one that stands twice, and
// an earlier issue that the answer does not mention. It returns the errors of
// Parse.
func ParseAnswer(v *codec.Value, earlier []Finding) (Answer, []Remark, error) {
	known := map[string]Finding{}
	for _, issue := range earlier {
		known[issue.ID] = issue
	}
	var faults []Remark
	mentioned := map[string]bool{}
	mention := func(id, path string) {
		_, there := known[id]
		switch {
		case !there:
			faults = append(faults, Remark{Code: tidegate.SchemaValidationFailed, Path: path, Message: fmt.Sprintf("no issue of the review before has the id %q", tidegate.Cut(id)),
				Change: "Use an id of the list of earlier issues, or leave it out."})
		case mentioned[id]:
			faults = append(faults, Remark{Code: tidegate.SchemaValidationFailed, Path: path, Message: fmt.Sprintf("the earlier issue %s stands twice", id),
				Change: "Name each earlier issue once: among the issues when it is still there, in closed when it is gone."})
		}
		mentioned[id] = true
	}
	plain := v
	if v.Kind() == codec.Object {
		plain = v.Clone()
		plain.Delete("closed")
	}
	spell(plain, "verdict", Verdicts)
	findings := make([]Finding, plain.Get("issues").Len())
	for i, issue := range plain.Get("issues").Elems() {
		if issue.Kind() != codec.Object {
			continue
		}
		spell(issue, "severity", Severities)
		id := issue.Get("id").Str()
		issue.Delete("id")
		f := &findings[i]
		for key, text := range map[string]*string{"quote": &f.Quote, "suggestion": &f.Suggestion, "reply": &f.Reply} {
			if value := issue.Get(key); value.Kind() == codec.String || value.Kind() == codec.Null {
				*text = absentIfBlank(cleanText(value.Str()))
				issue.Delete(key)
			}
		}
		spell(issue, "confidence", Confidences)
		if value := issue.Get("confidence"); value.Kind() == codec.Null || slices.Contains(Confidences, value.Str()) {
			f.Confidence = value.Str()
			issue.Delete("confidence")
		}
		if id == "" {
			continue
		}
		mention(id, "$.issues["+strconv.Itoa(i)+"].id")
		if was, there := known[id]; there {
			f.ID = id
			issue.Set("title", codec.Of(was.Title))
			issue.Set("category", codec.Of(was.Category))
			if was.File != "" && issue.Get("file").Str() == "" {
				issue.Set("file", codec.Of(was.File))
			}
		}
	}
	a := Answer{Closed: []string{}, Findings: findings}
	var err error
	if a.Payload, a.Warnings, err = Parse(plain, false); err != nil {
		return Answer{}, nil, err
	}
	a.identify(known)
	for i, id := range v.Get("closed").Elems() {
		mention(id.Str(), "$.closed["+strconv.Itoa(i)+"]")
		a.Closed = append(a.Closed, id.Str())
	}
	// What is worded as before is the same issue, whether or not it has the id.
	high := map[string]bool{}
	for _, f := range a.Findings {
		high[f.ID] = high[f.ID] || f.Severity == High
		if slices.Contains(a.Closed, f.ID) {
			faults = append(faults, Remark{Code: tidegate.SchemaValidationFailed, Path: "$.closed", Message: fmt.Sprintf("the earlier issue %s is closed and still among the issues", f.ID),
				Change: "Name each earlier issue once: among the issues when it is still there, in closed when it is gone."})
		}
		mentioned[f.ID] = true
	}
	for _, issue := range earlier {
		if !mentioned[issue.ID] {
			faults = append(faults, Remark{Code: tidegate.SchemaValidationFailed, Path: "$.closed", Message: fmt.Sprintf("the answer does not mention the earlier issue %s", issue.ID),
				Change: "Repeat it among the issues with its id, or put the id into closed."})
		}
	}
	for _, issue := range earlier {
		if issue.Severity == High && !high[issue.ID] {
			a.Warnings = append(a.Warnings, fmt.Sprintf("the review before had the issue %q as High; the reviewer says that it is gone, or less grave", issue.Title))
		}
	}
	return a, faults, nil
}

// spell gives a word of a vocabulary the letter case that it has there.
func spell(v *codec.Value, key string, words []string) {
	for _, word := range words {
		if text := v.Get(key).Str(); text != word && strings.EqualFold(text, word) {
			v.Set(key, codec.Of(word))
		}
	}
}

// identify gives every finding its issue and, where the reviewer named none, its id:
// that of an earlier issue of the same name, unless the reviewer named another one of
// them, and so knows which is which. One at the same line as the named one is that one.
func (a *Answer) identify(earlier map[string]Finding) {
	used, named, at := map[string]bool{}, map[string]bool{}, map[place]string{}
	for i, issue := range a.Issues {
		f := &a.Findings[i]
		f.Issue = issue
		if f.ID != "" {
			used[f.ID], named[identity(issue)], at[place{identity(issue), lineOrZero(issue)}] = true, true, f.ID
		}
	}
	var once []Issue
	var findings []*Finding
	for i, issue := range a.Issues {
		f := &a.Findings[i]
		if f.ID == "" && issue.Line != nil {
			if f.ID = at[place{identity(issue), *issue.Line}]; f.ID != "" {
				continue
			}
		}
		once, findings = append(once, issue), append(findings, f)
	}
	for i, issue := range Identify(once) {
		f := findings[i]
		if f.ID != "" {
			continue
		}
		f.ID = unused(issue.ID, used)
		for n := 2; named[identity(issue.Issue)] && earlier[f.ID].ID != ""; n++ {
			f.ID = unused(fmt.Sprintf("%s-%d", issue.ID, n), used)
		}
		used[f.ID] = true
	}
}
